/** The counts of sent events that a run hands over to its next run. Pure. */
import type { WebhookEventType } from './events.ts';

/** Events about messages. Callers may send any number of messages, each under an id of its own. */
const ABOUT_MESSAGES: readonly string[] = ['consent.refused', 'consent.unmatched'] satisfies WebhookEventType[];

/**
 * Only the latest counts of those events are kept. An older event that occurs again gets its former id, and says the
 * same.
 */
const MESSAGES_KEPT = 500;

/** The name under which an event is counted. */
export function occurrenceName(type: WebhookEventType, key: readonly (string | number)[]): string {
  return JSON.stringify([type, ...key]);
}

/** @param occurrences how often each event has occurred, by `occurrenceName` */
export function carriedOccurrences(occurrences: ReadonlyMap<string, number>): Record<string, number> {
  const isAboutMessage = ([name]: [string, number]) => ABOUT_MESSAGES.includes((JSON.parse(name) as string[])[0] ?? '');
  const { messages = [], others = [] } = Object.groupBy([...occurrences], (one) =>
    isAboutMessage(one) ? 'messages' : 'others',
  );
  return Object.fromEntries([...others, ...messages.slice(-MESSAGES_KEPT)]);
}
