/**
 * The ledger's records as auditors and analysts read them: the one declaration of each. Nothing personal, and no report's
 * reference. Readers take from a row what the record names.
 */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { applicantOutcomeFields } from '../../messages/journey/shapes.ts';
import { FAILURE_TYPES, FAILURES, type FailureType } from '../../model/failure-types.ts';
import { type AttemptState, NOT_POSTED_STATES } from '../../model/inquiry.ts';
import { ENVIRONMENTS, PRODUCTS, type ProductCode } from '../../model/products.ts';
import { PROVIDER_SAID } from '../../model/provider-word.ts';
import { HELD_STATES } from '../claim.ts';
import { UNMATCHED } from '../consents/consents.ts';
import type { ReadersReach } from '../owners.ts';
import type { DecisionRecord } from '../records.ts';

export const text = z.string();
export const instant = z.string().meta({ format: 'date-time' });
export const count = z.int().min(0);
const endUser = { endUserCode: text.exactOptional(), endUser: text.exactOptional() };

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

const auditDecision = z
  .object({
    ...{ decisionId: text, action: text, by: text, reason: text, providerSaid: text, decidedAt: instant },
    provenBy: text.exactOptional().meta({ description: 'The id of the key that signed it.' }),
  })
  .meta({ id: 'auditedDecision' });

const answer = {
  returnCode: text.exactOptional(),
  returnReasonCode: text.exactOptional(),
  applicantOutcomes: z.array(z.object(applicantOutcomeFields)).exactOptional(),
  noRecordReference: text.exactOptional(),
};

export const legalHoldFields = {
  journeyId: text.meta({ description: 'The id that the hold was set on: a run, one row of a review, or a review.' }),
  ...{ matter: text, setAt: instant, by: text, reason: text },
};

/** One attempt with its inquiry. An answer's code that is in no table is unchecked text, and stays sealed with it. */
const attemptFields = {
  claimedAt: instant,
  requestedAt: instant.exactOptional(),
  runKey: text,
  workflowType: text,
  customerTraceNumber: text,
  attempt: z.int().min(1),
  environment: z.enum(ENVIRONMENTS),
  profile: text,
  customerId: text,
  productCode: z.enum(PRODUCTS),
  shareId: text.exactOptional(),
  ...endUser,
  permissiblePurposeCode: text.exactOptional(),
  outcome: z.enum(AUDIT_OUTCOMES),
  posted: z
    .enum(['yes', 'no', 'unknown'])
    .meta({ description: 'Whether the consumer’s file has an inquiry, as far as the ledger knows.' }),
  httpStatus: z.int().exactOptional(),
  failureType: z.enum(FAILURE_TYPES).exactOptional(),
  amends: text.exactOptional().meta({ description: 'The trace number that it amends.' }),
  permittedBy: auditDecision.exactOptional(),
  decision: auditDecision.exactOptional(),
  ...answer,
  applicants: z
    .int()
    .min(1)
    .exactOptional()
    .meta({ description: 'The number of applicants that the inquiry is about.' }),
  accesses: z.object({ count: z.int(), reissues: z.int(), lastAt: instant }).exactOptional(),
  late: z
    .object({ at: instant, outcome: z.enum(AUDIT_OUTCOMES).exactOptional(), ...answer })
    .exactOptional()
    .meta({ description: 'An answer that came after a decision or a later attempt.' }),
  abandonedAt: instant.exactOptional(),
  disposedAt: instant.exactOptional(),
  legalHolds: z
    .array(z.object(legalHoldFields))
    .meta({ description: 'Every hold in force that covers the inquiry. None of it can be disposed of until then.' }),
  ordinal: count.meta({ description: 'Counts amendments and deliberate repeats; 0 for the first.' }),
  sentTraceNumber: text
    .exactOptional()
    .meta({ description: 'The number under which it was sent, where that is not the inquiry’s own.' }),
};

export const auditedAttempt = z
  .object({ ...attemptFields, consents: z.array(z.object({ applicantId: text, consentId: text })) })
  .meta({ id: 'inquiryAttempt' });
export type AuditedAttempt = z.infer<typeof auditedAttempt>;
export type AuditDecision = z.infer<typeof auditDecision>;

const evidence = z.object({ method: text, textVersion: text, capturedAt: instant, reference: text }).exactOptional();
const consentDecision = z.enum(['granted', 'denied', 'revoked']);

const {
  claimedAt,
  requestedAt,
  posted,
  endUserCode,
  endUser: user,
  permissiblePurposeCode,
  runKey,
  ...others
} = attemptFields;

/** A share that was, or may have been, posted: sharer, receiver, time, and the consents as the ledger has them. */
export const auditedShare = z
  .object({
    ...{ claimedAt, requestedAt, posted },
    sharedBy: text.exactOptional(),
    ...{ endUserCode, endUser: user, permissiblePurposeCode, runKey },
    report: z
      .object({
        runKey: text,
        productCode: z.enum(PRODUCTS),
        customerTraceNumber: text,
        endUserCode: text.exactOptional(),
      })
      .nullable()
      .meta({ description: '`null`: the ledger does not know the report.' }),
    consents: z.array(
      z.object({ applicantId: text, consentId: text, decidedAt: instant, evidence, journeyId: text, shareId: text }),
    ),
    ...others,
  })
  .meta({ id: 'postedShare' });
export type AuditedShare = z.infer<typeof auditedShare>;

/** A person's decision with its inquiry. One about a run has no inquiry; `seen` permits nothing. */
export const auditedDecision = z
  .object({
    recordedAt: instant,
    decidedAt: instant.exactOptional(),
    ...{ decisionId: text, action: text, by: text, reason: text },
    providerSaid: z.enum(PROVIDER_SAID).exactOptional(),
    failureType: z.enum(FAILURE_TYPES).exactOptional().meta({ description: 'Why the inquiry was on hold.' }),
    runKey: text,
    customerTraceNumber: text.exactOptional(),
    attempt: z.int().exactOptional().meta({ description: 'The attempt that it judges.' }),
    productCode: z
      .enum(PRODUCTS)
      .exactOptional()
      .meta({ description: 'The product of the inquiry, or the stage of the run.' }),
    shareId: text.exactOptional(),
    ...endUser,
    profile: text.exactOptional(),
    provenBy: text.exactOptional().meta({ description: 'The id of the key that signed it.' }),
    until: instant.exactOptional().meta({ description: 'The new end of a wait.' }),
  })
  .meta({ id: 'recordedDecision' });
export type AuditedDecision = z.infer<typeof auditedDecision>;

/** One message of an applicant about one share, whether or not anything was posted under it. */
export const auditedConsent = z
  .object({
    ...{ recordedAt: instant, decidedAt: instant, receivedAt: instant },
    ...{ journeyId: text, shareId: text, applicantId: text, consentId: text, decision: consentDecision },
    ...endUser,
    evidence,
    hasProof: z.boolean(),
    permittedAttempts: count,
    unmatched: z.enum(UNMATCHED).exactOptional(),
    proof: text.exactOptional(),
  })
  .meta({ id: 'recordedConsent' });
export type AuditedConsent = z.infer<typeof auditedConsent>;

/** A disposal or a legal hold: who, when and why. */
export const auditedDisposal = z
  .object({
    recordedAt: instant,
    kind: z.enum(['disposalBegun', 'historyDeleted', 'disposed', 'legalHoldSet', 'legalHoldReleased']),
    runKey: text,
    productCode: z.enum(PRODUCTS).exactOptional(),
    ...{ by: text, reason: text },
    details: z.object({ inquiries: count, reports: count, runs: count }).exactOptional(),
    matter: text.exactOptional().meta({ description: 'The matter of a legal hold.' }),
    run: z
      .object({ workflowId: text, runId: text })
      .exactOptional()
      .meta({ description: 'The run whose history was deleted.' }),
  })
  .meta({ id: 'recordedDisposal' });
export type AuditedDisposal = z.infer<typeof auditedDisposal>;

/** A share that was taken back before it was sent: who, when and why. */
export const auditedWithdrawal = z
  .object({
    ...{ recordedAt: instant, runKey: text, shareId: text },
    replacedBy: text.exactOptional().meta({ description: 'The share that takes its place.' }),
    ...{ by: text, reason: text },
  })
  .meta({ id: 'withdrawnShare' });
export type AuditedShareWithdrawal = z.infer<typeof auditedWithdrawal>;

/** One reading of sealed content. */
export const auditedAccess = z
  .object({
    recordedAt: instant,
    kind: z.enum(['report', 'refusal', 'changes']),
    runKey: text,
    customerTraceNumber: text,
    attempt: z.int(),
    productCode: z.enum(PRODUCTS),
    ...endUser,
    by: text,
    via: z.enum(['ledger', 'api']),
    purpose: text.exactOptional().meta({ description: 'The purpose for which it was served again to its end user.' }),
    redacted: z.boolean(),
    accessId: text,
  })
  .meta({ id: 'recordedAccess' });
export type AuditedAccess = z.infer<typeof auditedAccess>;

/** A record that has the name that was asked for, and whose it is. */
export interface NamedRecord {
  what: 'inquiry' | 'share' | 'decision';
  runKey: string;
  customerTraceNumber?: string;
  shareId?: string;
}

/**
 * Conditions, all of which a record must meet; without any, every record. The period is of its claim or of its recording,
 * by the database's clock. A reader's reach leaves out runs of which the ledger knows that they are another's.
 */
export interface RecordsQuery extends ReadersReach {
  /** RFC 3339: then or later. */
  from?: string;
  /** RFC 3339: before then. */
  before?: string;
  /** The owner (model/run-key.ts); of a share also that of its report. */
  runKey?: string;
  customerTraceNumber?: string;
  /** The person, exactly as recorded. */
  by?: string;
}

export interface InquiriesQuery extends Omit<RecordsQuery, 'by'> {
  /** The code or the name of the end user in the request. */
  endUser?: string;
  productCode?: ProductCode;
  /** How many applicants it is about; an inquiry from before the ledger kept that never fits. */
  applicants?: number;
  outcome?: AuditOutcome;
  /** Sealed in the ledger: for this condition, every attempt with a record that meets the others is opened. */
  reportReferenceNumber?: string;
}

export interface SharesQuery extends Omit<RecordsQuery, 'by' | 'customerTraceNumber'> {
  /** On either side: the sharing or the receiving end user, by code or name. */
  endUser?: string;
  /** The shared report: its `reportReferenceNumber`, or the trace number of its inquiry. */
  report?: string;
}

export type Posted = AuditedAttempt['posted'];

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

export const inquiryTotal = z
  .object({
    productCode: z.enum(PRODUCTS),
    ...endUser,
    sent: count.meta({ description: 'Attempts that were sent, at least in part: the sum of the other three.' }),
    ...{ posted: count, notPosted: count, unknown: count },
  })
  .meta({ id: 'inquiryTotal' });
type InquiryTotal = z.infer<typeof inquiryTotal>;

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
