/** Which counts of told events a run hands over to its next run. Pure. */
import type { WebhookEventType } from './events.ts';

/** About messages, which callers may send in any number, each under an id of its own. */
const ABOUT_MESSAGES: readonly string[] = ['consent.refused', 'consent.unmatched'] satisfies WebhookEventType[];

/** Of those, the latest. One that is told again after that has the id that it had: it says the same. */
const MESSAGES_KEPT = 500;

/** What an event is counted under. */
export function occurrenceName(type: WebhookEventType, key: readonly (string | number)[]): string {
  return JSON.stringify([type, ...key]);
}

/** @param occurrences how often each event has been told, by `occurrenceName` */
export function carriedOccurrences(occurrences: ReadonlyMap<string, number>): Record<string, number> {
  const isAboutMessage = ([name]: [string, number]) => ABOUT_MESSAGES.includes((JSON.parse(name) as string[])[0] ?? '');
  const { messages = [], others = [] } = Object.groupBy([...occurrences], (one) =>
    isAboutMessage(one) ? 'messages' : 'others',
  );
  return Object.fromEntries([...others, ...messages.slice(-MESSAGES_KEPT)]);
}
