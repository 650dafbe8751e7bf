/** What was asked of the gateway, attempt by attempt, as auditors and accountants read it: shapes, and what they mean. */
import type { FailureType } from '../model/failure-types.ts';
import { ATTEMPT_STATE_OF_FAILURE, type AttemptState, type InquiryDescription } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import type { DecisionRecord } from './records.ts';

/**
 * What came of an attempt: the outcome where there is one, also one that a person accepted; else why there is none.
 * `unknown` also while its answer is overdue.
 */
export const AUDIT_OUTCOMES = [
  'record',
  'noRecord',
  'noReport',
  'unexpectedResponse',
  'returnCodeUnknown',
  'unknown',
  'sending',
  'notSent',
  'notProcessed',
  'refused',
  'notEntitled',
  'credentialsRefused',
  'untrusted',
] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Each condition narrows it further; without any, everything. */
export interface InquiriesQuery {
  /** RFC 3339: claimed then or later. */
  from?: string;
  /** RFC 3339: claimed before then. */
  before?: string;
  /** The code or the name that it was asked under. */
  endUser?: string;
  productCode?: ProductCode;
  outcome?: AuditOutcome;
  /** Sealed in the ledger: each attempt that the other conditions leave, and that has a record, is opened for it. */
  reportReferenceNumber?: string;
}

/** A person's decision, as it stands in the ledger. */
export type AuditDecision = Pick<
  DecisionRecord,
  'decisionId' | 'action' | 'by' | 'reason' | 'providerSaid' | 'decidedAt' | 'provenBy'
>;

/** One attempt, with the inquiry that it belongs to. Nothing personal, and no reference. */
export interface AuditedAttempt extends InquiryDescription {
  attempt: number;
  /** By the database's clock, RFC 3339. */
  claimedAt: string;
  /** The instant just before the first byte, where it is known. */
  requestedAt?: string;
  outcome: AuditOutcome;
  /** Whether there is an inquiry on the consumer's file, as far as anybody knows. */
  posted: Posted;
  /** Of an answer that was understood. Any other code is a stranger's text, sealed with its answer. */
  returnCode?: string;
  httpStatus?: number;
  failureType?: FailureType;
  /** The decision without which it would not have been made: a resend, or the amendment that led to its inquiry. */
  permittedBy?: AuditDecision;
  /** The latest decision about what came of it. */
  decision?: AuditDecision;
  /** The grants that permitted it: of SECONDUSE alone. */
  consents: { applicantId: string; consentId: string }[];
  /** An answer that came after a decision or a later attempt; never its outcome. */
  late?: { at: string; outcome?: AuditOutcome };
  /** Of the inquiry. */
  abandonedAt?: string;
  disposedAt?: string;
}

export type Posted = 'yes' | 'no' | 'unknown';

/** What `postedOf` goes by. */
export interface PostingFacts {
  /** As it stands by now: never `sending` past its time. */
  state: AttemptState;
  /** The gateway's answer came and says that it was processed, in time or late. */
  isAnswered: boolean;
  providerSaid?: DecisionRecord['providerSaid'];
  /** A person accepted a share as not posted, and no answer has come since. */
  isAcceptedAsNotPosted?: boolean;
}

/** States that tell by themselves that nothing was posted, as far as a refusal tells (docs/protocol.md). */
const NOT_POSTED: readonly AttemptState[] = [
  'notSent',
  'untrusted',
  'notProcessed',
  'refused',
  'notEntitled',
  'credentialsRefused',
];

/**
 * The gateway's own answer comes first, then the provider's word, as a person has passed it on, then the status. A share
 * is posted by the code `Record` alone: what came under another one is what a person has made of it.
 */
export function postedOf({ state, isAnswered, providerSaid, isAcceptedAsNotPosted = false }: PostingFacts): Posted {
  if (isAcceptedAsNotPosted) return 'no';
  if (isAnswered || providerSaid === 'posted') return 'yes';
  if (providerSaid === 'notPosted' || NOT_POSTED.includes(state)) return 'no';
  return 'unknown';
}

/**
 * Whether a decision judges an attempt that was made: one about what was never claimed, or about another request under
 * the same trace number, says nothing of it.
 */
export function judgesAttempts(failureType: FailureType | null): boolean {
  return failureType === null || ATTEMPT_STATE_OF_FAILURE[failureType] !== null;
}

export interface InquiryTotal {
  productCode: ProductCode;
  endUserCode?: string;
  endUser?: string;
  /** Attempts that were sent, at least in part: the sum of the other three. */
  sent: number;
  posted: number;
  notPosted: number;
  unknown: number;
}

/** Counts by product and end user: what is set against an invoice. */
export class InquiryTotals {
  readonly #totals = new Map<string, InquiryTotal>();

  add({ productCode, endUserCode, endUser, outcome, posted }: AuditedAttempt): void {
    if ((outcome === 'notSent' || outcome === 'untrusted') && posted !== 'yes') return;
    const key = JSON.stringify([productCode, endUserCode, endUser]);
    const total = this.#totals.get(key) ?? {
      productCode,
      ...(endUserCode === undefined ? {} : { endUserCode }),
      ...(endUser === undefined ? {} : { endUser }),
      ...{ sent: 0, posted: 0, notPosted: 0, unknown: 0 },
    };
    total.sent += 1;
    total[COUNTED_AS[posted]] += 1;
    this.#totals.set(key, total);
  }

  /** By product, then end user. */
  get list(): InquiryTotal[] {
    return [...this.#totals.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, total]) => total);
  }
}

const COUNTED_AS = { yes: 'posted', no: 'notPosted', unknown: 'unknown' } as const;
