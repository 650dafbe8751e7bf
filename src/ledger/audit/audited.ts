/**
 * The records for auditors: inquiries, decisions, consents, shares, readings and disposals, with the conditions that a reader
 * may set. The HTTP API and the command line print them from these schemas. Nothing personal, and no report's reference.
 */
import { z } from 'zod';
import { getMessageFields } from '../../fields/fields.ts';
import {
  applicantOutcomeFields,
  count,
  instant,
  optionalText,
  standsSchema,
  UNMATCHED,
} from '../../messages/journey/shapes.ts';
import { FAILURE_TYPES, FAILURES, type FailureType } from '../../model/failure-types.ts';
import { ATTEMPT_STATES } from '../../model/inquiry.ts';
import { ENVIRONMENTS, PRODUCTS } from '../../model/products.ts';
import { PROVIDER_SAID } from '../../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import { checkRunKey } from '../../model/run-key.ts';
import type { ReadersReach } from '../owners.ts';

const text = z.string();

/** An instant in a query. */
export const instantText = getMessageFields().instant;

/** The conditions of every listing by time. All conditions are text, since they come from a query or a command line. */
const periodAndRun = {
  from: instantText.optional().describe('Only rows recorded at this instant or later, RFC 3339.'),
  before: instantText.optional().describe('Only rows recorded before this instant, RFC 3339.'),
  runKey: z
    .string()
    .refine((id) => checkRunKey(id) === null, 'must be a run’s name as lists show it: a journeyId, pull:<pullId>')
    .optional()
    .describe('Only rows of this run: a journey’s id, pull:<pullId>, share:<shareId> or a row of a review.'),
};
const customerTraceNumber = z.string().max(40).optional().describe('Only rows of this inquiry.');
const endUserFields = { endUserCode: optionalText, endUser: optionalText };
const authorizationFields = { by: text, reason: text };
const namedBy = z.string().max(200).optional();

/**
 * The outcome of an attempt, whether the gateway or a person gave it; otherwise why there is none. `unknown` also
 * covers an overdue answer.
 */
const auditOutcome = z
  .enum([...REPORT_OUTCOMES, 'unexpectedResponse', 'returnCodeUnknown', ...ATTEMPT_STATES])
  .exclude(['answered', 'accepted', 'abandoned']);
export type AuditOutcome = z.infer<typeof auditOutcome>;

const auditDecision = z
  .object({
    decisionId: text,
    action: text,
    ...authorizationFields,
    providerSaid: z.enum(PROVIDER_SAID),
    decidedAt: instant,
    provenBy: optionalText.meta({ description: 'The id of the key that signed it.' }),
  })
  .meta({ id: 'auditedDecision' });

const answer = {
  // Only codes of an answer that was understood. Any other code is unchecked text, and stays sealed with its answer.
  returnCode: optionalText,
  returnReasonCode: optionalText,
  // In the request's order. A share's answer names no applicants.
  applicantOutcomes: z.array(z.object(applicantOutcomeFields)).optional(),
  // Gone after a disposal.
  noRecordReference: optionalText,
};

export const legalHoldFields = {
  runKey: text.meta({ description: 'The id that the hold was set on: a run, one row of a review, or a review.' }),
  matter: text,
  setAt: instant,
  ...authorizationFields,
};

/** The members of each attempt, except the consents. */
const attemptFields = {
  claimedAt: instant,
  // The instant just before the first byte, where it is known.
  requestedAt: instant.optional(),
  runKey: text,
  workflowType: text,
  customerTraceNumber: text,
  attempt: z.int().min(1),
  environment: z.enum(ENVIRONMENTS),
  profile: text,
  customerId: text,
  productCode: z.enum(PRODUCTS),
  shareId: optionalText,
  ...endUserFields,
  permissiblePurposeCode: optionalText,
  outcome: auditOutcome,
  posted: z
    .enum(['yes', 'no', 'unknown'])
    .meta({ description: 'Whether the consumer’s file has an inquiry, as far as the ledger knows.' }),
  httpStatus: z.int().optional(),
  failureType: z.enum(FAILURE_TYPES).optional(),
  amends: optionalText.meta({ description: 'The trace number that it amends.' }),
  // A resend, or the amendment that led to its inquiry.
  permittedBy: auditDecision.optional(),
  // The latest decision about its outcome.
  decision: auditDecision.optional(),
  ...answer,
  applicants: z.int().min(1).optional().meta({ description: 'The number of applicants that the inquiry is about.' }),
  late: z
    .object({ at: instant, outcome: auditOutcome.optional(), ...answer })
    .optional()
    .meta({ description: 'An answer that came after a decision or a later attempt.' }),
  abandonedAt: instant.optional(),
  disposedAt: instant.optional(),
  legalHolds: z.array(z.object(legalHoldFields)).meta({
    description:
      'Every hold in force that covers the inquiry. The inquiry cannot be disposed of until all of them are released.',
  }),
  ordinal: count.meta({ description: 'Counts amendments and deliberate repeats; 0 for the first.' }),
  sentTraceNumber: optionalText.meta({
    description: 'The number under which it was sent, where that is not the inquiry’s own.',
  }),
};

const inquiryTotal = z
  .object({
    productCode: z.enum(PRODUCTS),
    ...endUserFields,
    sent: count.meta({ description: 'Attempts that were sent, at least in part: the sum of the other three.' }),
    posted: count,
    notPosted: count,
    unknown: count,
  })
  .meta({ id: 'inquiryTotal' });

const evidence = z.object({ method: text, textVersion: text, capturedAt: instant, reference: text }).optional();
const consentName = { runKey: text, shareId: text, applicantId: text, consentId: text };
const consentDecision = z.enum(['granted', 'denied', 'revoked']);

const { claimedAt, requestedAt, posted, endUserCode, endUser, permissiblePurposeCode, runKey, ...others } =
  attemptFields;

/** The conditions and the rows of each listing. The members of a row are the columns of CSV, in their order. */
export const RECORDS = {
  inquiries: {
    input: z.strictObject({
      ...periodAndRun,
      customerTraceNumber,
      applicants: z
        .string()
        .regex(/^[1-9]\d?$/, 'must be a whole number from 1 to 99')
        .optional()
        .describe('Only inquiries about this many applicants.'),
      endUser: namedBy.describe('Only for this end user, by code or name.'),
      productCode: z.enum(PRODUCTS).optional().describe('Only of this product.'),
      outcome: auditOutcome.optional().describe('Only attempts with this outcome.'),
      reportReferenceNumber: z.string().max(100).optional().describe('Only the inquiry that brought this report.'),
    }),
    output: z
      .object({ ...attemptFields, consents: z.array(z.object({ applicantId: text, consentId: text })) })
      .meta({ id: 'inquiryAttempt' }),
    total: inquiryTotal,
  },
  /** A decision about a run has no inquiry. Its `productCode` is the stage that it concerns. */
  decisions: {
    input: z.strictObject({
      ...periodAndRun,
      customerTraceNumber,
      by: namedBy.describe('Only decisions by this person, as written in the decision.'),
    }),
    output: z
      .object({
        recordedAt: instant,
        // The clock of the decision's author. If a run took the decision, the time when the run received it.
        decidedAt: instant.optional(),
        decisionId: text,
        action: text,
        ...authorizationFields,
        providerSaid: z.enum(PROVIDER_SAID).optional(),
        failureType: z.enum(FAILURE_TYPES).optional().meta({ description: 'Why the inquiry was on hold.' }),
        runKey: text,
        customerTraceNumber: optionalText,
        attempt: z.int().optional().meta({ description: 'The attempt that it judges.' }),
        productCode: z
          .enum(PRODUCTS)
          .optional()
          .meta({ description: 'The product of the inquiry, or the stage of the run.' }),
        shareId: optionalText,
        ...endUserFields,
        profile: optionalText,
        provenBy: optionalText.meta({ description: 'The id of the key that signed it.' }),
        until: instant.optional().meta({ description: 'The new end of a wait.' }),
      })
      .meta({ id: 'recordedDecision' }),
  },
  /** All consents and denials of applicants about shares, posted or not. */
  consents: {
    input: z.strictObject({
      ...periodAndRun,
      proofs: z.enum(['true']).optional().describe('With the proofs (compact JWS) that consent systems have signed.'),
    }),
    output: z
      .object({
        recordedAt: instant,
        decidedAt: instant,
        receivedAt: instant,
        ...consentName,
        decision: consentDecision,
        ...endUserFields,
        evidence,
        hasProof: z.boolean(),
        permittedAttempts: count,
        unmatched: z.enum(UNMATCHED).optional(),
        seenAt: instant.optional().meta({ description: 'When an operator took it, unmatched, off the list.' }),
        seenBy: optionalText,
        seenReason: optionalText,
        stands: standsSchema.omit({ changed: true }),
        proof: optionalText,
      })
      .meta({ id: 'recordedConsent' }),
  },
  unmatchedConsents: {
    input: z.strictObject({}),
    output: z
      .object({
        since: instant,
        ...consentName,
        runKey: text.meta({ description: 'The id in the consent: a journeyId, or share:<shareId>.' }),
        decision: consentDecision,
        unmatched: z.enum(UNMATCHED).meta({ description: 'What the ledger does not know yet.' }),
      })
      .meta({ id: 'unmatchedConsent' }),
  },
  shares: {
    input: z.strictObject({
      ...periodAndRun,
      report: z
        .string()
        .max(100)
        .optional()
        .describe('Only of this report: its reference, or the trace number of its inquiry.'),
      endUser: namedBy.describe('Only shared by or with this end user, by code or name.'),
    }),
    output: z
      .object({
        claimedAt,
        requestedAt,
        posted,
        // The report's end user, from its inquiry or from the caller.
        sharedBy: optionalText,
        endUserCode,
        endUser,
        permissiblePurposeCode,
        runKey,
        report: z
          .object({
            runKey: text,
            productCode: z.enum(PRODUCTS),
            customerTraceNumber: text,
            endUserCode: optionalText,
          })
          .optional()
          .describe('Absent if the ledger does not know the report.'),
        consents: z.array(z.object({ ...consentName, decidedAt: instant, evidence })),
        ...others,
      })
      .meta({ id: 'postedShare' }),
  },
  accesses: {
    input: z.strictObject({
      ...periodAndRun,
      customerTraceNumber,
      by: namedBy.describe('Only readings by this person.'),
    }),
    output: z
      .object({
        recordedAt: instant,
        kind: z.enum(['report', 'refusal', 'changes']),
        runKey: text,
        customerTraceNumber: text,
        attempt: z.int(),
        productCode: z.enum(PRODUCTS),
        ...endUserFields,
        by: text,
        via: z.enum(['ledger', 'api']),
        purpose: optionalText.meta({ description: 'The purpose for which it was served again to its end user.' }),
        redacted: z.boolean(),
        accessId: text,
      })
      .meta({ id: 'recordedAccess' }),
  },
  disposals: {
    input: z.strictObject(periodAndRun),
    output: z
      .object({
        recordedAt: instant,
        kind: z.enum(['disposalBegun', 'historyDeleted', 'disposed', 'legalHoldSet', 'legalHoldReleased']),
        runKey: text,
        ...authorizationFields,
        details: z.object({ inquiries: count, reports: count, runs: count }).optional(),
        matter: optionalText.meta({ description: 'The matter of a legal hold.' }),
        run: z
          .object({ workflowId: text, runId: text })
          .optional()
          .meta({ description: 'The run whose history was deleted.' }),
      })
      .meta({ id: 'recordedDisposal' }),
  },
};

type Records = typeof RECORDS;
type Row<Name extends keyof Records> = z.infer<Records[Name]['output']>;
/** A reader's reach leaves out runs of which the ledger knows that they are another's. */
type Query<Name extends keyof Records> = z.infer<Records[Name]['input']> & ReadersReach;

export type AuditDecision = z.infer<typeof auditDecision>;
export type AuditedAttempt = Row<'inquiries'>;
export type AuditedDecision = Row<'decisions'>;
export type ListedConsent = Row<'consents'>;
export type AuditedShare = Row<'shares'>;
export type AuditedDisposal = Row<'disposals'>;
export type UnmatchedConsent = Row<'unmatchedConsents'>;
export type Posted = AuditedAttempt['posted'];

export type InquiriesQuery = Query<'inquiries'>;
export type SharesQuery = Query<'shares'>;
export type AccessesQuery = Query<'accesses'>;

/** A record with the requested name, and the run that owns it. */
export interface NamedRecord {
  what: 'inquiry' | 'share' | 'decision';
  runKey: string;
  customerTraceNumber?: string;
  shareId?: string;
}

/**
 * Whether a decision with this reason judges an attempt that was made. One about an unclaimed attempt, or about another
 * request under the same trace number, does not.
 */
export function judgesAttempts(failureType: FailureType | undefined): boolean {
  return failureType === undefined || FAILURES[failureType].state !== null;
}

type InquiryTotal = z.infer<typeof inquiryTotal>;

/** Counts by product and end user, for comparison with an invoice. */
export class InquiryTotals {
  readonly #totals = new Map<string, InquiryTotal>();

  add({ productCode, endUserCode, endUser, outcome, posted }: AuditedAttempt): void {
    if ((outcome === 'notSent' || outcome === 'untrusted') && posted !== 'yes') return;
    const key = JSON.stringify([productCode, endUserCode, endUser]);
    const none = { sent: 0, posted: 0, notPosted: 0, unknown: 0 };
    const total = this.#totals.get(key) ?? { productCode, endUserCode, endUser, ...none };
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
