/**
 * Time-outs with which an attempt whose worker has stopped becomes a hold within seconds: 3 s for HTTP, 6.5 s for the
 * activity. They also suit a machine that is three times as slow as ours: another attempt follows one that is not sent
 * in its time, and heartbeats outlast a pause.
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

/** A limit that is never reached: every attempt waits in the gateway queue until the server dispatches it. */
export const ON_GATEWAY_QUEUE = { GATEWAY_MAX_INQUIRIES_PER_SECOND: '1000' } as const;

/** Enough slots for all attempts of a test, so every attempt is dispatched on the workflow queue. */
export const ON_WORKFLOW_QUEUE = { GATEWAY_CONNECTIONS: '40' } as const;

/** Time-outs for tests that must not time out on a loaded machine: 4 s for HTTP, 9 s for the activity. */
export const ROOMY_TIMEOUTS = {
  GATEWAY_HEADERS_TIMEOUT_MS: '4000',
  SUBMIT_TIMEOUT_MS: '9000',
  HEARTBEAT_TIMEOUT_MS: '9000',
} as const;

/** The time that a message takes to reach the server, or a run that has a worker. */
export const MESSAGE_MS = 500;
