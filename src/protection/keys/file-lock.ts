import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDirectory } from '../../base/make-directory.ts';

const BUSY = 5;

/**
 * Takes a lock between processes; `null` where another process holds it. It is held until `release`, the end of its
 * `using` block, or the end of the process in any way. The lock is an exclusive SQLite transaction. The operating system
 * drops it with its process, even after SIGKILL, so a stale lock cannot exist.
 */
export async function tryFileLock(path: string) {
  // Loaded on demand: the client can then be imported by a Node without it, and `connect` names the version it needs.
  const { DatabaseSync } = await import('node:sqlite');
  makeDirectory(dirname(path));
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

/** Waits for the lock where another process holds it. */
export async function acquireFileLock(path: string) {
  for (;;) {
    const lock = await tryFileLock(path);
    if (lock) return lock;
    await delay(100);
  }
}
