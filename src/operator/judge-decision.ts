/** Lists the allowed actions of a hold, and judges decisions about it. The run applies these rules too. Pure. */
import { omitUndefined } from '../base/defined.ts';
import type { OpenInquiry } from '../ledger/records.ts';
import { referenceApplicantsProblem } from '../messages/reference-applicants.ts';
import { FAILURES, type HoldAction, isFailureType } from '../model/failure-types.ts';
import { problemIn, problemsShown } from '../model/problems.ts';
import { type ProviderSaid, resendProblem, wordProblem } from '../model/provider-word.ts';
import { type MessageRefusal, refuse } from '../model/refusals.ts';
import type { ReportOutcome, ReportReference } from '../model/report-outcome.ts';
import type { HeldInquiry } from '../words/holds.ts';

/** A row of the ledger as it may be decided, now that it is known whether its run is open. */
export interface DecidableHold extends Omit<HeldInquiry, 'refusedDecision'> {
  /** The run key (model/run-key.ts). */
  runKey: string;
  /** The applicants that it is about. The ledger keeps none of the oldest inquiries. */
  applicantIds?: readonly string[];
  /** `run`: the open run takes the decision. `ledger`: there is no run, and its next start finds the decision. */
  heldBy: 'run' | 'ledger';
  allowedActions: readonly (HoldAction | 'seen')[];
}

/** An undecided inquiry whose run is gone, as the ledger knows it. */
export function readLeftBehind(inquiry: OpenInquiry): DecidableHold {
  const { runKey, customerTraceNumber, productCode, undecided } = inquiry;
  const { attempt, failureType } = undecided ?? { attempt: 0, failureType: 'OutcomeUnknown' as const };
  return {
    ...{ runKey, customerTraceNumber, productCode, attempt, reason: failureType, heldBy: 'ledger' },
    ...describeAttempt(inquiry, attempt),
    // Corrected applicants need a new start: only a run can make a new inquiry.
    allowedActions: FAILURES[failureType].actions.filter((action) => action !== 'amend'),
  };
}

/** Describes the ledger's knowledge of one attempt, in the fields of a hold. */
export function describeAttempt({ attempts, applicantIds }: OpenInquiry, attempt: number | undefined) {
  const { httpStatus, refusalKept, answer, resendFrom } =
    attempts.find((candidate) => candidate.attempt === attempt) ?? {};
  const problems = answer?.kind === 'unexpectedResponse' ? problemsShown(answer.problems.map(problemIn)) : undefined;
  const returnReasonCode = answer?.kind === 'returnCodeUnknown' ? answer.returnReasonCode : undefined;
  const { returnCode } = answer ?? {};
  return omitUndefined({ applicantIds, httpStatus, refusalKept, returnCode, returnReasonCode, problems, resendFrom });
}

export interface JudgedDecision {
  attempt: number;
  action: HoldAction | 'seen';
  /** Absent while it has not been asked for. */
  providerSaid?: ProviderSaid | undefined;
  outcome?: ReportOutcome | undefined;
  reference?: ReportReference | undefined;
}

/** Returns, in words, why the decision is invalid now; `null` if the hold may take it. */
export function decisionProblem(hold: DecidableHold, decision: JudgedDecision): MessageRefusal | null {
  const { reason, attempt, allowedActions, productCode, applicantIds } = hold;
  const { action, outcome, providerSaid, reference } = decision;
  // A decision about an earlier attempt says nothing about the one that waits by now.
  if (decision.attempt !== attempt) return refuse('notOnHold', `the hold is about attempt ${attempt}`);
  if (!allowedActions.includes(action)) {
    const where = hold.heldBy === 'ledger' ? ' without a run' : '';
    return refuse('notNow', `${reason} allows ${allowedActions.join(', ')}${where}`);
  }
  if (action !== 'seen') {
    const ofWord =
      isFailureType(reason) && providerSaid !== undefined
        ? wordProblem({ failureType: reason, productCode }, { action, outcome, providerSaid })
        : null;
    const problem = ofWord ?? resendProblem(hold, { action }, Date.now());
    if (problem) return refuse('notNow', problem);
  }
  // The ledger keeps no applicants of the oldest inquiries: there the operator has to check it.
  const ofReference = reference && applicantIds && referenceApplicantsProblem(reference.applicants, applicantIds);
  return ofReference ? refuse('notNow', ofReference) : null;
}
