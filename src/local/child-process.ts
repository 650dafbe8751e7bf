import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

export type OwnedChild = Awaited<ReturnType<typeof startOwnedChild>>;

const owned = new Set<ChildProcess>();

// Before the listeners that remove what a child writes.
process.prependListener('exit', () => {
  for (const child of owned) child.kill('SIGKILL');
});

/**
 * Starts a program that must not outlive this process. It gets a process group of its own, so that Ctrl-C reaches only
 * us and we can stop children in order. It ends when this process exits or, by a watchdog, when this process is killed.
 */
export async function startOwnedChild(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'env' | 'stdio' | 'cwd' | 'uid' | 'gid'>,
) {
  const child = spawn(command, args, { ...options, detached: true, windowsHide: true });
  await once(child, 'spawn');
  const pid = child.pid as number;
  owned.add(child);
  const watchdog = startWatchdog(pid);
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      owned.delete(child);
      watchdog?.kill('SIGKILL');
      resolve(code);
    });
  });
  return {
    process: child,
    pid,
    /** Resolves when it has ended, with its exit code, or `null` after a signal. */
    ended,
    /** Lets this process end while the child runs; the child then ends with it. */
    unref: () => child.unref(),
    /** SIGTERM, and SIGKILL when it has not ended within `graceMs`. */
    stop: async (graceMs: number) => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Starts a shell that reads from a pipe which only this process writes to. When any signal ends this process, the pipe
 * ends and the shell stops the child. Windows has no such shell; there only a clean exit ends the child.
 */
function startWatchdog(pid: number): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined;
  const script = `read -r line; kill -TERM "$0" 2>/dev/null
    for second in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$0" 2>/dev/null || exit 0; sleep 1; done
    kill -KILL "$0" 2>/dev/null`;
  const watchdog = spawn('/bin/sh', ['-c', script, String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If the watchdog fails, the child ends only with a clean stop of this process.
  watchdog.on('error', () => {});
  watchdog.stdin?.on('error', () => {});
  watchdog.unref();
  (watchdog.stdin as { unref?: () => void } | null)?.unref?.();
  return watchdog;
}
