/** Figures that are the same on every worker: an older ledger, task queues, ages of keys, and the server. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import { watchFleetFigures } from '../../src/worker/worker-telemetry.ts';
import { attempted, consentOf, keyRing } from '../ledger/fixtures.ts';
import { aboveZero, recordMetrics } from './recorded-metrics.ts';

type Figures = Parameters<typeof watchFleetFigures>[0];

const DAY_MS = 24 * 60 * 60 * 1000;

/** The values of each metric after one round. */
async function figuresOf(
  parts: Partial<Record<'ledger' | 'workflow' | 'workflowService' | 'keys', object>>,
  others: Partial<Figures> = {},
) {
  const end = new AbortController();
  const { metrics, of } = recordMetrics();
  const figures = {
    ledger: {
      tasks: { counts: async () => [] },
      consents: { unmatchedCounts: async () => [] },
      pauses: { list: async () => [] },
      restoreState: async () => ({}),
      ...parts.ledger,
    },
    client: {
      workflow: { count: async () => ({ count: 0 }), ...parts.workflow },
      workflowService: { describeTaskQueue: async () => ({}), ...parts.workflowService },
      options: { namespace: 'default' },
    },
    keys: { keys: [], ...parts.keys },
    ...{ taskQueue: 'q', profiles: ['default', 'east'], metrics, everyMs: 60_000, signal: end.signal },
    registeredSearchAttributes: async () => ['NeedsAttention', 'JourneyStage'],
    ...others,
  } as unknown as Figures;
  const watching = watchFleetFigures(figures);
  await new Promise((resolve) => setTimeout(resolve, 50));
  end.abort();
  await watching;
  return of;
}

test('the figures show an older copy of the ledger, and for how long each current key may still encrypt', async () => {
  const lost = { claimedAt: '2026-11-01T00:00:00Z' };
  const aged = (use: string, status: string, days: number) => ({
    ...{ id: `${use}-${days}`, use, status, createdAt: new Date(Date.now() - days * DAY_MS - 60_000).toISOString() },
  });
  const keys = [aged('payload', 'current', 80), aged('ledger', 'current', 95), aged('ledger', 'retired', 200)];
  const of = await figuresOf({ ledger: { restoreState: async () => ({ lost }) }, keys: { keys } });
  assert.deepEqual(of('ledgerOlderCopy'), { '': 1 });
  assert.deepEqual(of('keyDaysLeft'), { payload: 10, ledger: -5 });
  const sound = await figuresOf({});
  assert.deepEqual([sound('ledgerOlderCopy'), sound('temporalUp')], [{ '': 0 }, { '': 1 }]);
});

test('the backlog is added up by the purpose of the task queues', async () => {
  const backlogs: Record<string, number> = { q: 3, 'q-gateway-default': 5, 'q-gateway-east': 7, 'q-webhooks': 2 };
  const describeTaskQueue = async ({ taskQueue }: { taskQueue: { name: string } }) => ({
    stats: { approximateBacklogCount: backlogs[taskQueue.name] ?? assert.fail(taskQueue.name) },
  });
  const of = await figuresOf({ workflowService: { describeTaskQueue } });
  // Workflow tasks and activities of the first queue.
  assert.deepEqual(of('taskBacklog'), { journeys: 6, gateway: 12, webhooks: 2 });
});

test('a figure that cannot be read is not updated, and the other figures are', async () => {
  const away = async () => {
    throw new Error('the server does not answer');
  };
  const of = await figuresOf({ workflow: { count: away }, workflowService: { describeTaskQueue: away } });
  assert.deepEqual([of('runningRuns'), of('taskBacklog'), of('temporalUp')], [undefined, undefined, { '': 0 }]);
  assert.deepEqual([aboveZero(of('needsPerson')), of('ledgerOlderCopy')], [{}, { '': 0 }]);
});

interface Work {
  outcomes?: Record<string, Partial<OutcomeRecord>>;
  kept?: readonly ConsentRecord[];
  minutes?: number;
  /** The number of runs that have given an event up. Absent if the server does not answer. */
  givenUp?: number | undefined;
  isRegistered?: boolean;
}

async function countTasks(t: TestContext, work: Work) {
  const { outcomes = {}, kept = [], minutes = 20, givenUp, isRegistered = true } = work;
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-open-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const url = `file:${join(directory, 'ledger.db')}`;
  const real = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
  t.after(() => real.close());
  for (const [workflowId, outcome] of Object.entries(outcomes)) {
    const inquiry = { customerTraceNumber: workflowId, runKey: workflowId.replace('journey-', '') };
    await attempted(real, { inquiry, run: { workflowId, runId: 'run-1' } }, outcome);
  }
  for (const consent of kept) await real.consents.keep(real.identity.ledgerId, consent);
  const count = async (query: string) => {
    if (givenUp === undefined) throw new Error('the server does not answer');
    return { count: query.includes('WebhookFailed') ? givenUp : query.includes('LedgerChanged') ? 1 : 0 };
  };
  const ledger = { tasks: real.tasks, consents: real.consents, pauses: real.pauses };
  const registered = isRegistered ? (['NeedsAttention'] as const) : [];
  const of = await figuresOf(
    { ledger, workflow: { count } },
    { registeredSearchAttributes: async () => registered, now: () => Date.now() + minutes * 60_000 },
  );
  assert.deepEqual([of('ledgerUp'), of('paused')], [{ '': 1 }, { '': 0 }]);
  const ages = Object.entries(aboveZero(of('oldestAge')) ?? {});
  return {
    counts: aboveZero(of('needsPerson')),
    minutes: Object.fromEntries(ages.map(([labels, seconds]) => [labels, Math.floor(seconds / 60)])),
    events: of('needsPerson')?.['runs WebhookFailed'],
  };
}

test('rows of the ledger are counted by kind and reason, with the age of the oldest', async (t) => {
  const outcomes = { 'journey-1': { state: 'unknown' }, 'journey-2': { state: 'refused' } } as const;
  const found = await countTasks(t, { outcomes });
  // The gateway posted nothing for the refused inquiry, but the list has its row.
  assert.deepEqual(found.counts, { 'held OutcomeUnknown': 1, 'held RequestRefused': 1 });
  assert.deepEqual(found.minutes, { 'held OutcomeUnknown': 20, 'held RequestRefused': 20 });
});

test('unmatched consents are counted by journey or share, with the age of the oldest', async (t) => {
  const outcomes = { 'journey-1': { state: 'notSent' } } as const;
  const kept = [
    consentOf({ journeyId: 'J-GONE' }),
    consentOf({ journeyId: 'J-GONE', consentId: 'C-2', decision: 'denied' }),
    consentOf({ journeyId: '1', shareId: 'S-TYPO' }),
  ];
  const found = await countTasks(t, { outcomes, kept, minutes: 90 });
  assert.deepEqual(found.counts, { 'unmatched journey': 2, 'unmatched share': 1 });
  assert.deepEqual(found.minutes, { 'unmatched journey': 90, 'unmatched share': 90 });
});

test('runs without a row are counted, and keep their figure while the server does not answer', async (t) => {
  assert.deepEqual((await countTasks(t, { givenUp: 3 })).counts, { 'runs WebhookFailed': 3, 'runs LedgerChanged': 1 });
  assert.equal((await countTasks(t, { givenUp: undefined })).events, undefined);
  assert.equal((await countTasks(t, { givenUp: undefined, isRegistered: false })).events, 0);
});
