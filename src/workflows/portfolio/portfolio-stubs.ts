/** The activities of a review as workflow code calls them. Every figure has its reason beside it. */
import type { ActivityOptions, RetryPolicy } from '@temporalio/common';
import { proxyActivities } from '@temporalio/workflow';
import type { PortfolioActivities } from '../../activities/portfolio-contract.ts';
import { HEARTBEATS, UNHURRIED } from '../run/activity-stubs.ts';

/** What a review asks of its files: idempotent, and never given up. */
export type FileActivities = Omit<PortfolioActivities, 'preparePortfolio'>;

const FINAL = { nonRetryableErrorTypes: ['InvalidInput', 'PortfolioChanged'] } satisfies RetryPolicy;

/** As with the ledger's: idempotent, and repeated without limit while a directory is away. */
const RETRY = {
  ...UNHURRIED,
  ...FINAL,
} satisfies RetryPolicy;

const OF_FILES = {
  // A gigabyte at the speed of a slow network share, and the checks of a million rows.
  startToCloseTimeout: '1 hour',
  // They say so after each 64 KiB.
  heartbeatTimeout: '1 minute',
} satisfies ActivityOptions;

/** 15 s in all: a share that is mounted anew, or a file that is still being copied, needs no operator. */
export const firstTries = proxyActivities<FileActivities>({
  ...OF_FILES,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 5, ...FINAL },
});

/** Once a minute after the first one: an hour of them costs the history three events, and shows what is wrong by then. */
export const triesForAnHour = proxyActivities<FileActivities>({
  ...OF_FILES,
  retry: {
    initialInterval: '10 seconds',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 60,
    ...FINAL,
  },
});

/** Also asks for a token and the ledger, which takes up to 20 s. */
export const { preparePortfolio } = proxyActivities<PortfolioActivities>({
  startToCloseTimeout: '20 seconds',
  ...HEARTBEATS,
  retry: RETRY,
});
