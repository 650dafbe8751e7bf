/** The interface of a check, what checks share, and how they are run. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { getErrorCode } from '../base/error-code.ts';
import type { Config } from '../config/config.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../ledger/errors.ts';
import { inspectLedger } from '../ledger/inspect-ledger.ts';
import type { ConfigProblem } from '../model/problems.ts';
import { KeyRingError } from '../protection/errors.ts';
import { loadKeyRing } from '../protection/keys/key-ring.ts';

export interface Finding {
  /** `unchecked`: doctor could not find out. That says nothing about what it wanted to check. */
  status: 'pass' | 'warn' | 'fail' | 'unchecked';
  /** One sentence. Nothing personal, no secret, no value of a variable that is wrong. */
  detail: string;
  /** Absent with `pass`: what the operator should do about it. */
  toDo?: string;
}

/** Thrown by a check that has nothing to look at; its message is shown. */
export class NotCheckedError extends Error {}

export function pass(detail: string): Finding {
  return { status: 'pass', detail };
}

export function warn(detail: string, toDo: string): Finding {
  return { status: 'warn', detail, toDo };
}

export function fail(detail: string, toDo: string): Finding {
  return { status: 'fail', detail, toDo };
}

/** @param why what kept doctor from checking, without the name of the check */
function createUnchecked(why: string, toDo: string): Finding {
  return { status: 'unchecked', detail: `doctor could not check this: ${why}`, toDo };
}

export type DoctorContext = ReturnType<typeof createContext>;

/**
 * Creates what checks share. The first check that needs a part makes it.
 *
 * @param timeoutMs of each check: a connection is given up within half of it, so that the check can report that
 */
export function createContext(config: Config, problems: readonly ConfigProblem[], timeoutMs: number) {
  let connection: Connection | undefined;
  const connect = memoize(async () => {
    connection = await Connection.connect({ ...config.temporal.connectionOptions, connectTimeout: timeoutMs / 2 });
    return new Client({ connection, namespace: config.temporal.namespace });
  });
  const inspect = memoize(() => inspectLedger(config.ledger.url));
  const ledger = () => inspect().catch(throwNotChecked('the ledger cannot be read'));
  // `null` if the ring does not exist yet and may be created.
  const keys = memoize(async () => {
    const { keyRingFile, keyRingMayBeMade } = config;
    return keyRingMayBeMade && !existsSync(keyRingFile) ? null : loadKeyRing(keyRingFile);
  });
  return {
    config,
    problems,
    /** @throws what `Connection.connect` does */
    connect,
    /** @throws NotCheckedError where there is no connection; the check of the server reports the cause */
    temporal: () => connect().catch(throwNotChecked('Temporal cannot be reached')),
    /** @throws LedgerNotFoundError, LedgerUnavailableError */
    inspect,
    /** @throws NotCheckedError where it cannot be looked at */
    ledger,
    /** @throws NotCheckedError if its tables cannot be read: the check `ledger` says why */
    content: async () => (await ledger()).content ?? throwNotChecked('the ledger cannot be read')(),
    /** @throws KeyRingError */
    keys,
    /** @throws NotCheckedError if the ring cannot be used: the check `key-ring` says why */
    usableKeys: () =>
      keys().catch((error: unknown) => {
        throw error instanceof KeyRingError ? new NotCheckedError('the key ring cannot be used') : error;
      }),
    close: async () => connection?.close(),
  };
}

function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

export function describeRules(problems: readonly ConfigProblem[]): string {
  return problems.map(({ variable, rule }) => `${variable} ${rule}`).join('; ');
}

function throwNotChecked(why: string): () => never {
  return () => {
    throw new NotCheckedError(why);
  };
}

export interface Check {
  /** Stable: `namespace`, or `token-service/<profile>`. */
  name: string;
  /**
   * Prefixes of the variables that it needs beside `GATEWAY_ENVIRONMENT`, on which defaults depend: where one of them is
   * wrong, the check does not run. `null`: it runs always.
   */
  needs: readonly string[] | null;
  /** May throw: that is a failure too. Ends what it began when `signal` is aborted. */
  run(context: DoctorContext, signal: AbortSignal): Promise<Finding>;
}

export function defineCheck(name: string, needs: Check['needs'], run: Check['run']): Check {
  return { name, needs, run };
}

export interface CheckResult extends Finding {
  check: string;
}

/** Runs checks beside one another, each within `timeoutMs`. In the order of `checks`, whichever ends first. Never throws. */
export function runChecks(checks: readonly Check[], context: DoctorContext, timeoutMs: number): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => ({ check: check.name, ...(await runCheck(check, context, timeoutMs)) })),
  );
}

async function runCheck(check: Check, context: DoctorContext, timeoutMs: number): Promise<Finding> {
  const needs = check.needs && ['GATEWAY_ENVIRONMENT', ...check.needs];
  const wrong = context.problems.find(({ variable }) => needs?.some((name) => variable.startsWith(name)));
  if (wrong) return createUnchecked(`${wrong.variable} is wrong`, 'fix that first');
  const ending = new AbortController();
  const { signal } = ending;
  const why = `it did not end within ${timeoutMs / 1000} s`;
  const late = createUnchecked(why, 'find out what hangs, or set a longer --timeout');
  try {
    return await Promise.race([check.run(context, signal), sleep(timeoutMs, late, { signal })]);
  } catch (error) {
    return toFinding(error);
  } finally {
    ending.abort();
  }
}

/** Shows only the kind of an error: its message may quote the input that failed. */
function toFinding(error: unknown): Finding {
  if (error instanceof NotCheckedError) return createUnchecked(error.message, 'fix that first');
  // Its message names the database's code at most.
  if (error instanceof LedgerUnavailableError) return createUnchecked(error.message, 'see the database’s log');
  if (error instanceof LedgerNotFoundError) {
    return createUnchecked('there is no ledger at its address', 'fix that first');
  }
  if (isGrpcServiceError(error)) {
    // The message begins with code and name, such as `14 UNAVAILABLE: …`. Its details may quote input.
    const name = /^\d+ ([A-Z_]+)\b/.exec(error.message)?.[1] ?? `code ${error.code}`;
    return createUnchecked(`Temporal answered ${name}`, 'see the server’s log, and run it again');
  }
  // A code such as EMFILE: the system refused an operation.
  const code = getErrorCode(error, '');
  const name = /^E[A-Z0-9]+$/.test(code) ? code : error instanceof Error ? error.name : typeof error;
  return createUnchecked(`it failed (${name})`, 'run it again; report it if it fails again');
}
