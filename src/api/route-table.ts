/** Every operation of the API, of one file for each resource. */
import { listingRoutes } from './lists/listing-routes.ts';
import { searchRoutes, sessionRoutes } from './page/page-routes.ts';
import { storyRoutes } from './page/story-route.ts';
import type { Route } from './route.ts';
import { consentRoutes } from './routes/consents.ts';
import { decisionRoutes } from './routes/decisions.ts';
import { holdRoutes } from './routes/holds.ts';
import { journeyRoutes } from './routes/journeys.ts';
import { legalHoldRoutes } from './routes/legal-holds.ts';
import { pauseRoutes } from './routes/pauses.ts';
import { portfolioReviewRoutes } from './routes/portfolio-reviews.ts';
import { pullRoutes } from './routes/pulls.ts';
import { reportRoutes } from './routes/reports.ts';
import { allRunsRoutes } from './routes/runs.ts';
import { shareRoutes } from './routes/shares.ts';

export const ROUTES: readonly Route[] = [
  ...journeyRoutes,
  ...consentRoutes,
  ...pullRoutes,
  ...shareRoutes,
  ...portfolioReviewRoutes,
  ...allRunsRoutes,
  ...holdRoutes,
  ...decisionRoutes,
  ...pauseRoutes,
  ...legalHoldRoutes,
  ...listingRoutes,
  ...reportRoutes,
  ...sessionRoutes,
  ...searchRoutes,
  ...storyRoutes,
];
