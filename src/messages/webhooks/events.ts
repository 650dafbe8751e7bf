/** The events that platforms receive by webhooks: their types, their content, and their stable ids. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Environment } from '../../model/products.ts';
import { base32 } from '../../model/trace-number.ts';
import type { TerminalState } from '../journey/shapes.ts';
import type { WebhookEventData, WebhookEventType } from './schemas.ts';

export type { WebhookEventData, WebhookEventType } from './schemas.ts';

/** The end of a run that has events: with its own outcome, or without one. */
export type Ended<Outcome> = Outcome | TerminalState;

interface OfJourney {
  journeyId: string;
}
interface OfPull {
  pullId: string;
}
/** The run of a `shareReport`: without a `journeyId`, which the events of a journey's shares have. */
interface OfShare {
  shareId: string;
}

interface OfReview {
  reviewId: string;
}

/** The run that an event concerns, by its caller's own id. */
export type WebhookRun = OfJourney | OfPull | OfShare | OfReview;

/** The runs that have events of each type. */
export interface WebhookRuns {
  'stage.answered': OfJourney;
  'stage.changed': OfJourney;
  'stage.skipped': OfJourney;
  'gate.reached': OfJourney;
  'consent.missing': OfJourney | OfShare;
  'consent.refused': OfJourney | OfShare;
  'consent.unmatched': OfJourney;
  'wait.extended': OfJourney | OfShare;
  'inquiry.held': WebhookRun;
  'hold.resolved': WebhookRun;
  'share.posted': OfJourney | OfShare;
  'share.revokedAfterPosting': OfJourney | OfShare;
  'journey.ended': OfJourney;
  'pull.answered': OfPull;
  'pull.ended': OfPull;
  'share.ended': OfJourney | OfShare;
  'portfolio.ended': OfReview;
}

/** The members that every event's `data` has. */
export type WebhookSubject<T extends WebhookEventType = WebhookEventType> = WebhookRuns[T] & {
  environment: Environment;
};

/** The body of each event's message, by its type. */
export type WebhookBodies = {
  [T in WebhookEventType]: {
    type: T;
    /** RFC 3339: when it happened, not when it was sent. */
    timestamp: string;
    data: WebhookSubject<T> & WebhookEventData[T];
  };
};

/** One event; `id` becomes the header `webhook-id`, and the rest becomes the body. */
export interface WebhookEvent {
  id: string;
  type: WebhookEventType;
  /** RFC 3339: when it happened, not when it was sent. */
  timestamp: string;
  data: WebhookSubject & Record<string, unknown>;
}

/**
 * `evt_` and 26 base-32 characters (128 bits of SHA-256) of the event and its subject. The id is the same where a
 * workflow is replayed, reset or started again: receivers recognize an event that they have had.
 *
 * @param key what tells the event apart from the others of its type in this workflow
 */
export function webhookEventId(
  subject: { environment: Environment; workflowId: string },
  type: WebhookEventType,
  key: readonly (string | number)[],
): string {
  const name = JSON.stringify([subject.environment, subject.workflowId, type, ...key]);
  return `evt_${base32(sha256(utf8ToBytes(name)), 26)}`;
}
