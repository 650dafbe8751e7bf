/** One schema for the events that platforms receive by webhooks. Open: a later version may add members. */
import { z } from 'zod';
import { getMessageFields } from '../../fields/fields.ts';
import { FAILURE_TYPES, HOLD_ACTIONS } from '../../model/failure-types.ts';
import { REPORT_CHANGED } from '../../model/inquiry.ts';
import { ENVIRONMENTS, type Environment, PRODUCTS, PULL_PRODUCTS } from '../../model/products.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import {
  answeredFields,
  holdStatusSchema,
  journeyResultSchema,
  SHARE_OUTCOMES,
  shareStatusSchema,
  ssnMismatchSchema,
  stageAttentionSchema,
  TERMINAL_STATES,
} from '../journey/shapes.ts';
import { portfolioResultSchema } from '../portfolio/shapes.ts';
import { pullResultSchema } from '../pull/shapes.ts';

const { applicantId, customerTraceNumber, instant, journeyId, pullId, reviewId, shareId, stage } = getMessageFields();
const environment = z.enum(ENVIRONMENTS);
/** The run that an event concerns, by its caller's own id. */
const RUNS = { journey: { journeyId }, pull: { pullId }, share: { shareId }, review: { reviewId } };

const attempt = z.int().min(0);
const inquiry = { customerTraceNumber, productCode: z.enum(PRODUCTS), shareId: shareId.optional() };
const failureType = z.enum(FAILURE_TYPES);
const { problems, refusalKept, allowedActions } = holdStatusSchema.shape;
const answered = {
  outcome: z.enum(REPORT_OUTCOMES),
  customerTraceNumber: customerTraceNumber.optional(),
  attempts: attempt,
  ...answeredFields,
  attention: ssnMismatchSchema,
};
const pullProduct = z.enum(PULL_PRODUCTS);

function endSchema<const Outcomes extends readonly string[]>(outcomes: Outcomes) {
  return z.enum([...outcomes, ...TERMINAL_STATES]);
}

/** @param runs the kinds of runs that have the event. `share` is a share by itself: a journey's shares name the journey */
function event<const Runs extends readonly (keyof typeof RUNS)[], Data extends z.ZodRawShape>(runs: Runs, data: Data) {
  return { runs, data };
}

/**
 * The content of each event. It has nothing personal, and no report reference: that is half of a SECONDUSE (interface
 * 2.6). The number of an answer without a record is not a report reference.
 */
const EVENTS = {
  'stage.answered': event(['journey'], { stage, ...answered, attention: stageAttentionSchema }),
  'stage.changed': event(['journey'], {
    // Sent after `stage.answered`, since the worker may compare the reports later.
    stage,
    customerTraceNumber: customerTraceNumber.optional(),
    attention: z.literal(REPORT_CHANGED),
  }),
  'stage.skipped': event(['journey'], { stage }),
  'gate.reached': event(['journey'], { stage, until: instant.describe('When the gate expires.') }),
  'consent.missing': event(['journey', 'share'], {
    shareId,
    waitingFor: z.array(applicantId).describe('The applicantId of each applicant without a valid grant.'),
    until: instant.describe('When the share expires.'),
  }),
  'consent.refused': event(['journey', 'share'], {
    // It came by signal, or its refusal came after its answer.
    consentId: z.string().optional().describe('The consentId of the message, if it has the form of an id.'),
    reason: z.string().describe('A path and a rule, never a value.'),
  }),
  'consent.unmatched': event(['journey'], {
    shareId: shareId.describe('A share that was not requested yet, or a misspelt id. The ledger keeps the consent.'),
    consentId: z.string(),
  }),
  'wait.extended': event(['journey', 'share'], {
    gate: stage.optional().describe('The stage behind the gate; or else shareId names the share.'),
    shareId: shareId.optional(),
    until: instant.describe('The new end of the wait.'),
  }),
  'inquiry.held': event(['journey', 'pull', 'share', 'review'], {
    ...inquiry,
    attempt,
    failureType,
    problems,
    refusalKept,
    allowedActions,
  }),
  'hold.resolved': event(['journey', 'pull', 'share', 'review'], {
    ...inquiry,
    attempt,
    failureType,
    action: z.enum(HOLD_ACTIONS),
    overtaken: z
      .literal(true)
      .optional()
      .describe(
        'true: the ledger refused the decision, because an answer or another decision came first. The run continues with that.',
      ),
  }),
  'share.posted': event(['journey', 'share'], { shareId, customerTraceNumber: customerTraceNumber.optional() }),
  'share.revokedAfterPosting': event(['journey', 'share'], {
    shareId: shareId.describe('A share whose consent was denied or revoked after it was sent: an operator must look.'),
    customerTraceNumber: customerTraceNumber.optional(),
  }),
  'journey.ended': event(['journey'], {
    outcome: endSchema(journeyResultSchema.shape.outcome.options),
    shares: z
      .array(shareStatusSchema.pick({ shareId: true, state: true, customerTraceNumber: true, attention: true }))
      .optional()
      .describe('The state of each share at the end. A cancelled run may have an open share.'),
  }),
  'pull.answered': event(['pull'], { productCode: pullProduct, ...answered }),
  'pull.ended': event(['pull'], {
    productCode: pullProduct,
    outcome: endSchema(pullResultSchema.shape.outcome.options),
  }),
  'share.ended': event(['journey', 'share'], {
    shareId,
    outcome: endSchema([...SHARE_OUTCOMES, 'nothingToShare']).describe(
      'nothingToShare: only for a journey whose report is missing. cancelled, failed: only for a share by itself.',
    ),
    customerTraceNumber: customerTraceNumber.optional(),
  }),
  'portfolio.ended': event(['review'], { outcome: endSchema(portfolioResultSchema.shape.outcome.options) }),
};

export type WebhookEventType = keyof typeof EVENTS;

export const WEBHOOK_EVENT_TYPES = Object.keys(EVENTS) as WebhookEventType[];

type DataOf = { [T in WebhookEventType]: z.output<z.ZodObject<(typeof EVENTS)[T]['data']>> };

/** `data` of each type, without the members that all types have. */
export interface WebhookEventData extends DataOf {}

type RunIds = { [Kind in keyof typeof RUNS]: z.output<z.ZodObject<(typeof RUNS)[Kind]>> };

export type WebhookRun = RunIds[keyof RunIds];

export type WebhookSubject<T extends WebhookEventType = WebhookEventType> =
  RunIds[(typeof EVENTS)[T]['runs'][number]] & {
    environment: Environment;
  };

export type WebhookBodies = {
  [T in WebhookEventType]: {
    type: T;
    /** RFC 3339: when it happened, not when it was sent. */
    timestamp: string;
    data: WebhookSubject<T> & WebhookEventData[T];
  };
};

/** An event as its receiver has it, `ping` of `credit-journey webhooks test` among them. Later versions may add types. */
export type ReceivedEvent =
  | WebhookBodies[WebhookEventType]
  | { type: 'ping'; timestamp: string; data: { environment: Environment } };

const timestamp = instant.describe('When it happened.');

function createEventSchema(type: WebhookEventType) {
  const { runs, data: shape } = EVENTS[type];
  const forms = runs.map((kind) => {
    const run = { ...RUNS[kind], environment };
    // Twice: first for the order of members, last because the run's id is required where the data has an optional shareId.
    return z.object({ ...run, ...(shape as z.ZodRawShape), ...run });
  });
  const data: z.ZodType = forms.length === 1 ? (forms[0] as z.ZodType) : z.union(forms);
  return z.object({ type: z.literal(type), timestamp, data });
}

const schemas = WEBHOOK_EVENT_TYPES.map(createEventSchema) as [ReturnType<typeof createEventSchema>];

/** The body of a webhook. Members that the schema does not know are left out. */
export const webhookEventSchema = z.discriminatedUnion('type', schemas) as z.ZodType as z.ZodType<
  WebhookBodies[WebhookEventType]
>;
