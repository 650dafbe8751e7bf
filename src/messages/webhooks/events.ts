/** The events that platforms receive by webhooks: their types, their content, and their stable ids, and how often each has occurred. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Environment } from '../../model/products.ts';
import { encodeBase32 } from '../../model/trace-number.ts';
import type { TerminalState } from '../journey/shapes.ts';
import type { WebhookEventType, WebhookSubject } from './schemas.ts';

export type { ReceivedEvent, WebhookBodies, WebhookEventData, WebhookEventType, WebhookRun } from './schemas.ts';

/** The end of a run that has events: with its own outcome, or without one. */
export type Ended<Outcome> = Outcome | TerminalState;

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
export function toWebhookEventId(
  subject: { environment: Environment; workflowId: string },
  type: WebhookEventType,
  key: readonly (string | number)[],
): string {
  const name = JSON.stringify([subject.environment, subject.workflowId, type, ...key]);
  return `evt_${encodeBase32(sha256(utf8ToBytes(name)), 26)}`;
}

/** Events about messages. Callers may send any number of messages, each under an id of its own. */
const ABOUT_MESSAGES: readonly string[] = ['consent.refused', 'consent.unmatched'] satisfies WebhookEventType[];

/**
 * The run keeps only the latest counts of those events. A repeated older event gets its former id and the same content.
 */
const MESSAGES_KEPT = 500;

export function toOccurrenceName(type: WebhookEventType, key: readonly (string | number)[]): string {
  return JSON.stringify([type, ...key]);
}

/** @param occurrences how often each event has occurred, by `toOccurrenceName` */
export function toCarriedOccurrences(occurrences: ReadonlyMap<string, number>): Record<string, number> {
  const isAboutMessage = ([name]: [string, number]) => ABOUT_MESSAGES.includes((JSON.parse(name) as string[])[0] ?? '');
  const { messages = [], others = [] } = Object.groupBy([...occurrences], (occurrence) =>
    isAboutMessage(occurrence) ? 'messages' : 'others',
  );
  return Object.fromEntries([...others, ...messages.slice(-MESSAGES_KEPT)]);
}
