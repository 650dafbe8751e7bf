/** The endpoint that events are posted to: it refuses, hangs, forgets, dies. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Strike } from './strike.ts';

export const endpointIll: Strike = async ({ mood = 'refuses', forMs = 0 }, { world }) => {
  if (!world.endpoint) return false;
  await world.endpoint.be(mood);
  await delay(forMs);
  await world.endpoint.be('well');
  return true;
};
