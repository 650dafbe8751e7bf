/** A run that continues as new is compared with a twin that gets the same messages and does not. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { eventsOf, resetTo } from '../hazards/operator-hands.ts';
import { floodWithNonsense, HANDS_OVER_SOON, handsOver } from '../support/floods.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { consentToShare, shareInput, startShare, untilShareIs } from '../support/share-scenarios.ts';
import { untilQuery } from '../support/until-query.ts';

interface Twin {
  harness: Harness;
  ledger: Ledger;
  /** Floods the run. One of the twins then continues as new. */
  flood(handle: JourneyHandle): Promise<void>;
}

const FLOOD = 110;
let leaving: Twin;
let staying: Twin;

async function startTwin(
  env: Record<string, string>,
  flood: (handle: JourneyHandle) => Promise<unknown>,
): Promise<Twin> {
  const harness = await startHarness({ env });
  return { harness, ledger: await openLedgerOf(harness), flood: async (handle) => void (await flood(handle)) };
}

before(async () => {
  [leaving, staying] = await Promise.all([
    startTwin(HANDS_OVER_SOON, handsOver),
    startTwin({}, (handle) => floodWithNonsense(handle, FLOOD)),
  ]);
});
after(async () => {
  for (const twin of [leaving, staying]) {
    await twin?.ledger.close();
    await twin?.harness.close();
  }
});

const share = { shareId: 'S1', endUserCode: 'EU999' };
const two = () => [applicant('1A'), applicant('2A')];
const withdrawal = { by: 'test', reason: 'done' };

/** Returns a handle of the latest run, since the handle of a start follows the chain only for `result`. */
async function started({ harness }: Twin, overrides: Partial<LendingJourneyInput>) {
  const input = journeyInput({ stages: ['PREQUAL'], ...overrides });
  const { workflowId } = await harness.start(input);
  const handle = harness.client.workflow.getHandle(workflowId) as JourneyHandle;
  return { input, journeyId: input.journeyId, handle };
}

async function decide(handle: JourneyHandle, owner: object, decision: object = {}): Promise<UpdateAnswer> {
  const { holds } = await untilQuery<JourneyStatus>(handle, (status) => status.holds.length > 0);
  const { customerTraceNumber, attempts: attempt } = holds[0] ?? {};
  return update(handle, 'resolveInquiry', {
    ...{ ...owner, customerTraceNumber, attempt, decisionId: 'D1', action: 'abandon', providerSaid: 'notPosted' },
    ...{ by: 'operator', reason: 'asked the provider', ...decision },
  });
}

interface Row {
  name: string;
  /** Returns the run and further values to compare. */
  play(twin: Twin): Promise<{ handle: JourneyHandle; runKey: string; seen?: unknown }>;
}

const ROWS: readonly Row[] = [
  {
    name: 'a journey with a held share that accepts further shares has the same search attributes',
    async play(twin) {
      const { handle, journeyId } = await started(twin, {
        ...{ applicants: [applicant('1A', newSsn('9001'))], shares: [share], sharesOpenFor: 'P1D' },
      });
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
      await untilStatus(handle, ({ state }) => state === 'held');
      await twin.flood(handle);
      await decide(handle, { journeyId });
      await untilStatus(handle, ({ shares }) => shares[0]?.state === 'abandoned');
      const { searchAttributes } = await handle.describe();
      await update(handle, 'withdraw', { journeyId, ...withdrawal });
      return { handle, runKey: journeyId, seen: searchAttributes.JourneyStage };
    },
  },
  {
    name: 'a journey whose consent the ledger has refused notes the refusal once',
    async play(twin) {
      const { input, journeyId, handle } = await started(twin, { applicants: two(), shares: [share] });
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      const grant = consentMessage(journeyId, { applicantId: '1A', consentId: 'C1' });
      await update(handle, 'recordConsent', grant);
      await update(handle, 'withdraw', { journeyId, ...withdrawal });
      await handle.result();
      await twin.harness.start(input);
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      // The ledger knows the grant of the earlier start, and the run does not.
      const decidedAt = new Date(Date.now() - 60_000).toISOString();
      await handle.signal('consent', { ...grant, decidedAt });
      await untilStatus(handle, ({ refusedMessages }) => refusedMessages.some(({ consentId }) => consentId === 'C1'));
      await twin.flood(handle);
      const denial = consentMessage(journeyId, { applicantId: '2A', consentId: 'C2', decision: 'denied' });
      await update(handle, 'recordConsent', denial);
      return { handle, runKey: journeyId };
    },
  },
  {
    name: 'a journey that waits at a gate acts the same on a consent, a refused message and an advance',
    async play(twin) {
      const { handle, journeyId } = await started(twin, {
        ...{ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'], applicants: two(), shares: [share] },
      });
      await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
      await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A', consentId: 'C1' }));
      await update(handle, 'advance', { journeyId, to: 'PRECLOSE' });
      await twin.flood(handle);
      await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [applicant('2A'), applicant('3A')] });
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      await twin.flood(handle);
      for (const applicantId of ['2A', '3A']) {
        await update(
          handle,
          'recordConsent',
          consentMessage(journeyId, { applicantId, consentId: `C-${applicantId}` }),
        );
      }
      return { handle, runKey: journeyId };
    },
  },
  {
    name: 'a pull that is held twice has the same result',
    async play(twin) {
      const input = reportPull('1422');
      const { workflowId } = await startPull(twin.harness, input);
      const handle = twin.harness.client.workflow.getHandle(workflowId) as JourneyHandle;
      const { pullId } = input;
      await decide(handle, { pullId }, { action: 'amend', applicants: [applicant('1A', newSsn('1422'))] });
      await untilStatus(handle, ({ holds }) => holds[0]?.customerTraceNumber.endsWith('01') === true);
      await twin.flood(handle);
      await decide(handle, { pullId }, { decisionId: 'D2', action: 'amend', applicants: [applicant('1A')] });
      return { handle, runKey: `pull:${pullId}` };
    },
  },
  {
    name: 'a share by itself that waits and is held has the same result',
    async play(twin) {
      const { handle, shareId } = await heldShare(twin, () => twin.flood);
      await twin.flood(handle);
      await decide(handle, { shareId });
      return { handle, runKey: `share:${shareId}` };
    },
  },
];

async function heldShare(twin: Twin, whileItWaits?: () => Twin['flood']) {
  const pull = reportPull('9001');
  await (await startPull(twin.harness, pull)).result();
  const input = shareInput({ pullId: pull.pullId, productCode: 'CR' });
  const { workflowId } = await startShare(twin.harness, input);
  const handle = twin.harness.client.workflow.getHandle(workflowId) as JourneyHandle;
  await untilShareIs(handle, 'waitingForConsent');
  await whileItWaits?.()(handle);
  await handle.signal('consent', consentToShare(input.shareId, 'granted'));
  await untilShareIs(handle, 'held');
  return { handle, shareId: input.shareId };
}

/** Twins have different numbers, which are replaced by their positions. Of instants and sums only the keys count. */
const NUMBERS = /"(customerTraceNumber|reportReferenceNumber|consumerId|runKey)":"([^"]+)"/g;

function comparable(answer: unknown, runKey: string): unknown {
  let text = JSON.stringify(answer).replace(/"(\d{4}-\d\d-\d\dT[^"]*|[\d.]+)"/g, '"value"');
  const numbers = new Set([...text.matchAll(NUMBERS)].map(([, , number = '']) => number));
  for (const [index, number] of [...numbers].entries()) text = text.replaceAll(number, `number ${index}`);
  return JSON.parse(text.replaceAll(runKey.split(':').at(-1) ?? '', 'id'));
}

async function outcomeOf(twin: Twin, { play }: Row): Promise<unknown> {
  const { handle, runKey, seen } = await play(twin);
  const result = await handle.result();
  const [status, references] = [await statusOf(handle), await handle.query('references')];
  const inquiries = (await twin.ledger.inquiriesOf(runKey)).map(({ productCode, attempts, decisions }) => ({
    productCode,
    attempts: attempts.map(({ attempt, state }) => [attempt, state]),
    decisions: decisions.map(({ decisionId, action, reason }) => [decisionId, action, reason]),
  }));
  return comparable({ result, status, references, inquiries, seen: seen ?? null }, runKey);
}

describe('a run that continues as new acts like the same run without it', { concurrency: 3 }, () => {
  for (const row of ROWS) {
    test(row.name, async () => {
      const [left, stayed] = await Promise.all([outcomeOf(leaving, row), outcomeOf(staying, row)]);
      assert.deepEqual(left, stayed);
    });
  }
});

test('a decision in the first workflow task after a continue-as-new is accepted once and answered', async () => {
  const { harness, ledger } = leaving;
  const journey = await started(leaving, { applicants: [applicant('1A', newSsn('4002'))] });
  const pull = reportPull('4002');
  const { workflowId } = await startPull(harness, pull);
  const pulled = harness.client.workflow.getHandle(workflowId) as JourneyHandle;
  const shared = await heldShare(leaving);
  const runs = [
    { handle: journey.handle, owner: { journeyId: journey.journeyId }, runKey: journey.journeyId },
    { handle: pulled, owner: { pullId: pull.pullId }, runKey: `pull:${pull.pullId}` },
    { handle: shared.handle, owner: { shareId: shared.shareId }, runKey: `share:${shared.shareId}` },
  ];
  const held = await Promise.all(
    runs.map(async (run) => {
      await untilQuery<JourneyStatus>(run.handle, ({ holds }) => holds.length > 0);
      const { after: runId } = await handsOver(run.handle);
      const { holds } = await untilQuery<JourneyStatus>(run.handle, (status) => status.holds.length > 0);
      const bound = harness.client.workflow.getHandle(run.handle.workflowId, runId) as JourneyHandle;
      const first = (await eventsOf(bound)).find((event) => event.workflowTaskCompletedEventAttributes);
      return { ...run, runId, hold: holds[0], first: first?.eventId ?? assert.fail() };
    }),
  );
  await harness.stopWorker();
  // The next run is reset while no worker runs, so messages that are sent now are in its first workflow task.
  const answers = held.map(async ({ handle, runId, owner, hold, first }) => {
    await resetTo(harness, handle, first, { runId });
    const { customerTraceNumber, attempts: attempt } = hold ?? {};
    const decision = {
      ...{ ...owner, customerTraceNumber, attempt, decisionId: 'D1', action: 'abandon', providerSaid: 'notPosted' },
      ...{ by: 'operator', reason: 'asked the provider' },
    };
    return Promise.all([1, 2].map(() => update(handle, 'resolveInquiry', decision)));
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await harness.startWorker();
  for (const [index, { handle, runKey }] of held.entries()) {
    const both = (await answers[index]) ?? [];
    assert.deepEqual(both.map(({ accepted, duplicate }) => [accepted, duplicate]).sort(), [
      [true, false],
      [true, true],
    ]);
    assert.equal(((await handle.result()) as { outcome: string }).outcome, 'abandoned');
    const decisions = (await ledger.inquiriesOf(runKey)).flatMap((inquiry) => inquiry.decisions);
    assert.deepEqual(
      decisions.map(({ decisionId, action }) => [decisionId, action]),
      [['D1', 'abandon']],
    );
  }
});
