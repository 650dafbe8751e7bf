import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { GatewayError } from '../gateway/errors.ts';
import {
  LedgerChangedError,
  LedgerRestoredError,
  LedgerUnavailableError,
  RequestDiffersError,
} from '../ledger/errors.ts';
import type { FailureType } from '../model/failure-types.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { RefusedInput } from './contract.ts';
import { ProfileMissingError, ProfileUnknownError } from './dependencies.ts';

/**
 * The one place where errors become Temporal failures: a `type` of docs/protocol.md, a constant message and no cause.
 * Messages and causes of failures stay readable in a history.
 */
const MESSAGES: Record<FailureType, string> = {
  TokenUnavailable: 'the token service cannot be reached or is not answering',
  CredentialsRefused:
    'the credentials or the token were refused; check the secret, and that this address is on the provider’s allow-list',
  LedgerUnavailable: 'the ledger cannot be reached',
  GatewayUnreachable: 'the gateway cannot be reached; nothing was sent',
  GatewayUntrusted: 'the gateway’s certificate or protocol was refused; nothing was sent',
  TokenRejected: 'the gateway said 401; by a standing decision the inquiry was not processed',
  Throttled: 'the gateway said to wait; by a standing decision the inquiry was not processed',
  NotEntitled: 'the gateway said 403: this customer may not ask for that',
  RequestRefused: 'the gateway refused the request as it stands',
  OutcomeUnknown: 'the request was begun and its answer is lost: it may have posted an inquiry',
  AnsweredLate: 'an attempt that a person had given up was answered late: it was posted',
  UnexpectedResponse: 'the inquiry was posted, and its answer cannot be trusted as it stands',
  ReturnCodeUnknown: 'the inquiry was posted, and its returnCode is not in the product’s table',
  ProfileChanged: 'the gateway profile is not the one that the run started with; nothing was sent',
  RequestDiffers: 'another request was made under this trace number',
  AnotherNumber: 'the ledger has this inquiry under another trace number; nothing was sent',
  LedgerChanged: 'this is not the ledger that the run has used',
  LedgerRestored: 'this is an older copy of the ledger, which no operator has accepted; nothing is sent',
  Paused: 'a person has paused inquiries; nothing was sent',
  InvalidInput: 'the input is invalid; nothing was sent',
  ActivityFailed: 'the activity could not be carried out',
};

/** A failure that Temporal never repeats: the workflow decides whether to repeat. */
export function finalFailure(type: FailureType, details: object = {}): ApplicationFailure {
  return ApplicationFailure.create({ type, message: MESSAGES[type], nonRetryable: true, details: [details] });
}

/** A failure that Temporal's retry policy may repeat. Only for activities that send nothing to the gateway. */
export function passingFailure(type: FailureType, nextRetryDelayMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: MESSAGES[type],
    nonRetryable: false,
    ...(nextRetryDelayMs === undefined ? {} : { nextRetryDelay: nextRetryDelayMs }),
  });
}

/**
 * Translates an error from an activity. An unforeseen error keeps its class and its origin but loses its message: a
 * message may quote personal data (`JSON.parse` does).
 */
export function translatedFailure(error: unknown, retryAfterMaxMs = Number.POSITIVE_INFINITY): unknown {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof ProfileUnknownError) {
    return finalFailure('InvalidInput', { problems: error.problems, askOthers: true } satisfies RefusedInput);
  }
  if (error instanceof InvalidInputError) return finalFailure('InvalidInput', { problems: error.problems });
  if (error instanceof LedgerChangedError) return finalFailure('LedgerChanged');
  if (error instanceof RequestDiffersError) return finalFailure('RequestDiffers');
  if (error instanceof LedgerRestoredError) return passingFailure('LedgerRestored');
  if (error instanceof LedgerUnavailableError) return passingFailure('LedgerUnavailable');
  if (error instanceof GatewayError) {
    return error.code === 'TokenUnavailable'
      ? passingFailure(error.code, error.retryAfterMs && Math.min(error.retryAfterMs, retryAfterMaxMs))
      : finalFailure(error.code);
  }
  // The message is constant, since Temporal's UI shows it while the activity waits for another worker.
  const message = error instanceof ProfileMissingError ? error.message : MESSAGES.ActivityFailed;
  return ApplicationFailure.create({
    type: 'ActivityFailed',
    message,
    nonRetryable: false,
    details: [whereItWasThrown(error)],
  });
}

function whereItWasThrown(error: unknown): { error: string; at?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const frame = /([\w.-]+\.[cm]?[jt]s:\d+):\d+/.exec(error.stack?.split('\n').slice(1).join('\n') ?? '');
  return { error: error.name, ...(frame?.[1] ? { at: frame[1] } : {}) };
}

/**
 * Runs an activity's body and translates its errors.
 *
 * @param retryAfterMaxMs bounds what a token service asks for: Temporal waits that long, and shows the figure in the
 * clear
 */
export async function translating<T>(body: () => Promise<T>, retryAfterMaxMs?: number): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw translatedFailure(error, retryAfterMaxMs);
  }
}
