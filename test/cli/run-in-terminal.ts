/** Runs the command line on a pseudo-terminal, like an operator at a keyboard. Python provides the terminal. */
import { spawn } from 'node:child_process';
import { bareEnvironment, CLI } from './run-cli.ts';

/** Copies between its own pipes and the terminal of its child, and exits with the child's code. */
const TERMINAL = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
`;

export interface TerminalRun {
  code: number | null;
  /** All text that was printed on the screen. */
  screen: string;
}

/** Types each answer after its question has appeared. `\u0003` is Ctrl-C. Ends a command that hangs. */
export async function runInTerminal(
  args: string[],
  answers: readonly (readonly [question: RegExp, answer: string])[],
  env: Record<string, string>,
): Promise<TerminalRun> {
  const child = spawn('python3', ['-c', TERMINAL, process.execPath, CLI, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // This is how `npx` runs the program.
    env: { ...bareEnvironment(), npm_command: 'exec', NO_COLOR: '1', TERM: 'xterm', ...env },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  let screen = '';
  let read = 0;
  const open = [...answers];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    for (;;) {
      const [next] = open;
      const found = next?.[0].exec(screen.slice(read));
      if (!next || !found) return;
      read += found.index + found[0].length;
      open.shift();
      child.stdin.write(next[1] === '\u0003' ? next[1] : `${next[1]}\r`);
    }
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, screen: screen.replaceAll('\r', '') };
}
