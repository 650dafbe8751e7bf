/** Each invariant passes sound evidence, and finds its fault in doctored evidence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addPostingWithoutRecord,
  attemptOf,
  change,
  DOCTORED,
  pinTo,
  refuse,
  runOf,
  told,
  unhandledFailure,
  withoutConnections,
} from './doctored.ts';
import { checkInvariants, INVARIANTS } from './invariants/check-invariants.ts';
import * as consents from './invariants/consents.ts';
import { falseAlarms } from './invariants/false-alarms.ts';
import * as journeys from './invariants/journeys.ts';
import { nothingInLogs } from './invariants/logs.ts';
import { attemptsRunOnce } from './invariants/repeats.ts';
import { historiesReplay } from './invariants/replays.ts';
import { runsOnVersions } from './invariants/versions.ts';
import { eventsImpersonal } from './invariants/webhooks.ts';
import { withdrawnShares } from './invariants/withdrawals.ts';
import { noClaimByOlderWriter } from './invariants/writers.ts';
import { at, HELD, SSNS, soundEvidence } from './sound-evidence.ts';

test('a workflow task that failed while its worker was paused is no failure', async () => {
  const evidence = soundEvidence();
  runOf(evidence, 'J-SHARED').history = unhandledFailure(5_100);
  assert.deepEqual((await journeys.noStuckRun.judge(evidence)).failures, []);
});

test('a webhook event with a noRecordReference is no failure', async () => {
  const evidence = soundEvidence();
  const noRecordReference = addPostingWithoutRecord(evidence);
  change(evidence, told(0, { noRecordReference }));
  const { count, failures } = await eventsImpersonal.judge(evidence);
  assert.deepEqual({ count, failures }, { count: 3, failures: [] });
});

test('a date in a log that happens to have the digits of an SSN, reversed, is no failure', async () => {
  const evidence = soundEvidence();
  const time = `1795${[...SSNS['1A']].toReversed().join('')}`;
  evidence.logs.push({ name: 'worker-1.log', bytes: Buffer.from(`{"level":30,"time":${time},"msg":"ready"}`) });
  assert.deepEqual((await nothingInLogs.judge(evidence)).failures, []);
});

test('an attempt during which the wire’s own process was paused is a remark, not a failure', async () => {
  const evidence = soundEvidence();
  withoutConnections(evidence);
  const { claimedAtMs } = attemptOf(evidence, HELD, 1);
  evidence.sandbox.standstills = [{ fromMs: claimedAtMs, toMs: claimedAtMs + 1 }];
  const { failures, remark } = await falseAlarms.judge(evidence);
  assert.deepEqual(failures, []);
  assert.match(remark ?? '', /of 1 the wire cannot tell/);
});

test('sound evidence passes every invariant, and each invariant with something to check checks it', async () => {
  const verdicts = await checkInvariants(soundEvidence());
  const failures = verdicts.flatMap((verdict) => verdict.failures.map((failure) => `${verdict.name}: ${failure}`));
  assert.deepEqual(failures, []);
  const idle = verdicts.filter(({ count }) => count === 0).map(({ name }) => name);
  const notHere = [
    consents.refusalAfterPosting,
    withdrawnShares,
    attemptsRunOnce,
    historiesReplay,
    runsOnVersions,
    noClaimByOlderWriter,
  ];
  assert.deepEqual(
    idle,
    notHere.map(({ name }) => name),
  );
});

test('a pinned run may continue with another version if an operator moved it', async () => {
  const evidence = soundEvidence();
  pinTo(
    evidence,
    ['1', '2'],
    evidence.runs.map(({ workflowId }) => workflowId),
  );
  const [verdict] = await checkInvariants(evidence, [runsOnVersions]);
  assert.deepEqual(verdict?.failures, []);
  assert.equal(verdict?.count, evidence.runs.length);
});

test('a consent refusal counts from when the ledger first received it, also if a run receives it again', async () => {
  const evidence = soundEvidence();
  refuse(evidence, 'revoked', 'C-unknown', { decidedAtMs: at(1) });
  const [grant] = evidence.ledger.consents.filter(({ consentId }) => consentId === 'C-2A');
  assert.ok(grant);
  const row = { ...grant, consentId: 'C-unknown', decision: 'revoked' as const };
  evidence.ledger.consents.push({
    ...row,
    ...{ decidedAt: new Date(at(1)).toISOString(), receivedAt: new Date(at(1)).toISOString(), recordedAtMs: at(1) },
  });
  const [verdict] = await checkInvariants(evidence, [consents.standingConsent]);
  assert.deepEqual(verdict?.failures, []);
});

test('every invariant finds its fault in doctored evidence', async (t) => {
  for (const { caughtBy, as, doctor } of DOCTORED) {
    await t.test(`${as}: ${caughtBy.name}`, async () => {
      const evidence = soundEvidence();
      doctor(evidence);
      const [verdict] = await checkInvariants(evidence, [caughtBy]);
      assert.match(verdict?.failures.join('\n') ?? '', new RegExp(as));
    });
  }
});

test('every invariant has a counterexample', () => {
  const caught = new Set(DOCTORED.map(({ caughtBy }) => caughtBy));
  const missing = INVARIANTS.filter((invariant) => !caught.has(invariant)).map(({ name }) => name);
  assert.deepEqual(missing, [historiesReplay.name], 'histories are replayed below');
});

test('failures name ids and no personal data', async () => {
  for (const { doctor } of DOCTORED) {
    const evidence = soundEvidence();
    doctor(evidence);
    for (const { failures } of await checkInvariants(evidence)) {
      const told = failures.join('\n');
      for (const { value } of evidence.sentinels) assert.ok(!told.includes(value));
    }
  }
});
