/** The events that platforms are told by webhooks: their types, what each says, and their stable ids. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { FailureType, HoldAction } from './failure-types.ts';
import type { Environment, ProductCode, StageCode } from './products.ts';
import type { JourneyOutcome, ReportOutcome } from './shapes.ts';
import { base32 } from './trace-number.ts';

export const WEBHOOK_EVENT_TYPES = [
  'stage.answered',
  'gate.reached',
  'consent.missing',
  'inquiry.held',
  'hold.resolved',
  'share.posted',
  'journey.ended',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Which inquiry: a trace number names it, and reveals nothing of it. */
interface InquiryName {
  customerTraceNumber: string;
  productCode: ProductCode;
  shareId?: string;
}

/** How a run that its platform hears of may end beside a journey's outcomes. */
export type EndedOutcome = JourneyOutcome | 'cancelled' | 'failed';

/**
 * `data` of each type, without what all of them have. Nothing personal, and no report reference: it is half of a
 * SECONDUSE (interface 2.6).
 */
export interface WebhookEventData {
  'stage.answered': { stage: StageCode; outcome: ReportOutcome; customerTraceNumber?: string; attempts: number };
  'gate.reached': { stage: StageCode; until: string };
  /** `waitingFor`: the applicantIds of those whose grant does not stand. */
  'consent.missing': { shareId: string; waitingFor: string[]; until: string };
  'inquiry.held': InquiryName & { attempt: number; failureType: FailureType; allowedActions: HoldAction[] };
  'hold.resolved': InquiryName & { attempt: number; failureType: FailureType; action: HoldAction };
  'share.posted': { shareId: string; customerTraceNumber?: string };
  'journey.ended': { outcome: EndedOutcome };
}

/** What every event's `data` has. */
export interface WebhookSubject {
  journeyId: string;
  environment: Environment;
}

/** One event on its way; `id` becomes the header `webhook-id`, and the rest the body. */
export interface WebhookEvent {
  id: string;
  type: WebhookEventType;
  /** RFC 3339: when it happened, not when it was sent. */
  timestamp: string;
  data: WebhookSubject & Record<string, unknown>;
}

/**
 * `evt_` and 26 base-32 characters (128 bits of SHA-256) of what happened to whom: the same where a workflow is
 * replayed, reset or started again, so that receivers know an event that they have had.
 *
 * @param key what makes it another event than the others of its type in this workflow
 */
export function webhookEventId(
  subject: { environment: Environment; workflowId: string },
  type: WebhookEventType,
  key: readonly (string | number)[],
): string {
  const name = JSON.stringify([subject.environment, subject.workflowId, type, ...key]);
  return `evt_${base32(sha256(utf8ToBytes(name)), 26)}`;
}
