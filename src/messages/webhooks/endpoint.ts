/** A webhook endpoint: where events are sent to, and how they are signed. */
import type { WebhookEventType } from './events.ts';

export interface WebhookEndpoint {
  /** Unique in its profile. Appears in histories, messages and the command line. */
  name: string;
  /** Its path may hold a token and is never shown. Its host is shown. */
  url: string;
  /** `whsec_…`, read anew at each use. Each message is signed with all of them, so that secrets can be rotated. */
  readSecrets(): Promise<string[]>;
  /** Absent: all types. */
  events?: readonly WebhookEventType[];
  allowPrivateAddresses: boolean;
}

export function takesEvent({ events }: WebhookEndpoint, type: WebhookEventType): boolean {
  return events === undefined || events.includes(type);
}
