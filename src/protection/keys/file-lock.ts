import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** A lock that is held until `release`, the end of its `using` block, or the end of the process in any way. */
interface FileLock extends Disposable {
  release(): void;
}

const BUSY = 5;

/**
 * Takes a lock between processes; `null` where another process holds it. The lock is an exclusive SQLite transaction.
 * The operating system drops it with its process, even after SIGKILL, so a stale lock cannot exist.
 */
export async function tryFileLock(path: string): Promise<FileLock | null> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // The lock needs no journal, because it never writes.
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === BUSY) return null;
    throw error;
  }
  const release = () => database.close();
  return { release, [Symbol.dispose]: release };
}

/** Waits for the lock. Calls `onWait` once if another process holds it. */
export async function acquireFileLock(path: string, onWait?: () => void): Promise<FileLock> {
  for (let tries = 0; ; tries += 1) {
    const lock = await tryFileLock(path);
    if (lock) return lock;
    if (tries === 0) onWait?.();
    await delay(100);
  }
}
