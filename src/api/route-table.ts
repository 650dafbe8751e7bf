/** Every operation of the API, of one file for each resource. */
import type { Route } from './route.ts';
import { consentRoutes } from './routes/consents.ts';
import { journeyMessageRoutes } from './routes/journey-messages.ts';
import { journeyRoutes } from './routes/journeys.ts';

export const ROUTES: readonly Route[] = [...journeyRoutes, ...journeyMessageRoutes, ...consentRoutes];
