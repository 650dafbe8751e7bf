/** The delivery of events: endpoints, failures, a run's settings, its messages and its status. Types and names. */
import type { Environment } from '../../model/products.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import type { WebhookEvent, WebhookEventType } from './events.ts';

/**
 * Why an event was not delivered (docs/webhooks.md): the failure types of the activity `deliverWebhook`, with their
 * messages. No message contains any part of the endpoint's answer or address.
 */
export const WEBHOOK_FAILURES = {
  WebhookUnreachable: 'the endpoint cannot be reached',
  WebhookUntrusted: 'the endpoint’s certificate was refused',
  WebhookAddressRefused: 'the endpoint’s name leads to an address that is not public',
  WebhookTimedOut: 'the endpoint did not answer in time',
  WebhookRefused: 'the endpoint did not answer with success',
  WebhookGone: 'the endpoint answered 410: it wants no more events',
  WebhookBusy: 'this worker has reached its limit for the endpoint; it tries again',
  WebhookSecretUnreadable: 'the endpoint’s secret cannot be read',
  WebhookNotConfigured: 'the worker’s configuration has no such endpoint',
  WebhookInvalid: 'the event is not valid, so it may not be sent',
} as const;
export type WebhookFailureType = keyof typeof WEBHOOK_FAILURES;
export const WEBHOOK_FAILURE_TYPES = Object.keys(WEBHOOK_FAILURES) as WebhookFailureType[];

/** `NeedsAttention` of a delivery run that has given up on an event. */
export const WEBHOOK_ATTENTION = 'WebhookFailed' as const;

export const WEBHOOK_DELIVERY = 'webhookDelivery';

/** The specification advises steps from 5 s on. A repaired endpoint should wait for an hour at most. */
export const WEBHOOK_BACK_OFF = { firstMs: 5_000, coefficient: 3, longestMs: 3_600_000 } as const;

/** The workflow id of the delivery run of one journey, or of any other run that has events. */
export function toWebhookDeliveryId(workflowId: string): string {
  return `webhooks-${workflowId}`;
}

export interface WebhookSettings {
  /** How long the run tries one event at one endpoint. */
  giveUpAfterMs: number;
  /** How long a run keeps a failed event, so that an operator can send it again. */
  keepFailedForMs: number;
}

export interface AddressedEvent extends WebhookEvent {
  endpoints: string[];
}

export interface FailedEvent {
  event: WebhookEvent;
  failureType: WebhookFailureType;
  httpStatus?: number;
  failedAt: string;
}

/** State of one endpoint from continue-as-new. */
export interface CarriedEndpoint {
  name: string;
  waiting: WebhookEvent[];
  failed: FailedEvent[];
  delivered: number;
}

export interface WebhookDeliveryInput {
  environment: Environment;
  profile: string;
  settings: WebhookSettings;
  /** The search attributes that are registered on this server. */
  searchAttributes: SearchAttributeName[];
  carried?: { endpoints: CarriedEndpoint[]; processedIds: string[] };
}

export interface ChosenEvents {
  events: number;
}

export interface WebhookDeliveryStatus {
  profile: string;
  endpoints: {
    endpoint: string;
    delivered: number;
    waiting: number;
    waitingSince?: string;
    failed: (Pick<WebhookEvent, 'id' | 'type'> & Omit<FailedEvent, 'event'>)[];
  }[];
}

/** The result of a delivery run. The events that it lists as lost were kept until their time was over. */
export interface WebhookDeliveryResult {
  delivered: number;
  lost: number;
}

export interface WebhookEndpoint {
  /** Unique in its profile. Appears in histories, messages and the command line. */
  name: string;
  /** Its path may hold a token and is never shown. Its host is shown. */
  url: string;
  /** `whsec_…`, read again at each use. Each message is signed with all of them, so that secrets can be rotated. */
  readSecrets(): Promise<string[]>;
  /** Absent: all types. */
  events?: readonly WebhookEventType[];
  allowPrivateAddresses: boolean;
}
