/** Clients that hold no key, at workers that encrypt: they refuse before they send anything in the clear. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type CreditJourneys, KeysMissingError } from '../../src/client.ts';
import { runCli } from '../cli/run-cli.ts';
import { storedEvents } from '../support/clear-client.ts';
import { connectTo } from '../support/harness-client.ts';
import { consentMessage, type Harness, journeyInput, startHarness, untilStatus } from '../support/journey-harness.ts';

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
    test(`${what} starts nothing, and names the variables to set`, async () => {
      const journeyId = `T-${what.replaceAll(' ', '-')}`;
      const { code, stderr } = await start(journeyId, env);
      assert.equal(code, 2, stderr);
      const { error } = JSON.parse(stderr) as {
        error: { type: string; problems: { variable: string; rule: string }[] };
      };
      assert.equal(error.type, 'ConfigError');
      assert.deepEqual(
        error.problems.map(({ variable }) => variable),
        ['CODEC_SERVER_URL'],
      );
      assert.match(error.problems[0]?.rule ?? '', /KEY_RING_FILE.*PAYLOAD_ENCRYPTION/);
      assert.deepEqual(await storedEvents(harness, `journey-${journeyId}`), []);
    });
});

describe('a client whose encryption is off, where the runs of its task queue are encrypted', () => {
  let clear: CreditJourneys;
  const running = journeyInput({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });

  before(async () => {
    const handle = await harness.start(running);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    // Visibility is a moment late.
    const query = `TaskQueue = '${harness.config.taskQueue}'`;
    for (let seen = 0; seen === 0; ) for await (const _ of harness.client.workflow.list({ query })) seen++;
    clear = await connectTo(harness);
  });
  after(() => clear?.close());

  const isRefusal = (error: unknown) =>
    error instanceof KeysMissingError && /^nothing was sent.*CODEC_SERVER_URL.*KEY_RING_FILE/.test(error.message);

  test('starts nothing: no event holds the SSN', async () => {
    const input = journeyInput();
    await assert.rejects(clear.start(input), isRefusal);
    assert.deepEqual(await storedEvents(harness, `journey-${input.journeyId}`), []);
  });

  test('sends no message either', async () => {
    const { journeyId, applicants } = running;
    const journey = clear.get(journeyId);
    const { journeyId: _, ...grant } = consentMessage(journeyId, { applicantId: '1A' });
    const send = [
      () => journey.advance({ to: 'PREAPP', applicants }),
      () => journey.recordConsent(grant),
      () => journey.requestShare({ shareId: 'S2', endUserCode: 'EU777' }),
      () => journey.withdraw({ by: 'ops', reason: 'asked' }),
    ];
    for (const message of send) await assert.rejects(message, isRefusal);
    const ssn = applicants[0]?.ssn ?? assert.fail();
    assert.ok(!(await storedEvents(harness, `journey-${journeyId}`)).some((event) => event.includes(ssn)));
  });
});
