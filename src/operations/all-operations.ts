/** Every operation of the API, of one file for each subject. */
import { consentOperations } from './consents.ts';
import { holdOperations } from './holds.ts';
import { listingOperations } from './listing-operations.ts';
import type { Operation } from './operation.ts';
import { orderOperations } from './orders.ts';
import { pageOperations } from './page.ts';
import { reportOperations } from './reports.ts';
import { journeyOperations, portfolioReviewOperations, pullOperations, shareOperations } from './run-kinds.ts';
import { allRunsOperations } from './runs.ts';

export const OPERATIONS: readonly Operation[] = [
  ...journeyOperations,
  ...consentOperations,
  ...pullOperations,
  ...shareOperations,
  ...portfolioReviewOperations,
  ...allRunsOperations,
  ...holdOperations,
  ...orderOperations,
  ...listingOperations,
  ...reportOperations,
  ...pageOperations,
];
