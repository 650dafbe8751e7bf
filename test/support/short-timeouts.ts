/**
 * Time-outs with which an attempt whose worker is gone becomes a hold within seconds: 3 s for HTTP, 6.5 s for the
 * activity. They suit a machine that is three times as slow as ours, too: an attempt that is not sent in its time is
 * followed by another one, and heartbeats outlast a pause.
 */
export const SHORT_TIMEOUTS = {
  SEND_BY_MS: '2000',
  GATEWAY_HEADERS_TIMEOUT_MS: '3000',
  GATEWAY_BODY_TIMEOUT_MS: '1000',
  SUBMIT_TIMEOUT_MS: '6500',
  HEARTBEAT_TIMEOUT_MS: '3000',
  BACKOFF_INITIAL_MS: '200',
  BACKOFF_MAX_MS: '1000',
} as const;

/** With a limit that nothing meets, every attempt waits in the gateway's queue for the server to give it out. */
export const ON_GATEWAY_QUEUE = { GATEWAY_MAX_INQUIRIES_PER_SECOND: '1000' } as const;

/** Enough permits for all that a test has in flight: every attempt is dispatched on the workflow queue. */
export const ON_WORKFLOW_QUEUE = { GATEWAY_CONNECTIONS: '40' } as const;

/** For what must not run out of time on a loaded machine: 4 s for HTTP, 9 s for the activity. */
export const ROOMY_TIMEOUTS = {
  GATEWAY_HEADERS_TIMEOUT_MS: '4000',
  SUBMIT_TIMEOUT_MS: '9000',
  HEARTBEAT_TIMEOUT_MS: '9000',
} as const;

/** So long a message takes to the server, or to a run that has a worker. */
export const MESSAGE_MS = 500;
