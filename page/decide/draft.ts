/**
 * A decision while it is being made. It is kept in memory until it is answered, with the one id that it was given at
 * first: a click twice, or the same again after a lost answer, decides once.
 */
import type { ActionGuide } from '../api/guide.ts';
import type { Hold } from '../api/schemas.ts';
import { keptWhileSignedIn } from '../base/kept.ts';

export type Outcome = 'record' | 'noRecord' | 'noReport';

export interface Draft {
  decisionId: string;
  action: string;
  providerSaid?: string;
  outcome?: Outcome;
  reportReferenceNumber: string;
  requestedAt: string;
  consumerIds: readonly { applicantId: string; consumerId: string }[];
  confirmConsumerIds: boolean;
  reason: string;
  /** It was sent, and no answer said what became of it: only the same may be sent again. */
  isUnanswered: boolean;
}

const drafts = keptWhileSignedIn<Draft>();

function keyOf(hold: Hold, action: string): string {
  return `${hold.holdId} ${hold.attempt ?? 0} ${action}`;
}

export function draftOf(hold: Hold, { action }: ActionGuide): Draft {
  const kept = drafts.get(keyOf(hold, action));
  if (kept) return kept;
  return {
    ...{ decisionId: newDecisionId(), action, reason: '', reportReferenceNumber: '', requestedAt: '' },
    ...{ confirmConsumerIds: false, isUnanswered: false },
    consumerIds: (hold.applicantIds ?? ['1A']).map((applicantId) => ({ applicantId, consumerId: '' })),
    // Where the provider cannot know, there is nothing to ask.
    ...(hold.guide.ask !== undefined || action === 'seen' ? {} : { providerSaid: 'notAsked' }),
  };
}

export function keepDraft(hold: Hold, draft: Draft): void {
  drafts.set(keyOf(hold, draft.action), draft);
}

export function dropDraft(hold: Hold, action: string): void {
  drafts.delete(keyOf(hold, action));
}

/** What came to nothing may be changed and sent as another decision. */
export function renewed(draft: Draft): Draft {
  return { ...draft, decisionId: newDecisionId(), isUnanswered: false };
}

const LETTERS = 'abcdefghijkmnpqrstuvwxyz';
const ID_LENGTH = 20;

/** Letters alone: nine digits in a row would look like a social security number. */
export function newDecisionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_LENGTH));
  return `page-${[...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join('')}`;
}

/** What the provider must have said, as the API says: any one of these. */
export function permittedWords(guide: ActionGuide, outcome: Outcome | undefined): readonly string[] {
  return guide.outcomes?.find((one) => one.outcome === outcome)?.providerSaid ?? guide.providerSaid;
}

/** What follows, in the API's words. */
export function doesWords(guide: ActionGuide, { outcome }: Pick<Draft, 'outcome'>): string {
  return guide.outcomes?.find((one) => one.outcome === outcome)?.does ?? guide.does;
}

export interface Missing {
  /** Of the field that lacks it. */
  step: string;
  words: string;
}

/** What will be sent, or what is missing for it. */
export function bodyOf(hold: Hold, guide: ActionGuide, draft: Draft): { body: object } | { missing: Missing } {
  const { decisionId, action, providerSaid, outcome } = draft;
  const reason = draft.reason.trim().replaceAll(/\s+/g, ' ');
  if (action === 'seen') {
    if (!reason) return { missing: NO_REASON };
    // About a run as a whole, the address names no inquiry: only what this row says is taken off.
    const flag = hold.customerTraceNumber === undefined ? { flag: hold.failureType } : {};
    return { body: { decisionId, ...flag, reason } };
  }
  const words = permittedWords(guide, outcome);
  if (action === 'accept' && !outcome) return { missing: { step: 'outcome', words: 'Choose the outcome.' } };
  if (!providerSaid || !words.includes(providerSaid)) {
    return { missing: { step: 'providerSaid', words: 'Say what the provider said.' } };
  }
  const reference = action === 'accept' && outcome === 'record' ? referenceOf(draft) : undefined;
  if (reference && 'missing' in reference) return reference;
  if (!reason) return { missing: NO_REASON };
  const { customerTraceNumber, attempt } = hold;
  return {
    body: {
      ...{ decisionId, customerTraceNumber, attempt, action, providerSaid },
      ...(action === 'accept' ? { outcome } : {}),
      ...(reference ? { reference: reference.reference } : {}),
      ...(reference && draft.confirmConsumerIds ? { confirmConsumerIds: true } : {}),
      reason,
    },
  };
}

const NO_REASON: Missing = { step: 'reason', words: 'Give a reason.' };

function referenceOf(draft: Draft): { reference: object } | { missing: Missing } {
  const reportReferenceNumber = draft.reportReferenceNumber.trim();
  const requestedAt = draft.requestedAt.trim();
  const applicants = draft.consumerIds
    .map(({ applicantId, consumerId }) => ({ applicantId: applicantId.trim(), consumerId: consumerId.trim() }))
    .filter(({ applicantId, consumerId }) => applicantId && consumerId);
  if (!reportReferenceNumber || !requestedAt || applicants.length === 0) {
    return { missing: { step: 'reference', words: 'Give the reference, its time and a consumer id.' } };
  }
  return { reference: { reportReferenceNumber, requestedAt, applicants } };
}
