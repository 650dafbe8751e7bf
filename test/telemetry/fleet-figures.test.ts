/** What every worker reads alike: of a ledger that was put back, queues that wait, keys that grow old, a server that fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchFleetFigures } from '../../src/worker/worker-telemetry.ts';
import { aboveZero, recordMetrics } from './recorded-metrics.ts';

type Figures = Parameters<typeof watchFleetFigures>[0];

const DAY_MS = 24 * 60 * 60 * 1000;

/** What was put into which metric, in one round. */
async function figuresOf(parts: Partial<Record<'ledger' | 'workflow' | 'workflowService' | 'keys', object>>) {
  const end = new AbortController();
  const { metrics, of } = recordMetrics();
  const figures = {
    ledger: {
      work: { counts: async () => [] },
      consents: { unmatched: async () => [] },
      pauses: { list: async () => [] },
      restoreState: async () => ({}),
      ...parts.ledger,
    },
    client: {
      workflow: { count: async () => ({ count: 0 }), ...parts.workflow },
      workflowService: { describeTaskQueue: async () => ({}), ...parts.workflowService },
      options: { namespace: 'default' },
    },
    keys: { ring: { keys: [], ...parts.keys } },
    ...{ taskQueue: 'q', profiles: ['default', 'east'], metrics, everyMs: 60_000, signal: end.signal },
    knows: async () => true,
  } as unknown as Figures;
  const watching = watchFleetFigures(figures);
  await new Promise((resolve) => setTimeout(resolve, 50));
  end.abort();
  await watching;
  return of;
}

test('an older copy of the ledger, and how long each current key may still encrypt', async () => {
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

test('tasks are added up by what their queue is for', async () => {
  const backlogs: Record<string, number> = { q: 3, 'q-gateway-default': 5, 'q-gateway-east': 7, 'q-webhooks': 2 };
  const describeTaskQueue = async ({ taskQueue }: { taskQueue: { name: string } }) => ({
    stats: { approximateBacklogCount: backlogs[taskQueue.name] ?? assert.fail(taskQueue.name) },
  });
  const of = await figuresOf({ workflowService: { describeTaskQueue } });
  // Workflow tasks and activities of the first queue.
  assert.deepEqual(of('taskBacklog'), { journeys: 6, gateway: 12, webhooks: 2 });
});

test('what cannot be read stands as it was, and nothing else with it', async () => {
  const away = async () => {
    throw new Error('the server does not answer');
  };
  const of = await figuresOf({ workflow: { count: away }, workflowService: { describeTaskQueue: away } });
  assert.deepEqual([of('runningRuns'), of('taskBacklog'), of('temporalUp')], [undefined, undefined, { '': 0 }]);
  assert.deepEqual([aboveZero(of('needsPerson')), of('ledgerOlderCopy')], [{}, { '': 0 }]);
});
