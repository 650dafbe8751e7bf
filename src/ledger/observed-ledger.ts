/**
 * A ledger that reports the time of each operation to an observer, such as metrics. To its callers it is the ledger
 * itself.
 */
import { LedgerUnavailableError } from './errors.ts';
import type { Ledger } from './ledger.ts';

export interface LedgerOperation {
  /** The name of the ledger's function, such as `claim` or `tasks.openHold`. */
  operation: string;
  durationMs: number;
  /** `unavailable`: the ledger could not be reached, or did not answer in time. */
  result: 'ok' | 'unavailable' | 'failed';
}

/** @param observer called for each operation that returns a promise; what it throws is dropped */
export function createObservedLedger(ledger: Ledger, observer: (operation: LedgerOperation) => void): Ledger {
  const time = (operation: string, result: Promise<unknown>) => {
    const startedAt = performance.now();
    const tell = (how: LedgerOperation['result']) => {
      try {
        observer({ operation, durationMs: performance.now() - startedAt, result: how });
      } catch {
        // An error of an observer must never cost an attempt.
      }
    };
    result.then(
      () => tell('ok'),
      (error: unknown) => tell(error instanceof LedgerUnavailableError ? 'unavailable' : 'failed'),
    );
  };
  const observe = <Members extends object>(members: Members, path: string): Members =>
    new Proxy(members, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        const operation = `${path}${String(name)}`;
        if (isSection(member)) return observe(member, `${operation}.`);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const result: unknown = member.apply(target, args);
          if (result instanceof Promise) time(operation, result);
          return result;
        };
      },
    });
  return observe(ledger, '');
}

/** Whether a member of the ledger is a group of functions, such as `tasks`. */
function isSection(member: unknown): member is object {
  if (typeof member !== 'object' || member === null) return false;
  const parts = Object.values(member);
  return parts.length > 0 && parts.every((part) => typeof part === 'function');
}
