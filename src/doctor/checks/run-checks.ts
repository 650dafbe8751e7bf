/** Runs checks beside one another, each within its time. What keeps doctor from checking is no finding about the installation. */
import { isGrpcServiceError } from '@temporalio/client';
import { LedgerNotFoundError, LedgerUnavailableError } from '../../ledger/errors.ts';
import type { Check, CheckResult } from './check.ts';
import { type DoctorContext, grpcCodeOf } from './context.ts';
import { type Finding, NotCheckedError, unchecked } from './finding.ts';

interface RunChecksOptions {
  /** For each check. */
  timeoutMs: number;
}

/** In the order of `checks`, whichever ends first. Never throws. */
export function runChecks(
  checks: readonly Check[],
  context: DoctorContext,
  { timeoutMs }: RunChecksOptions,
): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => ({ check: check.name, ...(await findingOf(check, context, timeoutMs)) })),
  );
}

async function findingOf(check: Check, context: DoctorContext, timeoutMs: number): Promise<Finding> {
  const isWrong = context.problems.some(({ variable }) => check.needs.some((name) => variable.startsWith(name)));
  if (isWrong) return unchecked('its configuration is wrong', 'put that right first');
  const ending = new AbortController();
  const timeout = Promise.withResolvers<Finding>();
  const timer = setTimeout(() => {
    const why = `it did not end within ${timeoutMs / 1000} s`;
    timeout.resolve(unchecked(why, 'find out what hangs, or give it a longer --timeout'));
  }, timeoutMs);
  try {
    return await Promise.race([check.run(context, ending.signal), timeout.promise]);
  } catch (error) {
    return failureOf(error);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** Of an error, only its kind is shown: a message may quote what it failed on. */
function failureOf(error: unknown): Finding {
  if (error instanceof NotCheckedError) return unchecked(error.message, error.toDo);
  if (isGrpcServiceError(error)) {
    return unchecked(`Temporal answered ${grpcCodeOf(error)}`, 'see the server’s log, and run it again');
  }
  // Its message names the database's code at most.
  if (error instanceof LedgerUnavailableError)
    return unchecked(error.message, 'see the database’s log, and run it again');
  if (error instanceof LedgerNotFoundError)
    return unchecked('there is no ledger at its address', 'put that right first');
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const name = error instanceof Error ? error.name : typeof error;
  // What the system refuses, such as another file or socket.
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code)) {
    return unchecked(`this machine refused (${code})`, 'see what doctor may do here, and run it again');
  }
  return unchecked(`doctor itself has a fault (${name})`, 'run it again; report it if it stays so');
}
