/**
 * A ledger that reports the time of each operation to an observer, such as metrics. To its callers it is the ledger
 * itself.
 */
import { LedgerUnavailableError } from './errors.ts';

export interface LedgerOperation {
  /** The name of the ledger's function, such as `claim` or `tasks.openHold`. */
  operation: string;
  durationMs: number;
  /** `unavailable`: the ledger could not be reached, or did not answer in time. */
  result: 'ok' | 'unavailable' | 'failed';
}

/**
 * @param observer called for each operation that returns a promise; what it throws is dropped
 * @param path of a group of functions in the ledger, such as `tasks.`
 */
export function createObservedLedger<Members extends object>(
  members: Members,
  observer: (operation: LedgerOperation) => void,
  path = '',
): Members {
  return new Proxy(members, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      const operation = `${path}${String(name)}`;
      if (isSection(member)) return createObservedLedger(member, observer, `${operation}.`);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const startedAt = performance.now();
        const tell = (result: LedgerOperation['result']) => {
          try {
            observer({ operation, durationMs: performance.now() - startedAt, result });
          } catch {
            // An error of an observer must never cost an attempt.
          }
        };
        const answer: unknown = member.apply(target, args);
        const tellFailure = (error: unknown) =>
          tell(error instanceof LedgerUnavailableError ? 'unavailable' : 'failed');
        if (answer instanceof Promise) answer.then(() => tell('ok'), tellFailure);
        return answer;
      };
    },
  });
}

/** Whether a member of the ledger is a group of functions, such as `tasks`. */
function isSection(member: unknown): member is object {
  if (typeof member !== 'object' || member === null) return false;
  const parts = Object.values(member);
  return parts.length > 0 && parts.every((part) => typeof part === 'function');
}
