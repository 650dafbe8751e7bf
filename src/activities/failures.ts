import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { GatewayError } from '../gateway/errors.ts';
import {
  LedgerChangedError,
  LedgerRestoredError,
  LedgerUnavailableError,
  RequestDiffersError,
} from '../ledger/errors.ts';
import { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import { FAILURES, type FailureType } from '../model/failure-types.ts';
import { InvalidInputError, selectShownProblems } from '../model/problems.ts';
import { PortfolioChangedError, PortfolioUnavailableError } from '../portfolio/portfolio-file.ts';
import type { RefusedInput } from './contract.ts';
import { ProfileUnknownError } from './dependencies.ts';

// The one place where errors become Temporal failures: a type of the catalogue, its constant message and no cause.
// Messages and causes of failures stay readable in a history.

/** A failure that Temporal never repeats: the workflow decides whether to repeat. */
export function createFinalFailure(type: FailureType, details: object = {}): ApplicationFailure {
  return ApplicationFailure.create({ type, message: FAILURES[type].message, nonRetryable: true, details: [details] });
}

/** A failure that Temporal's retry policy may repeat. Only for activities that send nothing to the gateway. */
export function createRetryableFailure(type: FailureType, nextRetryDelayMs?: number): ApplicationFailure {
  return ApplicationFailure.create({ type, message: FAILURES[type].message, nextRetryDelay: nextRetryDelayMs });
}

/**
 * Translates an error from an activity. An unforeseen error keeps its class and its origin but loses its message: a
 * message may quote personal data (`JSON.parse` does).
 */
export function translateFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof ProfileUnknownError) {
    return createFinalFailure('InvalidInput', { problems: error.problems, askOthers: true } satisfies RefusedInput);
  }
  if (error instanceof InvalidInputError) {
    // A small message can break thousands of rules. The server takes no failure of that size, of an activity or an update.
    return createFinalFailure('InvalidInput', { problems: selectShownProblems(error.problems) });
  }
  if (error instanceof LedgerChangedError) return createFinalFailure('LedgerChanged');
  if (error instanceof RequestDiffersError) return createFinalFailure('RequestDiffers');
  if (error instanceof LedgerRestoredError) return createRetryableFailure('LedgerRestored');
  if (error instanceof LedgerUnavailableError) return createRetryableFailure('LedgerUnavailable');
  if (error instanceof PortfolioChangedError) {
    const message = 'the portfolio file is not the one that the review began with; nothing more is sent';
    return ApplicationFailure.create({ type: 'PortfolioChanged', message, nonRetryable: true });
  }
  if (error instanceof PortfolioUnavailableError) {
    const { code, message } = error;
    return ApplicationFailure.create({ type: PORTFOLIO_UNAVAILABLE, message, details: [{ code }] });
  }
  if (error instanceof GatewayError) {
    return error.code === 'TokenUnavailable'
      ? createRetryableFailure(error.code, error.retryAfterMs)
      : createFinalFailure(error.code);
  }
  const { message } = FAILURES.ActivityFailed;
  return ApplicationFailure.create({ type: 'ActivityFailed', message, details: [findThrowSite(error)] });
}

function findThrowSite(error: unknown): { error: string; at?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const frame = /([\w.-]+\.[cm]?[jt]s:\d+):\d+/.exec(error.stack?.split('\n').slice(1).join('\n') ?? '');
  return { error: error.name, at: frame?.[1] };
}

/** Makes each of the activities translate its errors. */
export function translateErrors<Activities extends object>(activities: Activities): Activities {
  return wrapEach(activities, async (run) => {
    try {
      return await run();
    } catch (error) {
      throw translateFailure(error);
    }
  });
}

/** Runs each of the activities within `wrap`. */
export function wrapEach<Activities extends object>(
  activities: Activities,
  wrap: (run: () => Promise<unknown>) => Promise<unknown>,
): Activities {
  const all = Object.entries(activities) as [string, (...args: unknown[]) => Promise<unknown>][];
  // A synchronous error becomes a rejection, too.
  const wrapped = all.map(([name, activity]) => [name, (...args: unknown[]) => wrap(async () => activity(...args))]);
  return Object.fromEntries(wrapped);
}
