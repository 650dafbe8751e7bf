import { spawn } from 'node:child_process';

interface CommandResult {
  /** `null` where the program could not be started, was killed or took too long. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Why it did not end by itself. */
  reason?: 'notFound' | 'timedOut' | 'aborted';
}

/** Output beyond this is dropped: it is only read for a version or the tail of an error. */
const OUTPUT_MAX_CHARS = 64 * 1024;

const PIPES_GRACE_MS = 2_000;

/** Runs a program to its end without a shell; never rejects. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; timeoutMs: number; signal?: AbortSignal; cwd?: string },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    const output = { stdout: '', stderr: '' };
    let reason: CommandResult['reason'];
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] = (output[name] + text).slice(-OUTPUT_MAX_CHARS);
      });
    }
    const stop = (why: 'timedOut' | 'aborted') => {
      reason ??= why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => stop('timedOut'), options.timeoutMs);
    const onAbort = () => stop('aborted');
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (exitCode: number | null) => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      resolve({ exitCode: reason ? null : exitCode, ...output, ...(reason ? { reason } : {}) });
    };
    child.once('error', () => {
      reason ??= 'notFound';
      settle(null);
    });
    child.once('close', settle);
    // A grandchild may keep the pipes open after the program's own end.
    child.once('exit', (exitCode) => setTimeout(settle, PIPES_GRACE_MS, exitCode).unref());
  });
}

/** The last line that says something, for a message. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? '';
}
