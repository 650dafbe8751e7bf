/** A workflow that says what the checks of messages say in a run. */
import {
  advanceProblem,
  consentProblem,
  extendProblem,
  extendShareReportProblem,
  requestShareProblem,
  resolveInquiryProblem,
  withdrawProblem,
  withdrawShareProblem,
} from '../../src/messages/checks.ts';

const CHECKS = {
  ...{ advanceProblem, consentProblem, requestShareProblem, resolveInquiryProblem, withdrawProblem },
  ...{ extendProblem, extendShareReportProblem, withdrawShareProblem },
};

/** A check, and its arguments. */
export type CheckCase = [check: keyof typeof CHECKS, ...args: unknown[]];

export async function checkMessages(cases: CheckCase[]): Promise<(string | null)[]> {
  return verdictsOn(cases);
}

export function verdictsOn(cases: CheckCase[]): (string | null)[] {
  return cases.map(([name, ...args]) => {
    try {
      return (CHECKS[name] as (...args: unknown[]) => string | null)(...args);
    } catch (error) {
      // Would be repeated as a failure of the workflow task.
      return `threw ${error}`;
    }
  });
}
