import type { WebhookFailureType } from '../messages/webhooks/delivery.ts';

/** Constant: no message contains any part of the endpoint's answer or address. */
export const WEBHOOK_MESSAGES: Record<WebhookFailureType, string> = {
  WebhookUnreachable: 'the endpoint cannot be reached',
  WebhookUntrusted: 'the endpoint’s certificate was refused',
  WebhookAddressRefused: 'the endpoint’s name leads to an address that is not public',
  WebhookTimedOut: 'the endpoint did not answer in time',
  WebhookRefused: 'the endpoint answered with something else than success',
  WebhookGone: 'the endpoint said 410: it wants no more',
  WebhookBusy: 'this worker sends as much to the endpoint as it may; it is tried again',
  WebhookSecretUnreadable: 'the endpoint’s secret cannot be read',
  WebhookNotConfigured: 'the worker’s configuration has no such endpoint',
  WebhookInvalid: 'the event is not one that may be sent',
};

/** Thrown when an event was not delivered. Carries no body, no header, no address and no cause. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookFailureType;
  readonly httpStatus?: number;
  /** The wait that the endpoint asked for, in milliseconds; not bounded here. */
  readonly retryAfterMs?: number;

  constructor(code: WebhookFailureType, details: { httpStatus?: number; retryAfterMs?: number | undefined } = {}) {
    super(WEBHOOK_MESSAGES[code]);
    this.code = code;
    if (details.httpStatus !== undefined) this.httpStatus = details.httpStatus;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
  }
}
