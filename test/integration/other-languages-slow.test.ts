/** The examples of docs/integrating.md that need no build, run as they are. Java: `npm run examples`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { toUpdateId } from '../../src/client/connection/run-messages.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { JourneyResult, RecordedConsent } from '../../src/messages/journey/shapes.ts';
import { findRuns } from '../../src/operator/disposal.ts';
import { wasEncrypted } from '../../src/protection/payloads/payload-codec.ts';
import { consentMessage, type JourneyHandle, untilStatus } from '../support/journey-harness.ts';
import { example, type KeylessWorld, sharedJourney, startKeylessWorld } from '../support/keyless-callers.ts';
import { until } from '../support/process-world.ts';
import { pythonPackages } from '../support/python.ts';

const run = promisify(execFile);

let world: KeylessWorld;
const closers: (() => unknown)[] = [];
before(async () => {
  world = await startKeylessWorld({ after: (close) => closers.unshift(close as () => unknown) });
});
after(async () => {
  for (const close of closers) await close();
});

async function signalsOf(handle: Pick<JourneyHandle, 'fetchHistory'>): Promise<boolean[]> {
  const { events } = await handle.fetchHistory();
  const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? []);
  return signals.map(({ input }) => wasEncrypted(input?.payloads?.[0]));
}

test('a caller in Python with a token and no key starts a journey, sends consent and reads its result', async () => {
  const { journey, journeyFile, consentFiles } = await sharedJourney(world);
  const [first = '', second = ''] = consentFiles;
  const running = python('run_journey.py', journeyFile, first);
  const { connection, options } = world.harness.client;
  const handle = world.harness.client.workflow.getHandle(`journey-${journey.journeyId}`) as JourneyHandle;
  const hasStarted = () =>
    handle.describe().then(
      () => true,
      () => false,
    );
  await Promise.race([until('it has started', hasStarted), running]);
  // A grant does not count in the clear, although its ids are opaque.
  const plain = new Client({ connection, namespace: options.namespace }).workflow.getHandle(handle.workflowId);
  const grant = JSON.parse(readFileSync(second, 'utf8')) as ConsentMessage;
  await plain.signal('consent', grant);
  await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal === 1);
  await handle.signal('consent', grant);

  const { stdout } = await running;
  const { answer, result } = JSON.parse(stdout) as { answer: UpdateAnswer; result: JourneyResult };
  assert.equal(answer.accepted, true);
  assert.equal(answer.duplicate, false);
  assert.equal(result.outcome, 'completed');
  assert.equal(result.shares[0]?.state, 'posted');
  assert.deepEqual((await signalsOf(handle)).toSorted(), [false, true, true]);
  const { events } = await handle.fetchHistory();
  const [started] = events ?? [];
  assert.ok(wasEncrypted(started?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]));

  // A consent after the end of the journey reaches the ledger, under an id by which disposal finds it.
  const revocation = consentMessage(journey.journeyId, { applicantId: '1A', decision: 'revoked' });
  const file = await world.put('revocation.json', revocation);
  assert.equal((await python('send_consent.py', file)).stdout, 'recorded\n');
  const lateRuns = async () => {
    const { open, closed } = await findRuns(world.harness.client, journey.journeyId, []);
    return [...open, ...closed].filter(({ workflowId }) => workflowId.startsWith('late-consent-'));
  };
  await until('it is listed', async () => (await lateRuns()).length > 0);
  const [late] = await lateRuns();
  assert.ok(late);
  const recorded = await world.harness.client.workflow.getHandle(late.workflowId).result();
  const { stands, ...rest } = recorded as RecordedConsent;
  assert.deepEqual(rest, { duplicate: false, postedSharesFlagged: 1 });
  assert.deepEqual([stands.decision, stands.changed], ['revoked', true]);
});

test('a caller in Python that sends other content under the same key gets an error that names the difference', async () => {
  const { journey, journeyFile } = await sharedJourney(world);
  const handle = await world.harness.start(journey);
  const { journeyId, applicants } = journey;
  const advance = { journeyId, to: 'PREAPP', applicants } as const;
  const updateId = toUpdateId(MESSAGES.advance.toKey('advance', advance));
  await handle.executeUpdate('advance', { updateId, args: [advance] });
  await assert.rejects(python('run_journey.py', journeyFile), (error: { stderr?: string }) => {
    assert.match(error.stderr ?? '', /advance to PREAPP was accepted before with other content: \/applicants differs/);
    return true;
  });
  await handle.terminate('the test is over');
});

test('a caller without an open journey learns whether its consent was recorded, kept or refused', async () => {
  const journeyId = `J-${randomUUID().slice(0, 8)}`;
  const consent = consentMessage(journeyId, { applicantId: '1A', decision: 'revoked' });
  const [good, misspelt] = [
    await world.put('unknown.json', consent),
    await world.put('misspelt.json', { ...consent, decision: 'revoke' }),
  ];
  const kept = await python('send_consent.py', good);
  assert.equal(kept.stdout, 'kept: the ledger does not know this journey\n');
  await assert.rejects(python('send_consent.py', misspelt), /refused: .*decision/);
});

async function python(program: string, ...args: string[]): Promise<{ stdout: string }> {
  const pinned = readFileSync(example('python/requirements.txt'), 'utf8').trim().split('\n');
  const PYTHONPATH = await pythonPackages(...pinned);
  const env = { ...process.env, ...world.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' };
  return run('python3', [example(`python/${program}`), ...args], { env, timeout: 60_000 });
}
