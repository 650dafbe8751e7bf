/** One schema for the events that platforms receive by webhooks. Open: a later version may add members. */
import { z } from 'zod';
import { messageFields } from '../../fields/fields.ts';
import { FAILURE_TYPES, HOLD_ACTIONS } from '../../model/failure-types.ts';
import { REPORT_CHANGED } from '../../model/inquiry.ts';
import { ENVIRONMENTS, PRODUCTS, PULL_PRODUCTS } from '../../model/products.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import {
  answeredFields,
  problemSchema,
  shareStatusSchema,
  ssnMismatchSchema,
  stageAttentionSchema,
  TERMINAL_STATES,
} from '../journey/result-schemas.ts';
import { SHARE_REPORT_OUTCOMES } from '../share/result-schemas.ts';

const { applicantId, customerTraceNumber, instant, journeyId, pullId, reviewId, shareId, stage } = messageFields();
const environment = z.enum(ENVIRONMENTS);
const OF_JOURNEY = { journeyId, environment };
const OF_PULL = { pullId, environment };
const OF_SHARE = { shareId, environment };
const OF_REVIEW = { reviewId, environment };

const attempt = z.int().min(0);
const inquiry = { customerTraceNumber, productCode: z.enum(PRODUCTS), shareId: shareId.exactOptional() };
const failureType = z.enum(FAILURE_TYPES);
const action = z.enum(HOLD_ACTIONS);
const answered = {
  outcome: z.enum(REPORT_OUTCOMES),
  customerTraceNumber: customerTraceNumber.exactOptional(),
  attempts: attempt,
  ...answeredFields,
  attention: ssnMismatchSchema,
};
const pullProduct = z.enum(PULL_PRODUCTS);

/** The end of a run: its outcome, `cancelled` or `failed`. */
function ended<const Outcomes extends readonly string[]>(outcomes: Outcomes) {
  return z.enum([...outcomes, ...TERMINAL_STATES]);
}

/**
 * Nothing personal, and no report reference: that is half of a SECONDUSE (interface 2.6). The number of an answer without
 * a record is none.
 */
const DATA = {
  'stage.answered': { stage, ...answered, attention: stageAttentionSchema },
  'stage.changed': {
    // Told after the stage's answer: the reports may be compared later.
    stage,
    customerTraceNumber: customerTraceNumber.exactOptional(),
    attention: z.literal(REPORT_CHANGED),
  },
  'stage.skipped': { stage },
  'gate.reached': { stage, until: instant.meta({ description: 'When the gate expires.' }) },
  'consent.missing': {
    shareId,
    waitingFor: z.array(applicantId).meta({ description: 'applicantId of those whose grant does not stand yet.' }),
    until: instant.meta({ description: 'When the share expires.' }),
  },
  'consent.refused': {
    // It came by signal, or its refusal came after its answer.
    consentId: z.string().exactOptional().meta({ description: 'Where the message has one that looks like an id.' }),
    reason: z.string().meta({ description: 'A path and a rule, never a value.' }),
  },
  'consent.unmatched': {
    shareId: shareId.meta({ description: 'Not requested yet, or misspelt: the consent is kept.' }),
    consentId: z.string(),
  },
  'wait.extended': {
    gate: stage.exactOptional().meta({ description: 'The stage behind the gate; or else shareId names the share.' }),
    shareId: shareId.exactOptional(),
    until: instant.meta({ description: 'When the wait ends by now.' }),
  },
  'inquiry.held': {
    ...inquiry,
    attempt,
    failureType,
    problems: z
      .array(problemSchema)
      .exactOptional()
      .meta({ description: 'With InvalidInput and UnexpectedResponse: paths and rules, never a value.' }),
    refusalKept: z.literal(true).exactOptional().meta({
      description: 'The gateway wrote something beside the status: the ledger keeps it, for readers of reports.',
    }),
    allowedActions: z.array(action),
  },
  'hold.resolved': {
    ...inquiry,
    attempt,
    failureType,
    action,
    overtaken: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The ledger has not taken the decision: what stood there already is gone on with.' }),
  },
  'share.posted': { shareId, customerTraceNumber: customerTraceNumber.exactOptional() },
  'share.revokedAfterPosting': {
    shareId: shareId.meta({ description: 'Its consent was denied or revoked after it was sent: a person must look.' }),
    customerTraceNumber: customerTraceNumber.exactOptional(),
  },
  'journey.ended': {
    outcome: ended(['completed', 'stopped', 'expired', 'withdrawn', 'abandoned']),
    shares: z
      .array(
        shareStatusSchema.pick({
          shareId: true,
          state: true,
          customerTraceNumber: true,
          attention: true,
        }),
      )
      .exactOptional()
      .meta({
        description: 'How each share stands at the end, where there are any; of a cancelled run one may be open.',
      }),
  },
  'pull.answered': { productCode: pullProduct, ...answered },
  'pull.ended': {
    productCode: pullProduct,
    outcome: ended(['record', 'noRecord', 'noReport', 'abandoned', 'withdrawn']),
  },
  'share.ended': {
    shareId,
    outcome: ended([...SHARE_REPORT_OUTCOMES, 'nothingToShare']).meta({
      description: 'nothingToShare: of a journey whose report is missing; cancelled, failed: of a share by itself.',
    }),
    customerTraceNumber: customerTraceNumber.exactOptional(),
    replacedBy: shareId.exactOptional().meta({ description: 'Of a withdrawn share: the share in its place.' }),
  },
  'portfolio.ended': { outcome: ended(['completed', 'withdrawn']) },
} satisfies Record<string, z.ZodRawShape>;

export type WebhookEventType = keyof typeof DATA;

export const WEBHOOK_EVENT_TYPES = Object.keys(DATA) as WebhookEventType[];

type DataOf = { [T in WebhookEventType]: z.output<z.ZodObject<(typeof DATA)[T]>> };

/** `data` of each type, without the members that all types have. */
export interface WebhookEventData extends DataOf {}

const timestamp = instant.meta({ description: 'When it happened.' });

function eventSchema<T extends WebhookEventType, Data extends z.ZodType>(type: T, data: Data) {
  return z.object({ type: z.literal(type), timestamp, data });
}

type Merged<Run, Data> = Run & Omit<Data, keyof Run>;

function dataOf<T extends WebhookEventType, Run extends z.ZodRawShape>(type: T, run: Run) {
  // The run is named first, as it is sent, and its id is required where the type itself has an optional shareId.
  return z.object({ ...run, ...DATA[type], ...run } as Merged<Run, (typeof DATA)[T]>);
}

/** The body of a webhook. Members that the schema does not know are left out. */
export const webhookEventSchema = z.discriminatedUnion('type', [
  eventSchema('stage.answered', dataOf('stage.answered', OF_JOURNEY)),
  eventSchema('stage.changed', dataOf('stage.changed', OF_JOURNEY)),
  eventSchema('stage.skipped', dataOf('stage.skipped', OF_JOURNEY)),
  eventSchema('gate.reached', dataOf('gate.reached', OF_JOURNEY)),
  eventSchema('consent.missing', z.union([dataOf('consent.missing', OF_JOURNEY), dataOf('consent.missing', OF_SHARE)])),
  eventSchema('consent.refused', z.union([dataOf('consent.refused', OF_JOURNEY), dataOf('consent.refused', OF_SHARE)])),
  eventSchema('consent.unmatched', dataOf('consent.unmatched', OF_JOURNEY)),
  eventSchema('wait.extended', z.union([dataOf('wait.extended', OF_JOURNEY), dataOf('wait.extended', OF_SHARE)])),
  eventSchema(
    'inquiry.held',
    z.union([
      dataOf('inquiry.held', OF_JOURNEY),
      dataOf('inquiry.held', OF_PULL),
      dataOf('inquiry.held', OF_SHARE),
      dataOf('inquiry.held', OF_REVIEW),
    ]),
  ),
  eventSchema(
    'hold.resolved',
    z.union([
      dataOf('hold.resolved', OF_JOURNEY),
      dataOf('hold.resolved', OF_PULL),
      dataOf('hold.resolved', OF_SHARE),
      dataOf('hold.resolved', OF_REVIEW),
    ]),
  ),
  eventSchema('share.posted', z.union([dataOf('share.posted', OF_JOURNEY), dataOf('share.posted', OF_SHARE)])),
  eventSchema(
    'share.revokedAfterPosting',
    z.union([dataOf('share.revokedAfterPosting', OF_JOURNEY), dataOf('share.revokedAfterPosting', OF_SHARE)]),
  ),
  eventSchema('journey.ended', dataOf('journey.ended', OF_JOURNEY)),
  eventSchema('pull.answered', dataOf('pull.answered', OF_PULL)),
  eventSchema('pull.ended', dataOf('pull.ended', OF_PULL)),
  eventSchema('share.ended', z.union([dataOf('share.ended', OF_JOURNEY), dataOf('share.ended', OF_SHARE)])),
  eventSchema('portfolio.ended', dataOf('portfolio.ended', OF_REVIEW)),
]);
