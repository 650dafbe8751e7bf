/** What one action about a hold will do, as the API says. */
import type { HoldGuide } from './schemas.ts';

export type ActionGuide = HoldGuide['actions'][number];
