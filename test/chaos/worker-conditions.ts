/**
 * Loaded before a program of the world (`node --import`): its calendar is ahead of the machine's by
 * CHAOS_CLOCK_AHEAD_MS (its monotonic clock is not), and where it has SQLite open its parent can fill the disk.
 */
import { DatabaseSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

/** From the parent: whether SQLite may add a page to any of its files. */
export interface Conditions {
  ledgerIsFull: boolean;
}

const RealDate = Date;
const aheadMs = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
if (aheadMs !== 0) {
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [RealDate.now() + aheadMs] : args, newTarget),
    apply: () => new Date().toString(),
    get: (target, name) => (name === 'now' ? () => RealDate.now() + aheadMs : Reflect.get(target, name)),
  });
}

/** What a limit is set to where there is none. */
const NO_LIMIT_PAGES = 2 ** 31 - 1;
const databases = new Set<DatabaseSync>();
let isFull = false;

const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (...args) {
  if (!databases.has(this)) {
    databases.add(this);
    if (isFull) limit(this);
  }
  return prepare.apply(this, args);
};

function limit(database: DatabaseSync): void {
  if (!database.isOpen) {
    databases.delete(database);
    return;
  }
  try {
    // A limit below what there is becomes what there is.
    database.exec(`PRAGMA max_page_count = ${isFull ? 1 : NO_LIMIT_PAGES}`);
  } catch {
    // Another process has it locked: this one is not full then.
  }
}

if (isMainThread && process.send) {
  process.on('message', ({ ledgerIsFull }: Conditions) => {
    isFull = ledgerIsFull;
    for (const database of databases) limit(database);
  });
  // Nobody is left whose world this is.
  process.on('disconnect', () => process.exit(1));
  // A program that is told to stop must be able to end.
  process.channel?.unref();
}
