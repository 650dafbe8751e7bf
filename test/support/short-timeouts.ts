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

/** For what must not run out of time on a loaded machine: 4 s for HTTP, 9 s for the activity. */
export const ROOMY_TIMEOUTS = {
  GATEWAY_HEADERS_TIMEOUT_MS: '4000',
  SUBMIT_TIMEOUT_MS: '9000',
  HEARTBEAT_TIMEOUT_MS: '9000',
} as const;
