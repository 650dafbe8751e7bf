/** Shapes of the records for auditors: inquiries, decisions, consents, shares and disposals. Nothing personal. */
import { omitUndefined } from '../../base/defined.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import { type DecisionAction, FAILURES, type FailureType } from '../../model/failure-types.ts';
import { type AttemptState, type InquiryDescription, NOT_POSTED_STATES } from '../../model/inquiry.ts';
import type { ProductCode } from '../../model/products.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import { HELD_STATES } from '../claim.ts';
import type { Unmatched } from '../consents/consents.ts';
import type { ReadersReach } from '../owners.ts';
import type { DecisionRecord, RunDecision, ShareWithdrawal, StandingShareWithdrawal } from '../records.ts';
import type { LegalHold, RetentionEvent } from '../retention/retention.ts';

/**
 * The outcome of an attempt, whether the gateway or a person gave it; otherwise why there is none. `unknown` also
 * covers an overdue answer.
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

/**
 * Conditions, all of which an attempt must meet; without any, every attempt. A reader's reach leaves out runs of which
 * the ledger knows that they are another's.
 */
export interface InquiriesQuery extends ReadersReach {
  /** RFC 3339: claimed then or later. */
  from?: string;
  /** RFC 3339: claimed before then. */
  before?: string;
  /** The code or the name of the end user in the request. */
  endUser?: string;
  productCode?: ProductCode;
  /** model/run-key.ts. */
  runKey?: string;
  customerTraceNumber?: string;
  /** How many applicants it is about; an inquiry from before the ledger kept that never fits. */
  applicants?: number;
  outcome?: AuditOutcome;
  /** Sealed in the ledger: for this condition, every attempt with a record that meets the others is opened. */
  reportReferenceNumber?: string;
}

/** A person's decision in the ledger. */
export type AuditDecision = Pick<
  DecisionRecord,
  'decisionId' | 'action' | 'by' | 'reason' | 'providerSaid' | 'decidedAt' | 'provenBy'
>;

/** One attempt, with its inquiry. Nothing personal, and no report's reference. */
export interface AuditedAttempt extends InquiryDescription {
  attempt: number;
  /** The number under which it was sent, where that is not the inquiry's own. */
  sentTraceNumber?: string;
  /** How many the inquiry is about. */
  applicants?: number;
  /** By the database's clock, RFC 3339. */
  claimedAt: string;
  /** The instant just before the first byte, where it is known. */
  requestedAt?: string;
  outcome: AuditOutcome;
  /** Whether the consumer's file has an inquiry, as far as is known. */
  posted: Posted;
  /** For an answer that was understood. Any other code is unchecked text, and stays sealed with its answer. */
  returnCode?: string;
  /** The provider's, beside that code. */
  returnReasonCode?: string;
  /** Present for an answered or accepted inquiry, in the request's order. A share's answer names no applicants. */
  applicantOutcomes?: ApplicantOutcome[];
  /** The reference number of an answer without a record: no report's. Gone after a disposal. */
  noRecordReference?: string;
  /** How often its report, its changes or its refusal were read, and how many of these served the report again. */
  accesses?: { count: number; reissues: number; lastAt: string };
  httpStatus?: number;
  failureType?: FailureType;
  /** The decision that permitted it: a resend, or the amendment that led to its inquiry. */
  permittedBy?: AuditDecision;
  /** The latest decision about its outcome. */
  decision?: AuditDecision;
  /** The grants that permitted it: for SECONDUSE alone. */
  consents: { applicantId: string; consentId: string }[];
  /** An answer that came after a decision or a later attempt; never its outcome. */
  late?: { at: string; outcome?: AuditOutcome } & Pick<
    AuditedAttempt,
    'returnCode' | 'returnReasonCode' | 'applicantOutcomes' | 'noRecordReference'
  >;
  /** Belongs to the inquiry, as does `disposedAt`. */
  abandonedAt?: string;
  disposedAt?: string;
  /** Every hold in force that covers the inquiry. */
  legalHolds: LegalHold[];
}

export type Posted = 'yes' | 'no' | 'unknown';

interface PostingFacts {
  /** The present state: never `sending` past its time. */
  state: AttemptState;
  /** The gateway's answer says that the request was processed. It may have come late. */
  isAnswered: boolean;
  providerSaid?: DecisionRecord['providerSaid'];
  /** A person accepted a share as not posted, and no answer has come since. */
  isAcceptedAsNotPosted?: boolean;
}

/** States that mean that nothing was posted, as far as a refusal proves it (docs/protocol.md). */
const NOT_POSTED: readonly AttemptState[] = [
  ...NOT_POSTED_STATES,
  ...HELD_STATES.filter((state) => state !== 'unknown'),
];

/**
 * Whether an attempt was posted. The gateway's own answer comes first, then what the provider said to a person, then
 * the state. A share is posted by the code `Record` alone: any other code got its meaning from a person.
 */
export function isPosted({ state, isAnswered, providerSaid, isAcceptedAsNotPosted = false }: PostingFacts): Posted {
  if (isAcceptedAsNotPosted) return 'no';
  if (isAnswered || providerSaid === 'posted') return 'yes';
  if (providerSaid === 'notPosted' || NOT_POSTED.includes(state)) return 'no';
  return 'unknown';
}

/**
 * Whether a decision with this reason judges an attempt that was made. One about an unclaimed attempt, or about another
 * request under the same trace number, does not.
 */
export function judgesAttempts(failureType: FailureType | null): boolean {
  return failureType === null || FAILURES[failureType].state !== null;
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

/** Counts by product and end user, for comparison with an invoice. */
export class InquiryTotals {
  readonly #totals = new Map<string, InquiryTotal>();

  add({ productCode, endUserCode, endUser, outcome, posted }: AuditedAttempt): void {
    if ((outcome === 'notSent' || outcome === 'untrusted') && posted !== 'yes') return;
    const key = JSON.stringify([productCode, endUserCode, endUser]);
    const total = this.#totals.get(key) ?? {
      productCode,
      ...omitUndefined({ endUserCode, endUser }),
      ...{ sent: 0, posted: 0, notPosted: 0, unknown: 0 },
    };
    total.sent += 1;
    total[COUNTED_AS[posted]] += 1;
    this.#totals.set(key, total);
  }

  /** By product, then end user. */
  get list(): InquiryTotal[] {
    return [...this.#totals.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
  }
}

const COUNTED_AS = { yes: 'posted', no: 'notPosted', unknown: 'unknown' } as const;

// Shapes of the records for analysts: decisions, consents and disposals of people. Nothing personal, and no reference.

/**
 * Conditions, all of which a row must meet; without any, every row. Instants by the database's clock. A reader's reach
 * leaves out runs of which the ledger knows that they are another's.
 */
export interface RecordsQuery extends ReadersReach {
  /** RFC 3339: recorded then or later. */
  from?: string;
  /** RFC 3339: recorded before then. */
  before?: string;
  /** The owner (model/run-key.ts) of the inquiry, the consent or the disposal. */
  runKey?: string;
}

export interface DecisionsQuery extends RecordsQuery {
  customerTraceNumber?: string;
  /** The name of the person who decided, exactly as recorded. */
  by?: string;
}

/**
 * A person's decision, with its inquiry; `seen` takes late news off the list, and permits nothing. One about a run has no
 * inquiry: its `productCode` is the stage that it is about.
 */
export interface AuditedDecision
  extends Pick<InquiryDescription, 'runKey'>,
    Partial<Pick<InquiryDescription, 'customerTraceNumber' | 'productCode' | 'profile'>>,
    Pick<InquiryDescription, 'shareId' | 'endUserCode' | 'endUser'>,
    Pick<RunDecision, 'until'>,
    Pick<DecisionRecord, 'decisionId' | 'by' | 'reason' | 'provenBy'> {
  action: DecisionAction | 'seen' | RunDecision['action'];
  /** The attempt that it judges. */
  attempt?: number;
  providerSaid?: DecisionRecord['providerSaid'];
  /** Why the inquiry was on hold. */
  failureType?: FailureType;
  /** By the decider's clock. If a run took the decision, the time when the run received it. */
  decidedAt?: string;
  recordedAt: string;
}

/** One message of an applicant about one share, whether or not anything was posted under it. */
export interface AuditedConsent
  extends Pick<ConsentRecord, 'shareId' | 'applicantId' | 'consentId' | 'decision' | 'decidedAt'>,
    Pick<ConsentRecord, 'evidence' | 'receivedAt' | 'proof'> {
  runKey: string;
  endUserCode?: string;
  endUser?: string;
  recordedAt: string;
  /** The attempts that it permitted: 0 where nothing was sent under it. */
  permittedAttempts: number;
  /** The parts of the message that the ledger did not know at its last check. */
  unmatched?: Unmatched;
}

/** A share that was taken back before it was sent: who, when and why. */
export type AuditedShareWithdrawal = ShareWithdrawal & Pick<StandingShareWithdrawal, 'recordedAt'>;

/** A record that has the name that was asked for, and whose it is. */
export interface NamedRecord {
  what: 'inquiry' | 'share' | 'decision';
  runKey: string;
  customerTraceNumber?: string;
  shareId?: string;
}

/** A disposal or a legal hold: who, when and why. */
export type AuditedDisposal = RetentionEvent;

// The audit of shares: sharer, receiver, time and consents (shapes). Nothing personal, and no reference.

/** Conditions, all of which a share must meet; without any, every share. */
export interface SharesQuery extends ReadersReach {
  /** RFC 3339: claimed then or later. */
  from?: string;
  /** RFC 3339: claimed before then. */
  before?: string;
  /** On either side: the sharing or the receiving end user, by code or name. */
  endUser?: string;
  /** The shared report: its `reportReferenceNumber`, or the trace number of its inquiry. */
  report?: string;
  /** The owner (model/run-key.ts) of the report, or of the share. */
  runKey?: string;
}

/** The report, where the ledger knows it. */
export interface SharedReportView {
  customerTraceNumber: string;
  /** The run key of the report's inquiry. */
  runKey: string;
  productCode: AuditedAttempt['productCode'];
  endUserCode?: string;
}

/** The consents that it was posted under, as the ledger has them. */
export type ShareConsent = Pick<
  AuditedConsent,
  'runKey' | 'shareId' | 'applicantId' | 'consentId' | 'decidedAt' | 'evidence'
>;

export interface AuditedShare extends Omit<AuditedAttempt, 'consents'> {
  /** `null`: the caller gave the report in full, or the share is from before the ledger recorded reports of shares. */
  report: SharedReportView | null;
  /** The report's end user, from its inquiry or from the caller. */
  sharedBy?: string;
  consents: ShareConsent[];
}
