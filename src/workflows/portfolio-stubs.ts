/** The activities of a review as workflow code calls them. Every figure has its reason beside it. */
import type { RetryPolicy } from '@temporalio/common';
import { proxyActivities } from '@temporalio/workflow';
import type { PortfolioActivities } from '../activities/portfolio-contract.ts';
import { UNHURRIED } from './activity-stubs.ts';

/** As with the ledger's: idempotent, and repeated without limit while a directory is away. */
const RETRY = {
  ...UNHURRIED,
  nonRetryableErrorTypes: ['InvalidInput', 'PortfolioChanged'],
} satisfies RetryPolicy;

export const portfolioActivities = proxyActivities<PortfolioActivities>({
  // A gigabyte at the speed of a slow network share, and the checks of a million rows.
  startToCloseTimeout: '1 hour',
  // They say so after each 64 KiB.
  heartbeatTimeout: '1 minute',
  retry: RETRY,
});

/** Also asks for a token and the ledger, which takes up to 20 s. */
export const { preparePortfolio } = proxyActivities<PortfolioActivities>({
  startToCloseTimeout: '20 seconds',
  retry: RETRY,
});
