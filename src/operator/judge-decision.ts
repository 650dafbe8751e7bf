/** Judges decisions about a hold, by the rules that the run and the ledger apply as well. */
import { omitUndefined } from '../base/defined.ts';
import type { OpenInquiry } from '../ledger/records.ts';
import { checkReferenceApplicants } from '../messages/reference-applicants.ts';
import type { Decision } from '../messages/resolve-inquiry.ts';
import { FAILURES, type FailureType, isFailureType } from '../model/failure-types.ts';
import { parseProblem, selectShownProblems } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import { checkProviderStatement, checkResendTime } from '../model/provider-word.ts';
import { type MessageRefusal, refuse } from '../model/refusals.ts';
import type { Hold } from './holds.ts';

/** A hold, and whether its run is open, which determines the permitted decisions. */
export interface DecidableHold extends Hold {
  customerTraceNumber: string;
  productCode: ProductCode;
  /** `run`: the open run takes the decision. `ledger`: there is no run, and its next start finds the decision. */
  heldBy: 'run' | 'ledger';
}

export type JudgedHold = Pick<
  DecidableHold,
  'reason' | 'attempt' | 'productCode' | 'applicantIds' | 'resendFrom' | 'allowedActions' | 'heldBy'
>;

/** Describes, as a hold, an undecided inquiry whose run is gone. Only a run can amend: corrections need a new start. */
export function readLeftBehind(
  inquiry: OpenInquiry,
  { attempt, failureType }: { attempt: number; failureType: FailureType },
) {
  return {
    attempt,
    reason: failureType,
    productCode: inquiry.productCode,
    heldBy: 'ledger' as const,
    ...describeAttempt(inquiry, attempt),
    allowedActions: FAILURES[failureType].actions.filter((action) => action !== 'amend'),
  };
}

/** Describes the ledger's knowledge of one attempt, in the fields of a hold. */
export function describeAttempt({ attempts, applicantIds }: OpenInquiry, attempt: number | undefined) {
  const { httpStatus, refusalKept, answer, resendFrom } =
    attempts.find((candidate) => candidate.attempt === attempt) ?? {};
  const problems =
    answer?.kind === 'unexpectedResponse' ? selectShownProblems(answer.problems.map(parseProblem)) : undefined;
  const returnReasonCode = answer?.kind === 'returnCodeUnknown' ? answer.returnReasonCode : undefined;
  const { returnCode } = answer ?? {};
  return omitUndefined({ applicantIds, httpStatus, refusalKept, returnCode, returnReasonCode, problems, resendFrom });
}

/** A decision, as far as it has been made. */
export type JudgedDecision = Pick<Decision, 'attempt' | 'action'> &
  Partial<Pick<Decision, 'providerSaid' | 'outcome' | 'reference'>>;

/** Returns why the decision is invalid now; `null` if the hold may take it. */
export function validateDecision(hold: JudgedHold, decision: JudgedDecision): MessageRefusal | null {
  const { reason, attempt, allowedActions, productCode, applicantIds, heldBy } = hold;
  const { action, outcome, providerSaid, reference } = decision;
  // A decision about an earlier attempt says nothing about the one that waits by now.
  if (decision.attempt !== attempt) return refuse('notOnHold', `the hold is about attempt ${attempt}`);
  if (!allowedActions.includes(action)) {
    const where = heldBy === 'ledger' ? ' without a run' : '';
    return refuse('notNow', `${reason} allows ${allowedActions.join(', ')}${where}`);
  }
  const statementProblem =
    isFailureType(reason) && providerSaid !== undefined
      ? checkProviderStatement({ failureType: reason, productCode }, { action, outcome, providerSaid })
      : null;
  const problem = statementProblem ?? checkResendTime(hold, { action }, Date.now());
  if (problem) return refuse('notNow', problem);
  // The ledger has no applicants of its oldest inquiries: there, the operator has to check the reference.
  const referenceProblem = reference && applicantIds && checkReferenceApplicants(reference.applicants, applicantIds);
  return referenceProblem ? refuse('notNow', referenceProblem) : null;
}
