/**
 * What the provider must have said before a person may decide this or that: the third column of the table of
 * reason × action (failure-types.ts). Pure; docs/protocol.md prints both as one table, and a test compares.
 */
import type { FailureType, HoldAction } from './failure-types.ts';
import type { ProductCode } from './products.ts';

export const PROVIDER_SAID = ['posted', 'notPosted', 'unknown', 'notAsked'] as const;
/** What the provider says about the attempt, as a person passes it on. */
export type ProviderSaid = (typeof PROVIDER_SAID)[number];

/** The gateway's own answer came: it says what there is, although nothing could be made of it by itself. */
const ANSWERED_BY_ITSELF: readonly FailureType[] = ['UnexpectedResponse', 'ReturnCodeUnknown'];

export interface JudgedHold {
  failureType: FailureType;
  productCode: ProductCode;
}

/** A decision, as far as it matters here. */
export interface Judgment {
  action: HoldAction;
  /** With `accept`. */
  outcome?: 'record' | 'noRecord' | 'noReport' | undefined;
}

/** The words with which the decision may be taken. */
export function wordsThatPermit(
  { failureType, productCode }: JudgedHold,
  { action, outcome }: Judgment,
): readonly ProviderSaid[] {
  if (action === 'resend')
    return failureType === 'OutcomeUnknown' ? said('posted', 'notPosted', 'unknown') : PROVIDER_SAID;
  if (action !== 'accept') return PROVIDER_SAID;
  // Where there is a record there was a posting, and the provider alone can say whose it is.
  if (outcome === 'record') return said('posted');
  // A share without a record was not posted: only Record means that it was.
  const words = productCode === 'SECONDUSE' ? said('notPosted') : said('posted', 'notPosted');
  return ANSWERED_BY_ITSELF.includes(failureType) ? [...words, 'unknown', 'notAsked'] : words;
}

/** Why the provider's word does not permit the decision, as a path and a rule; or `null`. */
export function wordProblem(hold: JudgedHold, decision: Judgment & { providerSaid: ProviderSaid }): string | null {
  const words = wordsThatPermit(hold, decision);
  if (words.includes(decision.providerSaid)) return null;
  const what = decision.action === 'accept' ? `accept with ${decision.outcome}` : decision.action;
  return `/providerSaid must be ${words.join(' or ')}: ${what} after ${hold.failureType} needs the provider’s word`;
}

function said(...words: ProviderSaid[]): readonly ProviderSaid[] {
  return words;
}
