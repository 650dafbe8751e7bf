/**
 * The rules of decisions about a hold. The provider's statements that a decision requires are the third column of the
 * table of reason × action (failure-types.ts). Pure. docs/protocol.md prints both as one table, and a test compares them.
 */
import { FAILURES, type FailureType, type HoldAction, isFailureType } from './failure-types.ts';
import type { ProductCode } from './products.ts';
import { type MessageRefusal, refuse } from './refusals.ts';
import type { ReportOutcome, ReportReference } from './report-outcome.ts';

export const PROVIDER_SAID = ['posted', 'notPosted', 'unknown', 'notAsked'] as const;
/** The provider's statement about the attempt, as the deciding operator reports it. */
export type ProviderSaid = (typeof PROVIDER_SAID)[number];

/** The part of a decision that this rule needs. */
export interface Judgment {
  action: HoldAction;
  /** For `accept`. */
  outcome?: ReportOutcome | undefined;
}

/** Returns the provider's statements that permit this decision; one of them is enough. */
export function listPermittingStatements(
  { failureType, productCode }: { failureType: FailureType; productCode: ProductCode },
  { action, outcome }: Judgment,
): readonly ProviderSaid[] {
  if (action === 'resend') return failureType === 'OutcomeUnknown' ? ['posted', 'notPosted', 'unknown'] : PROVIDER_SAID;
  if (action !== 'accept') return PROVIDER_SAID;
  // A record proves a posting, and only the provider knows its consumer.
  if (outcome === 'record') return ['posted'];
  // A share without a record was not posted: a share is posted only if the answer is a record.
  const words: ProviderSaid[] = productCode === 'SECONDUSE' ? ['notPosted'] : ['posted', 'notPosted'];
  // The gateway's own answer says what exists, although the software could not use it.
  return FAILURES[failureType].posting === 'certain' ? [...words, 'unknown', 'notAsked'] : words;
}

/** Returns why the provider's statement does not permit the decision, as a path and a rule; or `null`. */
export function checkProviderStatement(
  hold: Parameters<typeof listPermittingStatements>[0],
  decision: Judgment & { providerSaid: ProviderSaid },
): string | null {
  const words = listPermittingStatements(hold, decision);
  if (words.includes(decision.providerSaid)) return null;
  const what = decision.action === 'accept' ? `accept with ${decision.outcome}` : decision.action;
  return `/providerSaid must be ${words.join(' or ')}: ${what} after ${hold.failureType} needs the provider’s answer`;
}

/** The rule that refuses a `resend` before this instant. */
export function describeResendRule(resendFrom: string): string {
  return `the first request may still arrive: resend is accepted from ${resendFrom} on`;
}

/** A hold, as far as decisions are judged by it. */
export interface JudgedHold {
  /** A failure type, or the reason of a flag. */
  reason: string;
  attempt?: number | undefined;
  productCode: ProductCode;
  allowedActions: readonly string[];
  /** The ledger has no applicants of its oldest inquiries: there, the operator has to check the reference. */
  applicantIds?: readonly string[] | undefined;
  resendFrom?: string | undefined;
  /** `run`: the open run takes the decision. `ledger`: there is no run, and its next start finds the decision. */
  heldBy: 'run' | 'ledger';
}

/** A decision, as far as it has been made. */
export interface JudgedDecision extends Judgment {
  attempt: number;
  providerSaid?: ProviderSaid | undefined;
  reference?: Pick<ReportReference, 'applicants'> | undefined;
}

/** Returns why the hold does not take the decision now; `null` if it does. */
export function judgeDecision(hold: JudgedHold, decision: JudgedDecision, nowMs: number): MessageRefusal | null {
  const { reason, allowedActions, applicantIds, productCode, resendFrom } = hold;
  const { action, outcome, providerSaid, reference } = decision;
  // A decision about an earlier attempt says nothing about the one that waits by now.
  if (decision.attempt !== hold.attempt) return refuse('notOnHold', `the hold is about attempt ${hold.attempt}`);
  if (!allowedActions.includes(action)) {
    const where = hold.heldBy === 'ledger' ? ' without a run' : '';
    return refuse('notNow', `${reason} allows ${allowedActions.join(', ')}${where}`);
  }
  const statementProblem =
    isFailureType(reason) && providerSaid !== undefined
      ? checkProviderStatement({ failureType: reason, productCode }, { action, outcome, providerSaid })
      : null;
  // The ledger decides by its own clock; this only answers sooner.
  const isTooEarly = action === 'resend' && resendFrom !== undefined && Date.parse(resendFrom) > nowMs;
  const problem =
    statementProblem ??
    (isTooEarly ? describeResendRule(resendFrom) : null) ??
    (reference && applicantIds && checkReferenceApplicants(reference.applicants, applicantIds));
  return problem ? refuse('notNow', problem) : null;
}

/** Returns the rule that the applicants of a reference break, or `null`. */
function checkReferenceApplicants(
  ofReference: readonly { applicantId: string }[],
  ofInquiry: readonly string[],
): string | null {
  const ids = ofReference.map(({ applicantId }) => applicantId);
  const isValid = new Set(ids).size === ids.length && ids.every((id) => ofInquiry.includes(id));
  return isValid ? null : 'the reference must name each of the inquiry’s applicants at most once, and no other';
}
