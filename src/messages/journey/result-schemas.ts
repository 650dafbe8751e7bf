/**
 * One zod schema for each answer of a run: the types of shapes.ts again, for the published JSON Schemas
 * (docs/integrating.md). Open: a later version may add members.
 */
import { z } from 'zod';
import { FAILURE_TYPES, HOLD_ACTIONS } from '../../model/failure-types.ts';
import { ENVIRONMENTS, PRODUCTS, STAGES } from '../../model/products.ts';
import { COMPARISON_GAPS } from './change-summary.ts';
import type { TerminalState } from './shapes.ts';

const instant = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);
const stage = z.enum(STAGES);
const environment = z.enum(ENVIRONMENTS);

export const reportReferenceSchema = z
  .object({
    reportReferenceNumber: z.string(),
    requestedAt: instant.meta({ description: 'The instant just before the first byte of the request.' }),
    applicants: z.array(
      z.object({ applicantId: z.string(), consumerId: z.string().meta({ description: 'Personal.' }) }),
    ),
  })
  .meta({ id: 'reportReference', description: 'To be stored for later secondary use.' });

const stageState = z.enum([
  'pending',
  'running',
  'held',
  'record',
  'noRecord',
  'noReport',
  'expired',
  'skipped',
  'abandoned',
]);

const figure = z.string().meta({ description: 'A decimal string.' });
const sums = z.object({ balance: figure, creditLimit: figure });
const beforeAndAfter = z.object({ earlier: figure, later: figure });

/** One `z.object` for each form, since both are open. */
export const stageChangesSchema = z
  .union([
    z.object({
      comparedWith: stage,
      counts: z.object({
        applicantsCompared: count,
        applicantsJoined: count,
        applicantsLeft: count,
        newAccounts: count,
        vanishedAccounts: count,
        closedAccounts: count,
        reopenedAccounts: count,
        statusChanges: count,
        balanceMoves: count,
        creditLimitMoves: count,
        newNames: count,
        vanishedNames: count,
        newAddresses: count,
        vanishedAddresses: count,
        unreadable: count,
      }),
      totals: z.object({
        balance: beforeAndAfter,
        creditLimit: beforeAndAfter,
        newAccounts: sums,
        vanishedAccounts: sums,
      }),
    }),
    z.object({ comparedWith: stage, unavailable: z.enum(COMPARISON_GAPS) }),
  ])
  .meta({ id: 'stageChanges', description: 'What changed since the report before (docs/changes.md).' });

export const stageStatusSchema = z
  .object({
    productCode: stage,
    occurrence: z.int().min(2).exactOptional().meta({ description: 'A repeat: after the pull that it repeats.' }),
    state: stageState,
    attempts: count,
    customerTraceNumber: z.string().exactOptional(),
    reportReferenceNumber: z.string().exactOptional(),
    changes: stageChangesSchema.exactOptional(),
  })
  .meta({ id: 'stageStatus' });

export const shareStatusSchema = z
  .object({
    shareId: z.string(),
    state: z.enum([
      'awaitingConsent',
      'posting',
      'held',
      'posted',
      'notPosted',
      'denied',
      'expired',
      'revoked',
      'nothingToShare',
      'reportGone',
      'abandoned',
    ]),
    waitingFor: z.array(z.string()).meta({ description: 'applicantId of those whose grant does not stand yet.' }),
    customerTraceNumber: z.string().exactOptional(),
    reportReferenceNumber: z.string().exactOptional(),
    attention: z.literal('revokedAfterPosting').exactOptional(),
  })
  .meta({ id: 'shareStatus' });

export const holdStatusSchema = z
  .object({
    customerTraceNumber: z.string(),
    productCode: z.enum(PRODUCTS),
    shareId: z.string().exactOptional(),
    failureType: z.enum(FAILURE_TYPES),
    since: instant,
    attempts: count.meta({ description: 'The attempt that a decision judges.' }),
    httpStatus: z.int().exactOptional(),
    returnCode: z.string().exactOptional(),
    otherTraceNumber: z.string().exactOptional().meta({
      description: 'With AnotherNumber: the number that the ledger has this inquiry under, for another customer.',
    }),
    resendFrom: instant.exactOptional().meta({
      description: 'With OutcomeUnknown: the first request may still arrive until then, and no resend is taken.',
    }),
    allowedActions: z.array(z.enum(HOLD_ACTIONS)),
    refusedDecision: z
      .object({ decisionId: z.string(), reason: z.string(), at: instant })
      .meta({ description: 'The latest decision that the ledger has refused, and why: it still waits for one.' })
      .exactOptional(),
  })
  .meta({ id: 'holdStatus' });

export const refusedMessageSchema = z
  .object({ message: z.string(), at: instant, reason: z.string(), consentId: z.string().exactOptional() })
  .meta({ id: 'refusedMessage' });

/** How a run ended that has no result, as its status shows it. */
export const TERMINAL_STATES = ['cancelled', 'failed'] as const satisfies TerminalState[];

const OUTCOMES = ['completed', 'stopped', 'expired', 'withdrawn', 'abandoned'] as const;

export const journeyStatusSchema = z
  .object({
    journeyId: z.string(),
    environment: environment.nullable(),
    state: z.enum(['running', 'waitingAtGate', 'waitingForConsent', 'held', ...OUTCOMES, ...TERMINAL_STATES]),
    waitingFor: z.string().exactOptional(),
    reportTooOld: stage
      .exactOptional()
      .meta({ description: 'At a gate: the stage whose report is older than maxReportAge.' }),
    stages: z.array(stageStatusSchema),
    shares: z.array(shareStatusSchema),
    holds: z.array(holdStatusSchema),
    earlyConsents: z
      .object({ count, shareIds: z.array(z.string()).meta({ description: 'The first 20.' }) })
      .exactOptional()
      .meta({
        description:
          'Consents to shares that have not been requested yet. They are kept; a misspelt shareId shows here.',
      }),
    refusedMessages: z.array(refusedMessageSchema).meta({ description: 'The last 50.' }),
    refusedMessagesTotal: count,
  })
  .meta({ id: 'journeyStatus' });

export const stageResultSchema = z
  .object({ ...stageStatusSchema.shape, reference: reportReferenceSchema.exactOptional() })
  .meta({ id: 'stageResult' });

export const journeyResultSchema = z.object({
  journeyId: z.string(),
  environment,
  outcome: z.enum(OUTCOMES),
  stages: z.array(stageResultSchema),
  shares: z.array(shareStatusSchema),
});

export const journeyReferencesSchema = z.object({
  journeyId: z.string(),
  references: z.array(
    z.object({
      productCode: stage,
      occurrence: z.int().min(2).exactOptional(),
      reference: reportReferenceSchema,
    }),
  ),
  shares: z.array(z.object({ shareId: z.string(), reportReferenceNumber: z.string() })),
});

/** What the answer to every update has, for every kind of run. */
export const acceptedSchema = z.object({
  accepted: z.literal(true),
  duplicate: z.boolean().meta({ description: 'This message, or one that says the same, was accepted before.' }),
  recorded: z
    .boolean()
    .exactOptional()
    .meta({
      description:
        'Answer to a consent or a decision: whether the ledger has it; of a decision only where it has not. false: the ledger ' +
        'could not be reached within 5 s. The run keeps the message and goes on writing; send it again under a new update id to ask. ' +
        'After LedgerChanged: no ledger has it, and none will.',
    }),
});

/** The further members in the answers of runs that receive consents. */
export const consentAnswerFields = {
  unmatched: z.literal('share').exactOptional().meta({
    description:
      'Answer to a consent only: its share has not been requested yet. The consent is kept, and listed by holds.',
  }),
};

export const updateAnswerSchema = z.object({
  ...acceptedSchema.shape,
  status: journeyStatusSchema,
  ...consentAnswerFields,
});

export const lateConsentResultSchema = z.object({
  duplicate: z.boolean().meta({ description: 'The ledger had the same consent before.' }),
  postedSharesFlagged: count.meta({
    description: 'Posted shares that the message concerns, now flagged for a person.',
  }),
  unmatched: z.enum(['journey', 'share', 'applicant']).exactOptional().meta({
    description:
      'What of the message the ledger does not know. It is kept for a start that may follow, and listed for a person.',
  }),
});

/** `details[0]` of a failure with type `InvalidInput`. */
export const invalidInputSchema = z.object({
  problems: z.array(
    z.object({ path: z.string().meta({ description: 'A JSON pointer; empty for the whole.' }), rule: z.string() }),
  ),
});

/** `details[0]` of an update that fails with type `UpdateRefused`. */
export const updateRefusedSchema = z.object({ reason: z.string() });
