/** Clients that hold no key, at workers that encrypt: they refuse before they send anything in the clear. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCli } from '../cli/run-cli.ts';
import { storedEvents } from '../support/clear-client.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';

let harness: Harness;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credit-journey-keyless-'));
  harness = await startHarness({ env: { PAYLOAD_ENCRYPTION: 'on' } });
});

after(async () => {
  await harness?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A command in a folder without a key ring. */
async function start(journeyId: string, env: Record<string, string>) {
  const { temporal, taskQueue } = harness.config;
  const { address: TEMPORAL_ADDRESS, namespace: TEMPORAL_NAMESPACE } = temporal;
  return runCli(['start', '--sample', '--journey-id', journeyId], {
    env: { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TASK_QUEUE: taskQueue, ...env },
    cwd: folder,
  });
}

describe('a client without keys and without a codec server', () => {
  for (const [what, env] of [
    ['that is told to encrypt', { PAYLOAD_ENCRYPTION: 'on' }],
    ['that is told nothing', { PAYLOAD_ENCRYPTION: '' }],
    ['whose key ring is not there', { PAYLOAD_ENCRYPTION: 'on', KEY_RING_FILE: 'keys.json' }],
  ] as const)
    test(`starts nothing, and names the variables to set: a client ${what}`, async () => {
      const journeyId = `T-${what.replaceAll(' ', '-')}`;
      const { code, stderr } = await start(journeyId, env);
      assert.equal(code, 2, stderr);
      const { error } = JSON.parse(stderr) as {
        error: { type: string; problems: { variable: string; rule: string }[] };
      };
      assert.equal(error.type, 'invalidConfiguration');
      assert.deepEqual(
        error.problems.map(({ variable }) => variable),
        ['CODEC_SERVER_URL'],
      );
      assert.match(error.problems[0]?.rule ?? '', /KEY_RING_FILE.*PAYLOAD_ENCRYPTION/);
      assert.deepEqual(await storedEvents(harness, `journey-${journeyId}`), []);
    });
});
