import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CreditJourneys } from '../../src/client.ts';
import { type DevEnvironment, startDevEnvironment } from '../../src/local/dev/dev-environment.ts';
import { DEFAULT_DATA_DIR, readRunningDevVariables } from '../../src/local/dev/dev-variables.ts';
import { isPortFree } from '../../src/local/free-ports.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { journeyInput } from '../support/journey-harness.ts';
import { patiently } from '../support/patiently.ts';
import { temporaryDirectory } from './fake-programs.ts';

/** Chooses a port below the range of outgoing connections, so that it is free again for the second start. */
async function lowPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isPortFree(port)) return port;
  }
}

async function lowPorts() {
  return { temporalPort: await lowPort(), uiPort: await lowPort(), sandboxPort: await lowPort(), headless: true };
}

async function connect({ temporalAddress, namespace, taskQueue, variables }: DevEnvironment): Promise<CreditJourneys> {
  const keys = await loadKeyRing(variables.KEY_RING_FILE as string);
  return CreditJourneys.connect({
    address: temporalAddress,
    namespace,
    taskQueue,
    environment: 'sandbox',
    // Queries are not tested here, and the machine may be busy.
    queryTimeoutMs: 120_000,
    dataConverter: createDataConverter({ keys, namespace, mode: 'client' }),
  });
}

test('a development environment reports a killed worker, and its next start continues the journeys', async (t) => {
  const folder = await temporaryDirectory(t);
  const dataDir = join(folder, DEFAULT_DATA_DIR);
  const ports = await lowPorts();
  const first = await startDevEnvironment({ ...ports, dataDir });
  t.after(() => first.stop());
  await assert.rejects(startDevEnvironment({ headless: true, dataDir }), {
    name: 'DataDirectoryInUseError',
    message: new RegExp(`process ${process.pid} `),
  });

  // Commands in that folder read the variables in the same way.
  const found = readRunningDevVariables({}, folder);
  assert.deepEqual(found, first.variables);
  assert.equal(found.TEMPORAL_CONFIG_FILE, join(dataDir, 'temporal.toml'));

  const input = journeyInput();
  const journeys = await connect(first);
  t.after(() => journeys.close());
  const journey = await journeys.start(input);
  for await (const { state } of journey.watch()) if (state === 'waitingAtGate') break;

  const pid = first.worker.pid() as number;
  process.kill(pid, 'SIGKILL');
  assert.match(await first.broken, new RegExp(`^worker ${pid} was killed; its log: `));
  await first.stop();
  await assert.rejects(stat(first.envFile), { code: 'ENOENT' });
  assert.deepEqual(readRunningDevVariables({}, folder), {});

  const second = await startDevEnvironment({ ...ports, dataDir });
  t.after(() => second.stop());
  const again = await connect(second);
  t.after(() => again.close());
  for (const to of ['PREAPP', 'PRECLOSE'] as const) {
    await patiently((messageId) => again.get(input.journeyId).advance({ to }, { messageId }));
  }
  const result = await again.get(input.journeyId).result();
  assert.deepEqual(
    result.stages.map(({ state, attempts }) => [state, attempts]),
    [
      ['record', 1],
      ['record', 1],
      ['record', 1],
    ],
  );
  const order = { file: 'sample.csv', endUserCode: 'EU123', permissiblePurposeCode: '01' };
  const { record, badRows } = await (await again.start({ reviewId: 'R-SAMPLE', ...order })).result();
  assert.deepEqual([record, badRows], [4, 1], 'there is a portfolio to try');
  const authorization = `Bearer ${await readFile(second.apiTokenFile, 'utf8')}`;
  const references = await fetch(`${second.apiUrl}/v1/runs/${input.journeyId}/references`, {
    headers: { authorization: authorization.trim() },
  });
  const shown = (await references.json()) as { references: unknown[]; redacted: boolean };
  assert.deepEqual([shown.references.length, shown.redacted], [3, true], 'the API reads this ledger, masked');
  for (const file of ['env', 'keys.json', 'codec-audit.log', 'worker.log', 'temporal-server.log']) {
    assert.equal((await stat(`${dataDir}/${file}`)).mode & 0o077, 0, `${file} is its owner's alone`);
  }
});
