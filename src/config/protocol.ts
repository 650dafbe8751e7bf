/** The figures of the inquiry protocol, each with its reason. */

import { parseDurationMs } from '../base/durations.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { Environment } from '../model/products.ts';
import type { ProtocolSettings } from '../model/settings.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Time to record the answer in a slow ledger, and to report it to Temporal. */
const RECORDING_MS = 20_000;

/** The longest time of one attempt after its claim, in the slowest of the profiles. */
function longestAttemptMs(sendByMs: number, profiles: Iterable<GatewayProfile>): number {
  const answers = [...profiles].map(({ limits }) => limits.headersTimeoutMs + limits.bodyTimeoutMs);
  return sendByMs + Math.max(...answers);
}

export function readProtocol(
  reader: EnvironmentReader,
  environment: Environment,
  profiles: Iterable<GatewayProfile>,
): ProtocolSettings {
  const all = [...profiles];
  // Long enough for a queue of eight connections to begin, and short enough that a decision does not wait for it.
  const sendByMs = reader.integer('SEND_BY_MS', { default: 5_000, min: 1, max: 60_000 });
  const attemptMs = longestAttemptMs(sendByMs, all);
  const tokenMs = Math.max(
    ...all.map(({ limits }) => limits.connectTimeoutMs + limits.headersTimeoutMs + limits.bodyTimeoutMs),
  );
  const submitTimeoutMs = reader.integer('SUBMIT_TIMEOUT_MS', {
    // The activity gets a token, claims, sends and records. The time-out is above the sum of these: an interrupted
    // attempt has an unknown outcome, which a person must decide about.
    default: tokenMs + attemptMs + RECORDING_MS,
    min: 1,
    max: HOUR_MS,
  });
  if (submitTimeoutMs <= attemptMs) {
    reader.report(
      'SUBMIT_TIMEOUT_MS',
      'must be longer than SEND_BY_MS, GATEWAY_HEADERS_TIMEOUT_MS and GATEWAY_BODY_TIMEOUT_MS together, in every profile',
    );
  }
  return {
    ...readBackoff(reader),
    sendByMs,
    resendAfterMs: readResendAfter(reader, environment),
    submitTimeoutMs,
    heartbeatTimeoutMs: readHeartbeat(reader),
    handOverAfterEvents: readHandOver(reader),
  };
}

/**
 * After its process has ended, a kernel goes on sending its buffer. Linux gives up after 15 retransmissions, at most
 * 924 s (`tcp_retries2`). The sandbox runs on this machine, where nothing arrives late.
 */
const STILL_ARRIVING_MS = 16 * 60_000;

function readResendAfter(reader: EnvironmentReader, environment: Environment): number {
  if (reader.optional('RESEND_AFTER') === 'PT0S') return 0;
  return readDuration(reader, 'RESEND_AFTER', environment === 'sandbox' ? 0 : STILL_ARRIVING_MS);
}

function readHeartbeat(reader: EnvironmentReader): number {
  // How soon a killed worker is noticed. A shorter time would mistake a pause of the process for its end.
  return reader.integer('HEARTBEAT_TIMEOUT_MS', { default: 10_000, min: 500, max: 300_000 });
}

function readHandOver(reader: EnvironmentReader): number {
  // The server ends a run at 51,200 events and takes 2,000 updates, 4,600 events or more. A fresh run has about
  // 20 events before its first wait. With fewer than 100 it would do little but hand over.
  return reader.integer('HAND_OVER_AFTER_EVENTS', { default: 3_000, min: 100, max: 10_000 });
}

type Backoff = Pick<ProtocolSettings, 'giveUpAfterMs' | 'backoffInitialMs' | 'backoffMaxMs' | 'retryAfterMaxMs'>;

function readBackoff(reader: EnvironmentReader): Backoff {
  // An outage of the provider lasts a second or an hour. Five minutes is the longest acceptable delay after it ends.
  const backoffInitialMs = reader.integer('BACKOFF_INITIAL_MS', { default: 1_000, min: 1, max: HOUR_MS });
  const backoffMaxMs = reader.integer('BACKOFF_MAX_MS', { default: 300_000, min: 1, max: DAY_MS });
  if (backoffMaxMs < backoffInitialMs) reader.report('BACKOFF_MAX_MS', 'must be at least BACKOFF_INITIAL_MS');
  return {
    // After a day of waiting, a person should know of the loan.
    giveUpAfterMs: readDuration(reader, 'GIVE_UP_AFTER', DAY_MS),
    backoffInitialMs,
    backoffMaxMs,
    // A gateway that asks for more than an hour has an error or is down. Asking again hourly costs nothing.
    retryAfterMaxMs: reader.integer('RETRY_AFTER_MAX_MS', { default: HOUR_MS, min: 1, max: DAY_MS }),
  };
}

/** Milliseconds; the default where the variable is absent or wrong. */
export function readDuration(reader: EnvironmentReader, variable: string, defaultMs: number): number {
  const value = reader.optional(variable);
  if (value === undefined) return defaultMs;
  const ms = parseDurationMs(value);
  if (ms !== null) return ms;
  reader.report(variable, 'must be an ISO 8601 duration in days and time, such as PT24H');
  return defaultMs;
}
