/** What is known of the delivery of events: failures, a run's settings, its messages and how it stands. Types and names. */
import type { Environment } from '../../model/products.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import type { WebhookEvent, WebhookEventType } from './events.ts';

/** Why an event was not delivered (docs/webhooks.md); the failure types of the activity `deliverWebhook`. */
export const WEBHOOK_FAILURE_TYPES = [
  'WebhookUnreachable',
  'WebhookUntrusted',
  'WebhookAddressRefused',
  'WebhookTimedOut',
  'WebhookRefused',
  'WebhookGone',
  'WebhookBusy',
  'WebhookSecretUnreadable',
  'WebhookNotConfigured',
  'WebhookInvalid',
] as const;
export type WebhookFailureType = (typeof WEBHOOK_FAILURE_TYPES)[number];

/** `NeedsAttention` of a delivery run that has given an event up. */
export const WEBHOOK_ATTENTION = 'WebhookFailed' as const;

/** The workflow type. */
export const WEBHOOK_DELIVERY = 'webhookDelivery';

/** The delivery run of one journey, or of any other run that has events. */
export function webhookDeliveryId(workflowId: string): string {
  return `webhooks-${workflowId}`;
}

export interface WebhookSettings {
  /** How long one event is tried for one endpoint. */
  giveUpAfterMs: number;
  /** How long one that was given up is kept for somebody to send again. */
  keepFailedForMs: number;
}

/** One event, and which endpoints of the profile take it. */
export interface AddressedEvent extends WebhookEvent {
  endpoints: string[];
}

export interface FailedEvent {
  event: WebhookEvent;
  failureType: WebhookFailureType;
  httpStatus?: number;
  failedAt: string;
}

/** What a run hands to the next one of its chain. */
export interface CarriedEndpoint {
  name: string;
  waiting: WebhookEvent[];
  failed: FailedEvent[];
  isGone: boolean;
  delivered: number;
}

export interface WebhookDeliveryInput {
  environment: Environment;
  profile: string;
  settings: WebhookSettings;
  /** Those that are registered on this server. */
  searchAttributes: SearchAttributeName[];
  carried?: { endpoints: CarriedEndpoint[]; seen: string[] };
}

/** Of the updates that send again or give up for good. */
export interface ChooseEndpoint {
  /** Default: all of them. */
  endpoint?: string;
}

export interface ChosenEvents {
  events: number;
}

export interface EndpointStatus {
  endpoint: string;
  /** `gone`: it said 410, and gets nothing more of this run until somebody sends again. */
  state: 'delivering' | 'idle' | 'failed' | 'gone';
  delivered: number;
  waiting: number;
  /** Since when the first of those that wait has waited. */
  waitingSince?: string;
  failed: {
    id: string;
    type: WebhookEventType;
    failureType: WebhookFailureType;
    httpStatus?: number;
    failedAt: string;
  }[];
}

export interface WebhookDeliveryStatus {
  profile: string;
  endpoints: EndpointStatus[];
}

/** Nothing is left of a run that ended: what it lists as lost was kept until its time was over. */
export interface WebhookDeliveryResult {
  delivered: number;
  dropped: number;
  lost: number;
}
