/** The provider's answers beside the holds that they are about: what is decided, and what is left out and why. */
import type { OpenHold } from '../../client.ts';
import { referenceApplicantsProblem } from '../../messages/reference-applicants.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { wordProblem } from '../../model/provider-word.ts';
import { resendProblem } from '../../model/resend-rule.ts';
import type { AnsweredInquiry } from './answers-file.ts';
import type { DraftDecision } from './decision-flags.ts';

export type RunHold = OpenHold & { attempt: number };

/** An answer that decides nothing. */
export interface LeftOut {
  customerTraceNumber: string;
  why: string;
}

export interface MatchedAnswers {
  planned: { hold: RunHold; draft: DraftDecision }[];
  leftOut: LeftOut[];
}

export function matchAnswers(holds: readonly RunHold[], answers: readonly AnsweredInquiry[]): MatchedAnswers {
  const matched: MatchedAnswers = { planned: [], leftOut: [] };
  const byTrace = new Map(holds.map((hold) => [hold.customerTraceNumber, hold]));
  for (const { customerTraceNumber, ...draft } of answers) {
    const hold = byTrace.get(customerTraceNumber);
    const why = hold ? problemOf(hold, draft) : 'no run that was asked for holds it; without a run: resolve --ledger';
    if (hold && why === null) matched.planned.push({ hold, draft });
    else matched.leftOut.push({ customerTraceNumber, why: why ?? '' });
  }
  return matched;
}

/** As its run would judge it, by now. */
function problemOf(hold: RunHold, draft: Omit<AnsweredInquiry, 'customerTraceNumber'>): string | null {
  const { reason, attempt, allowedActions, productCode, applicantIds } = hold;
  const { action, outcome, providerSaid, reference } = draft;
  // An answer about an earlier attempt says nothing about the one that waits by now.
  if (draft.attempt !== attempt) return `the hold is about attempt ${attempt}`;
  if (!allowedActions.includes(action)) return `${reason} allows ${allowedActions.join(', ')}`;
  if (isFailureType(reason) && action !== 'seen' && providerSaid !== undefined) {
    const problem = wordProblem({ failureType: reason, productCode }, { action, outcome, providerSaid });
    if (problem) return problem;
  }
  if (action === 'resend') {
    const problem = resendProblem(hold, { action }, Date.now());
    if (problem) return problem;
  }
  return reference && applicantIds ? referenceApplicantsProblem(reference.applicants, applicantIds) : null;
}
