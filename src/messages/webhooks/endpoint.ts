/** What an endpoint is: where events are sent to, and how they are signed. */
import type { WebhookEventType } from './events.ts';

export interface WebhookEndpoint {
  /** Unique in its profile; in histories, messages and the command line. */
  name: string;
  /** May hold a token in its path: never shown. Its host is. */
  url: string;
  /** `whsec_…`, read anew at each use; each message is signed with all of them, so that one may follow another. */
  readSecrets(): Promise<string[]>;
  /** Absent: all. */
  events?: readonly WebhookEventType[];
  allowPrivateAddresses: boolean;
}

export function takesEvent({ events }: WebhookEndpoint, type: WebhookEventType): boolean {
  return events === undefined || events.includes(type);
}
