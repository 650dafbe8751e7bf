/**
 * The provider's statements that a decision requires: the third column of the table of reason × action
 * (failure-types.ts). Pure. docs/protocol.md prints both as one table, and a test compares them.
 */
import { FAILURES, type FailureType, type HoldAction } from './failure-types.ts';
import type { ProductCode } from './products.ts';
import type { ReportOutcome } from './report-outcome.ts';

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
  if (action === 'resend')
    return failureType === 'OutcomeUnknown' ? listStatements('posted', 'notPosted', 'unknown') : PROVIDER_SAID;
  if (action !== 'accept') return PROVIDER_SAID;
  // A record proves a posting, and only the provider knows its consumer.
  if (outcome === 'record') return listStatements('posted');
  // A share without a record was not posted: a share is posted only if the answer is a record.
  const words = productCode === 'SECONDUSE' ? listStatements('notPosted') : listStatements('posted', 'notPosted');
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

function listStatements(...words: ProviderSaid[]): readonly ProviderSaid[] {
  return words;
}

/** The rule that refuses a `resend` before this instant. */
export function describeResendRule(resendFrom: string): string {
  return `the first request may still arrive: resend is accepted from ${resendFrom} on`;
}

/** Returns why the decision is too early, or `null`. The ledger decides by its own clock; this only answers sooner. */
export function checkResendTime(
  { resendFrom }: { resendFrom?: string },
  { action }: { action: HoldAction },
  nowMs: number,
): string | null {
  if (action !== 'resend' || resendFrom === undefined || Date.parse(resendFrom) <= nowMs) return null;
  return describeResendRule(resendFrom);
}
