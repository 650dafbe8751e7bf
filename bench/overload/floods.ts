/** Starts many journeys, and waits until the gateway has received them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { StartOptions } from '../../src/client.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { manyAtOnce } from '../load/inputs.ts';
import type { Site } from '../load/site.ts';

/** Calls in progress at any time: as fast as a server takes them, without a queue in the client. */
const STARTS_AT_ONCE = 100;
const LOOK_EVERY_MS = 1_000;
/** The time without any arrival after which the run counts as hanging. */
const STUCK_AFTER_MS = 120_000;

/** Starts so many journeys, and returns their ids. */
export function flood(
  site: Site,
  count: number,
  input: () => LendingJourneyInput,
  options: StartOptions,
): Promise<string[]> {
  return manyAtOnce(count, STARTS_AT_ONCE, async () => {
    const { journeyId } = await site.journeys.start(input(), options);
    return journeyId;
  });
}

export async function untilPosted(site: Site, count: number, say: (text: string) => void): Promise<void> {
  let last = { posted: 0, at: performance.now() };
  let toldAt = performance.now();
  for (;;) {
    const posted = (await site.posted()).length;
    if (posted >= count) return;
    const now = performance.now();
    if (posted > last.posted) last = { posted, at: now };
    if (now - last.at > STUCK_AFTER_MS) throw new Error(`only ${posted} of ${count} were posted`);
    if (now - toldAt > 30_000) {
      say(`${posted} of ${count} posted`);
      toldAt = now;
    }
    await delay(LOOK_EVERY_MS);
  }
}

export interface ClosedCounts {
  completed: number;
  /** Closed in another way, or open and in need of a person. */
  other: number;
}

/** Counts by visibility, once it has caught up with these runs. */
export async function closedCounts(site: Site, ids: readonly string[]): Promise<ClosedCounts> {
  const client = site.journeys.getSdkClient();
  const [first = '', last = ''] = [ids.toSorted()[0], ids.toSorted().at(-1)];
  const ours = `WorkflowId >= "journey-${first}" AND WorkflowId <= "journey-${last}" AND WorkflowType = "lendingJourney"`;
  const count = async (filter: string) => (await client.workflow.count(`${ours} AND ${filter}`)).count;
  let completed = 0;
  for (let tries = 0; tries < 60 && completed < ids.length; tries++) {
    completed = await count('ExecutionStatus = "Completed"');
    if (completed < ids.length) await delay(LOOK_EVERY_MS);
  }
  const [notCompleted, inNeed] = [
    await count('ExecutionStatus != "Completed" AND ExecutionStatus != "Running"'),
    await count('NeedsAttention IS NOT NULL'),
  ];
  return { completed, other: notCompleted + inNeed };
}
