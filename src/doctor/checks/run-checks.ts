/** Runs checks beside one another, each within its time: one that hangs is a failure by its name. */
import type { Check, CheckResult } from './check.ts';
import type { DoctorContext } from './context.ts';
import { type Finding, fail, NotCheckedError } from './finding.ts';

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
  if (isWrong) return notChecked('its configuration is wrong');
  const ending = new AbortController();
  const timeout = Promise.withResolvers<Finding>();
  const timer = setTimeout(() => {
    timeout.resolve(
      fail(`did not end within ${timeoutMs / 1000} s`, 'find out what hangs, or give it a longer --timeout'),
    );
  }, timeoutMs);
  try {
    return await Promise.race([check.run(context, ending.signal), timeout.promise]);
  } catch (error) {
    if (error instanceof NotCheckedError) return notChecked(error.message);
    // A message may quote what it failed on.
    const name = error instanceof Error ? error.name : typeof error;
    return fail(`the check itself failed (${name})`, 'run it again; report it if it stays so');
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

function notChecked(why: string): Finding {
  return fail(`not checked: ${why}`, 'put that right first');
}
