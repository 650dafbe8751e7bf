/** The first screen with ten thousand open holds and no worker, on both database engines. `bench/api` measures it. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import type { CreditJourneys } from '../../../src/client.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { openKeyRing } from '../../../src/protection/keys/key-ring.ts';
import { connectTo } from '../../support/harness-client.ts';
import { type Harness, startHarness } from '../../support/journey-harness.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startTestApi, token } from '../fixtures.ts';

const OPEN = 10_000;

/** As many holds were closed. Every fourth is of EU2, of the profile `east`. */
const ROWS = [
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${OPEN * 2})
   INSERT INTO inquiries (customer_trace_number, environment, profile, customer_id, workflow_type, run_key, product_code,
     ordinal, end_user_code, created_at)
   SELECT 'N' || i, 'sandbox', CASE WHEN i % 4 = 0 THEN 'east' ELSE 'default' END, 'C1', 'lendingJourney', 'J-' || i, 'PREQUAL',
     0, CASE WHEN i % 4 = 0 THEN 'EU2' ELSE 'EU1' END, i FROM n`,
  `INSERT INTO attempts (customer_trace_number, attempt, position, state, claimed_at, answer_by, workflow_id, run_id, failure_type)
   SELECT customer_trace_number, 1, created_at, 'unknown', created_at, created_at, 'w', 'r', 'OutcomeUnknown' FROM inquiries`,
  `INSERT INTO operator_tasks (work_id, run_key, kind, reason, since, profile, end_user_code, product_code,
     customer_trace_number, attempt, held_since, closed_at, closed_how)
   SELECT 'w' || created_at, run_key, 'held', CASE WHEN created_at % 2 = 0 THEN 'OutcomeUnknown' ELSE 'GatewayUnreachable' END,
     created_at, profile, end_user_code, product_code, customer_trace_number, 1, created_at,
     CASE WHEN created_at > ${OPEN} THEN created_at END, CASE WHEN created_at > ${OPEN} THEN 'ended' END FROM inquiries`,
];

async function filled(url: string): Promise<void> {
  if (url.startsWith('file:')) {
    const database = new DatabaseSync(url.slice('file:'.length));
    for (const row of ROWS) database.exec(row);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const row of [...ROWS, 'ANALYZE']) await client.query(row);
  await client.end();
}

/** Counts the queries to workers. */
function questionsTo(client: ReturnType<CreditJourneys['getSdkClient']>): () => number {
  let asked = 0;
  const service = client.workflowService;
  for (const name of ['queryWorkflow', 'updateWorkflowExecution', 'signalWorkflowExecution'] as const) {
    const original = service[name].bind(service) as (...args: unknown[]) => unknown;
    Object.assign(service, {
      [name]: (...args: unknown[]) => {
        asked += 1;
        return original(...args);
      },
    });
  }
  return () => asked;
}

async function check(harness: Harness): Promise<void> {
  const { config } = harness;
  // A worker creates the ledger.
  await harness.startWorker();
  await harness.stopWorker();
  await filled(config.ledger.url);
  const opening = async () =>
    openLedger({
      ...{ url: config.ledger.url, environment: config.environment, create: false },
      keyRing: await openKeyRing({ ...config, keyRingMayBeMade: false }),
    });
  const journeys = await connectTo(harness, { openLedger: opening });
  const asked = questionsTo(journeys.getSdkClient());
  const api = await startTestApi(harness, { journeys });
  try {
    const narrow = await token({ profiles: ['default'], endUsers: ['EU1'] });
    const readers: [who: string, bearer: string, own: number, second: string][] = [
      ['everything', await token(), OPEN, 'J-2'],
      ['one profile and end user', narrow, (OPEN * 3) / 4, 'J-2'],
      ['another', await token({ profiles: ['east'], endUsers: ['EU2'] }), OPEN / 4, 'J-8'],
    ];
    for (const [who, bearer, own, second] of readers) {
      const page = await api.call('/v1/holds?limit=50', { token: bearer });
      const counts = await api.call('/v1/holds/counts', { token: bearer });
      const { data: holds, next } = page.json;
      assert.deepEqual([holds.length, holds[1].runKey, typeof next], [50, second, 'string'], who);
      assert.ok(holds.every(({ guide }: { guide: { actions: object[] } }) => guide.actions.length > 0));
      const total = counts.json.counts.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
      assert.equal(total, own, who);
      const after = await api.call(`/v1/holds?limit=50&after=${next}`, { token: bearer });
      const both = new Set([...holds, ...after.json.data].map(({ holdId }: { holdId: string }) => holdId));
      assert.equal(both.size, 100, 'no row is on two pages');
    }
    assert.equal(asked(), 0, 'no worker is asked anything');
    assert.deepEqual(api.unexpected, []);
  } finally {
    await api.close();
    await journeys.close().catch(() => {});
  }
}

test('with SQLite, every reader gets the first screen, and no worker is queried', async () => {
  const harness = await startHarness({ withoutWorker: true });
  await check(harness).finally(() => harness.close());
});

test('with PostgreSQL, every reader gets the first screen, and no worker is queried', async () => {
  const server = await startPostgres();
  const harness = await startHarness({
    withoutWorker: true,
    env: { LEDGER_URL: await server.url('first_screen') },
  });
  await check(harness).finally(async () => {
    await harness.close();
    await server.stop();
  });
});
