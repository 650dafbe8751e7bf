/**
 * Node loads this before a program of a storm (`node --import`). It sets the program's calendar clock, but not its monotonic
 * clock, CHAOS_CLOCK_AHEAD_MS ahead of the machine's. It also lets the parent fill the disk of an open SQLite database.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

/** A message from the parent that allows or forbids SQLite to add a page to any of its files. */
export interface Conditions {
  ledgerIsFull: boolean;
}

/** To the parent: one write was refused for want of room. */
export interface WriteRefused {
  writeRefused: true;
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

/** The value for "no limit". */
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

/** The result code of SQLite for a file that may not grow. */
const SQLITE_FULL = 13;

for (const method of ['run', 'all', 'get'] as const) {
  const original = StatementSync.prototype[method] as (this: StatementSync, ...values: never[]) => unknown;
  const telling = function (this: StatementSync, ...values: never[]) {
    try {
      return original.apply(this, values);
    } catch (error) {
      if ((error as { errcode?: number }).errcode === SQLITE_FULL) {
        process.send?.({ writeRefused: true } satisfies WriteRefused, undefined, undefined, () => {});
      }
      throw error;
    }
  };
  Object.assign(StatementSync.prototype, { [method]: telling });
}

function limit(database: DatabaseSync): void {
  if (!database.isOpen) {
    databases.delete(database);
    return;
  }
  try {
    // SQLite raises a limit below the present size to the present size.
    database.exec(`PRAGMA max_page_count = ${isFull ? 1 : NO_LIMIT_PAGES}`);
  } catch {
    // Another process holds the lock, so this database keeps its limit.
  }
}

if (isMainThread && process.send) {
  process.on('message', ({ ledgerIsFull }: Conditions) => {
    isFull = ledgerIsFull;
    for (const database of databases) limit(database);
  });
  // The parent owns this world. Without it the program ends.
  process.on('disconnect', () => process.exit(1));
  // The open channel must not keep a stopping program alive.
  process.channel?.unref();
}
