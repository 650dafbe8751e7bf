/**
 * Senders of updates that a run's validator refuses. Such an update leaves no event: its workflow task is played live, and
 * in no replay. They come at any time: while a run rests at a gate or in a wait, between other messages, and after the storm.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/common';
import { ID_NAMES, parseRunKey, type RunKind } from '../../src/model/run-key.ts';
import { drawFrom } from './draw.ts';
import { isRefusal, type People } from './people.ts';
import { runsOf } from './runs.ts';

/** A message whose worker is away is dropped: the next one follows. */
const ANSWER_LIMIT_MS = 1_500;
const AT_ONCE = 8;
/** How many runs that are not open are passed over for one that is. */
const MOST_CLOSED_RUNS = 10;

export const REFUSED = 'updates that were refused';
const TAKEN = 'updates that were to be refused, and were not';

type RefusedUpdate = readonly [name: string, content: object | null];

const SIGNED = { by: 'chaos', reason: 'to be refused' };
const STRANGER = { shareId: 'S1', applicantId: '9Z', consentId: 'C-STRANGER', decision: 'denied' } as const;

/** Updates that a run refuses in every state, by kind of run. The run's own id is added. */
const MESSAGES: Record<RunKind, readonly RefusedUpdate[]> = {
  journey: [
    ['advance', { to: 'PREQUAL' }],
    ['advance', { to: 'CLOSED' }],
    ['withdrawShare', { shareId: 'S-UNKNOWN', ...SIGNED }],
    ['extend', { gate: 'PREAPP', until: '2020-01-01T00:00:00Z', ...SIGNED }],
    ['recordConsent', { ...STRANGER, decidedAt: '2026-01-01T00:00:00Z', secondaryUser: { endUserCode: 'EU901' } }],
    ['requestShare', { share: { shareId: 'S-BAD' } }],
  ],
  pull: [
    ['withdraw', { by: 'chaos' }],
    ['resolveInquiry', { decisionId: 'D-BAD', action: 'guess', ...SIGNED }],
  ],
  share: [
    ['recordConsent', { ...STRANGER, decision: 'perhaps' }],
    ['extend', { until: '2020-01-01T00:00:00Z', ...SIGNED }],
    ['withdraw', { by: 'chaos' }],
  ],
  portfolio: [
    ['pause', { by: 'chaos' }],
    ['resume', { by: 'chaos' }],
  ],
};

/** Every update that the run refuses: those of its kind, and the same for another run, and without content. */
export function refusedUpdatesTo(runKey: string): RefusedUpdate[] {
  const { kind, id } = parseRunKey(runKey);
  const own = (content: object | null) => content && { [ID_NAMES[kind]]: id, ...content };
  const messages = MESSAGES[kind];
  return [
    ...messages.map(([name, content]): RefusedUpdate => [name, own(content)]),
    ...messages.map(([name, content]): RefusedUpdate => [name, { ...content, [ID_NAMES[kind]]: 'ANOTHER' }]),
    ...messages.map(([name]): RefusedUpdate => [name, null]),
  ];
}

/** The outcome of one of them. `notOpen`: the run has not begun or has closed. `unanswered`: no worker answers. */
type Fate = 'refused' | 'taken' | 'notOpen' | 'unanswered';

/** Sends them to runs as they come by the seed, until the signal. Bounded by the plan's rate. */
export async function sendRefusedUpdates(people: People, signal: AbortSignal): Promise<void> {
  const { plan } = people.world;
  const { refusedUpdatesPerSecond: rate = 0 } = plan.world;
  if (rate === 0) return;
  const runKeys = runsOf(plan).map(({ runKey }) => runKey);
  const sender = async (first: number) => {
    for (let nth = first; !signal.aborted; nth += AT_ONCE) {
      const draw = drawFrom(plan.seed, 'refused updates', nth);
      for (let tries = 0; tries < MOST_CLOSED_RUNS && !signal.aborted; tries++) {
        const runKey = draw.of(runKeys);
        const fate = await send(people, runKey, draw.of(refusedUpdatesTo(runKey)));
        if (fate === 'refused') people.world.count(REFUSED, 1);
        if (fate === 'taken') people.world.count(TAKEN, 1);
        if (fate !== 'notOpen') break;
      }
      await delay((AT_ONCE * 1_000) / rate, undefined, { signal }).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => sender(nth)));
}

async function send(people: People, runKey: string, [name, content]: RefusedUpdate): Promise<Fate> {
  const call = () => people.handle(runKey).executeUpdate(name, { args: [content] });
  try {
    await people.patiently(call, ANSWER_LIMIT_MS);
    return 'taken';
  } catch (error) {
    if (isRefusal(error)) return 'refused';
    return error instanceof WorkflowNotFoundError ? 'notOpen' : 'unanswered';
  }
}
