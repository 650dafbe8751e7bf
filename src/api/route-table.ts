/** Every operation of the API, of one file for each resource. */
import type { Route } from './route.ts';
import { journeyRoutes } from './routes/journeys.ts';

export const ROUTES: readonly Route[] = [...journeyRoutes];
