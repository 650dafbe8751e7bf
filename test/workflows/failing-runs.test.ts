/** A run whose workflow tasks fail is shown by doctor and the metrics until it continues. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client, ServiceError } from '@temporalio/client';
import { failingRunsCheck } from '../../src/doctor/temporal-checks.ts';
import type { KeyRingContent } from '../../src/protection/keys/key-ring.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { countFailingRuns } from '../../src/temporal/failing-runs.ts';
import { until } from '../hazards/operator-hands.ts';
import { type Harness, type JourneyHandle, journeyInput, startHarness } from '../support/journey-harness.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: { PAYLOAD_ENCRYPTION: 'on' } });
});
after(() => harness?.close());

/** Reads doctor's status and the value of the metric `failing_runs`. */
async function shown() {
  const { client, config } = harness;
  const context = { config, temporal: async () => client } as Parameters<typeof failingRunsCheck.run>[0];
  const check = await failingRunsCheck.run(context, new AbortController().signal);
  return { doctor: check.status, metric: await countFailingRuns(client, config.taskQueue) };
}

/** Starts a journey whose input is encrypted with a key that the worker gets later. */
async function startUnderForeignKey(file: string): Promise<JourneyHandle> {
  const { connection, options } = harness.client;
  const { namespace } = options;
  const dataConverter = createDataConverter({ keys: await createKeyRing(file), namespace, mode: 'client' });
  const foreign = new Client({ connection, namespace, dataConverter });
  const input = journeyInput({ stages: ['PREQUAL'] });
  const handle = await foreign.workflow.start('lendingJourney', {
    ...{ workflowId: `journey-${input.journeyId}`, taskQueue: harness.config.taskQueue, args: [input] },
  });
  return handle as unknown as JourneyHandle;
}

async function addKeys(from: string, to: string): Promise<void> {
  const [found, ring] = await Promise.all(
    [from, to].map(async (file) => JSON.parse(await readFile(file, 'utf8')) as KeyRingContent),
  );
  for (const key of found?.keys ?? []) {
    ring?.keys.push({ ...key, status: 'retired', retiredAt: new Date().toISOString() });
  }
  await writeFile(to, JSON.stringify(ring), { mode: 0o600 });
}

test('doctor and the metric show a run whose workflow tasks fail, until it continues', async () => {
  const { config, dataDir } = harness;
  assert.deepEqual(await shown(), { doctor: 'pass', metric: 0 });
  const foreignFile = join(dataDir, 'foreign-keys.json');
  const handle = await startUnderForeignKey(foreignFile);
  const isListed = async () => (await countFailingRuns(harness.client, config.taskQueue)) === 1;
  await until(isListed, 'the server lists the run');
  assert.deepEqual(await shown(), { doctor: 'warn', metric: 1 });
  await addKeys(foreignFile, config.keyRingFile);
  await until(async () => (await handle.describe()).status.name === 'COMPLETED', 'the run goes on');
  await until(async () => !(await isListed()), 'the server lists it no longer');
  assert.deepEqual(await shown(), { doctor: 'pass', metric: 0 });
});

test('doctor says that it cannot find failing runs if the server does not know the search attribute', async () => {
  const cause = Object.assign(new Error('3 INVALID_ARGUMENT'), { code: 3, details: '', metadata: {} });
  const refused = new ServiceError('Failed to count workflows', { cause });
  const client = { workflow: { count: () => Promise.reject(refused) } };
  const context = { config: harness.config, temporal: async () => client };
  const found = await failingRunsCheck.run(context as never, new AbortController().signal);
  assert.equal(found.status, 'warn');
  assert.match(found.detail, /does not report/);
});
