/** Platforms and dashboards that ask each journey for its status all the time: a query may come with any workflow task. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { People } from './people.ts';

const AT_ONCE = 3;
const PAUSE_MS = 20;

/** Returns how many answers there were. A journey that is not started yet, or whose worker is away, gives none. */
export async function lookOn(people: People, signal: AbortSignal): Promise<number> {
  const journeyIds = people.world.plan.journeys.map(({ journeyId }) => journeyId);
  let answers = 0;
  const onlooker = async (first: number) => {
    for (let next = first; !signal.aborted; next += AT_ONCE) {
      const journeyId = journeyIds[next % journeyIds.length] ?? '';
      await people.status(journeyId).then(
        () => answers++,
        () => {},
      );
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => onlooker(index)));
  return answers;
}
