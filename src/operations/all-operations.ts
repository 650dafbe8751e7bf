/** Every operation of the API, of one file for each resource. */

import { consentRoutes } from './consents.ts';
import { holdRoutes } from './holds.ts';
import { listingRoutes } from './listing-operations.ts';
import type { Route } from './operation.ts';
import { orderRoutes } from './orders.ts';
import { pageRoutes } from './page.ts';
import { reportRoutes } from './reports.ts';
import { journeyRoutes, portfolioReviewRoutes, pullRoutes, shareRoutes } from './run-kinds.ts';
import { allRunsRoutes } from './runs.ts';

export const ROUTES: readonly Route[] = [
  ...journeyRoutes,
  ...consentRoutes,
  ...pullRoutes,
  ...shareRoutes,
  ...portfolioReviewRoutes,
  ...allRunsRoutes,
  ...holdRoutes,
  ...orderRoutes,
  ...listingRoutes,
  ...reportRoutes,
  ...pageRoutes,
];
