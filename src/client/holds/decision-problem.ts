/** Why a decision makes no sense about a hold, by the rules that its run keeps too. Pure: it judges early, nobody obeys it. */
import { referenceApplicantsProblem } from '../../messages/reference-applicants.ts';
import { type HoldAction, isFailureType } from '../../model/failure-types.ts';
import { type ProviderSaid, resendProblem, wordProblem } from '../../model/provider-word.ts';
import type { ReportOutcome, ReportReference } from '../../model/report-outcome.ts';
import type { OpenHold } from './open-hold.ts';

interface JudgedDecision {
  attempt: number;
  action: HoldAction | 'seen';
  /** Absent while it has not been asked for. */
  providerSaid?: ProviderSaid | undefined;
  outcome?: ReportOutcome | undefined;
  reference?: ReportReference | undefined;
}

/** By now, in words; `null` where it may be taken. */
export function decisionProblem(hold: OpenHold, decision: JudgedDecision): string | null {
  const { reason, attempt, allowedActions, productCode, applicantIds } = hold;
  const { action, outcome, providerSaid, reference } = decision;
  // A decision about an earlier attempt says nothing about the one that waits by now.
  if (decision.attempt !== attempt) return `the hold is about attempt ${attempt}`;
  if (!allowedActions.includes(action)) {
    return `${reason} allows ${allowedActions.join(', ')}${hold.heldBy === 'ledger' ? ' without a run' : ''}`;
  }
  if (action !== 'seen') {
    const ofWord =
      isFailureType(reason) && providerSaid !== undefined
        ? wordProblem({ failureType: reason, productCode }, { action, outcome, providerSaid })
        : null;
    const problem = ofWord ?? resendProblem(hold, { action }, Date.now());
    if (problem) return problem;
  }
  // The ledger keeps no applicants of the oldest inquiries: there the operator has to check it.
  return reference && applicantIds ? referenceApplicantsProblem(reference.applicants, applicantIds) : null;
}
