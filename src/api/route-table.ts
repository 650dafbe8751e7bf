/** Every operation of the API, of one file for each resource. */
import { listingRoutes } from './lists/listing-routes.ts';
import { pageRoutes } from './page/page-routes.ts';
import type { Route } from './route.ts';
import { consentRoutes } from './routes/consents.ts';
import { holdRoutes } from './routes/holds.ts';
import { orderRoutes } from './routes/orders.ts';
import { reportRoutes } from './routes/reports.ts';
import { journeyRoutes, portfolioReviewRoutes, pullRoutes, shareRoutes } from './routes/run-kinds.ts';
import { allRunsRoutes } from './routes/runs.ts';

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
