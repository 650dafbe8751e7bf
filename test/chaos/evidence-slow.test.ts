/** Evidence is collected from real parts: a worker, the sandbox's journal, a ledger, histories. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { WATCH_LEDGER } from '../../src/messages/ledger-watch.ts';
import type { ResolveInquiryMessage } from '../../src/messages/resolve-inquiry.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { workflowBundle } from '../support/temporal.ts';
import { collectEvidence, type Evidence, type EvidenceSources } from './evidence.ts';
import { checkInvariants } from './invariants/check-invariants.ts';
import { historiesReplay } from './invariants/replays.ts';

let directory: string;
let harness: Harness;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-evidence-'));
  harness = await startHarness({
    env: { PAYLOAD_ENCRYPTION: 'on' },
    sandbox: { journalFile: join(directory, 'journal.jsonl') },
  });
});

after(async () => {
  await harness.close();
  await rm(directory, { recursive: true, force: true });
});

type Said = Pick<EvidenceSources, 'decisionsTaken' | 'consentsSent'>;

/** Posted, and shared once both consumers have agreed. */
async function playShared(): Promise<{ input: LendingJourneyInput } & Said> {
  const applicants = [applicant('1A', newSsn()), applicant('2A', newSsn())];
  const input = journeyInput({ stages: ['PREQUAL'], applicants, shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
  const handle = await harness.start(input);
  const messages = applicants.map(({ applicantId }) => consentMessage(input.journeyId, { applicantId }));
  const [first, second] = messages;
  assert.ok(first && second);
  const atMs = Date.now();
  await update(handle, 'recordConsent', first);
  await handle.signal('consent', 'nothing that can be a consent');
  await handle.signal('consent', second);
  await handle.result();
  return {
    input,
    decisionsTaken: [],
    consentsSent: [
      { atMs, message: first, acknowledgedAtMs: Date.now() },
      { atMs, message: second },
    ],
  };
}

/** The answer is lost after posting; where a person decides, once more. */
async function playLost(resend: boolean): Promise<{ input: LendingJourneyInput } & Said> {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] });
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  const message: ResolveInquiryMessage = {
    ...{ journeyId: input.journeyId, decisionId: 'D-1', customerTraceNumber: String(holds[0]?.customerTraceNumber) },
    ...{ attempt: 1, action: 'resend', by: 'operator', reason: 'asked the provider', providerSaid: 'notPosted' },
  };
  if (!resend) return { input, decisionsTaken: [], consentsSent: [] };
  const atMs = Date.now();
  await update(handle, 'resolveInquiry', message);
  await handle.result();
  return { input, decisionsTaken: [{ atMs, message }], consentsSent: [] };
}

async function collect(): Promise<Evidence> {
  const played = await Promise.all([playShared(), playLost(true), playLost(false)]);
  const { client, config } = harness;
  const keyRing = await openKeyRing(config);
  const ledgerUrl = `file:${join(harness.dataDir, 'ledger.db')}`;
  const ledger = await openLedger({ url: ledgerUrl, environment: 'sandbox', keyRing });
  const logFile = join(directory, 'worker.log');
  await writeFile(logFile, '{"msg":"the gateway has answered"}\n');
  try {
    return await collectEvidence({
      journalFiles: [join(directory, 'journal.jsonl')],
      ...{ ledger, ledgerUrl, client, taskQueue: config.taskQueue },
      plans: played.map(({ input }) => ({ journeyId: input.journeyId, input, mayWaitFor: [] })),
      decisionsTaken: played.flatMap(({ decisionsTaken }) => decisionsTaken),
      consentsSent: played.flatMap(({ consentsSent }) => consentsSent),
      logFiles: [logFile],
      sentinels: played.flatMap(({ input }) => input.applicants.map(({ ssn }) => ({ name: 'SSN', value: ssn }))),
      notProcessedStatuses: [401, 429],
      workflowBundle: await workflowBundle(),
      dataConverter: createDataConverter({ keys: keyRing, namespace: client.options.namespace, mode: 'worker' }),
    });
  } finally {
    await ledger.close();
  }
}

test('what sandbox, ledger and Temporal know is collected, and keeps every promise', async () => {
  const evidence = await collect();
  const { sandbox, ledger, runs } = evidence;
  const verdicts = await checkInvariants(evidence);
  assert.deepEqual(
    verdicts.flatMap(({ name, failures }) => failures.map((failure) => `${name}: ${failure}`)),
    [],
  );
  assert.deepEqual(
    { requests: sandbox.requests.length, postings: sandbox.postings.length, attempts: ledger.attempts.length },
    { requests: 5, postings: 5, attempts: 5 },
  );
  assert.ok(sandbox.connections.length > 0 && sandbox.listeningMs.length === 1);
  assert.equal(ledger.reports.filter(({ reportReferenceNumber }) => reportReferenceNumber).length, 3);
  const share = runs.flatMap(({ submissions }) => submissions).find(({ productCode }) => productCode === 'SECONDUSE');
  assert.deepEqual(
    { applicantIds: share?.applicantIds, consents: share?.consents.length },
    { applicantIds: ['1A', '2A'], consents: 2 },
  );
  // What cannot be decoded as a consent is none.
  assert.equal(runs.flatMap(({ consents }) => consents).length, 2);
  const checked = new Map(verdicts.map(({ name, count }) => [name, count]));
  // The worker's own watch of its ledger is a run of the task queue as well.
  assert.deepEqual(runs.map(({ workflowType }) => workflowType).sort(), [
    ...['lendingJourney', 'lendingJourney', 'lendingJourney'],
    WATCH_LEDGER,
  ]);
  assert.equal(checked.get(historiesReplay.name), 4);

  const journey = runs.find(({ workflowType }) => workflowType === 'lendingJourney');
  const scheduled = journey?.history.events?.find((event) => event.activityTaskScheduledEventAttributes);
  assert.ok(scheduled?.activityTaskScheduledEventAttributes?.activityType);
  scheduled.activityTaskScheduledEventAttributes.activityType.name = 'recordOutcome';
  const [verdict] = await checkInvariants(evidence, [historiesReplay]);
  assert.match(verdict?.failures.join() ?? '', /^journey-\S+ run \S+: DeterminismViolationError: /);
});
