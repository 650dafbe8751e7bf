/** One schema for the events that platforms are told by webhooks. Open: a later version may add members. */
import { z } from 'zod';
import { FAILURE_TYPES, HOLD_ACTIONS } from '../model/failure-types.ts';
import { ENVIRONMENTS, PRODUCTS } from '../model/products.ts';
import type { WebhookEventType } from '../model/webhook-events.ts';
import { applicantId, customerTraceNumber, instant, journeyId, shareId, stage } from './fields.ts';

const subject = { journeyId, environment: z.enum(ENVIRONMENTS) };
const attempt = z.int().min(0);
const inquiry = { customerTraceNumber, productCode: z.enum(PRODUCTS), shareId: shareId.exactOptional() };
const failureType = z.enum(FAILURE_TYPES);
const action = z.enum(HOLD_ACTIONS);

const DATA = {
  'stage.answered': {
    stage,
    outcome: z.enum(['record', 'noRecord', 'noReport']),
    customerTraceNumber: customerTraceNumber.exactOptional(),
    attempts: attempt,
  },
  'gate.reached': { stage, until: instant.meta({ description: 'When the gate expires.' }) },
  'consent.missing': {
    shareId,
    waitingFor: z.array(applicantId).meta({ description: 'applicantId of those whose grant does not stand yet.' }),
    until: instant.meta({ description: 'When the share expires.' }),
  },
  'inquiry.held': { ...inquiry, attempt, failureType, allowedActions: z.array(action) },
  'hold.resolved': { ...inquiry, attempt, failureType, action },
  'share.posted': { shareId, customerTraceNumber: customerTraceNumber.exactOptional() },
  'journey.ended': {
    outcome: z.enum(['completed', 'stopped', 'expired', 'withdrawn', 'abandoned', 'cancelled', 'failed']),
  },
} satisfies Record<WebhookEventType, z.ZodRawShape>;

const timestamp = instant.meta({ description: 'When it happened.' });

function eventSchema<T extends WebhookEventType>(type: T) {
  return z.object({ type: z.literal(type), timestamp, data: z.object({ ...subject, ...DATA[type] }) });
}

/** The body of a webhook. What it does not know is left out. */
export const webhookEventSchema = z.discriminatedUnion('type', [
  eventSchema('stage.answered'),
  eventSchema('gate.reached'),
  eventSchema('consent.missing'),
  eventSchema('inquiry.held'),
  eventSchema('hold.resolved'),
  eventSchema('share.posted'),
  eventSchema('journey.ended'),
]);
