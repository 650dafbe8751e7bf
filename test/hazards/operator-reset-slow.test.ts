/** After `temporal workflow reset` the workflow has forgotten its actions, and the ledger has not. The gateway counts. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { deriveTraceNumber } from '../../src/model/trace-number.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { SHARE_SCENARIOS } from '../support/share-scenarios.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import {
  currentRun,
  decisionAbout,
  inquiriesOf,
  type ResetOptions,
  resetTo,
  taskBeforeSend,
  taskOfMessage,
  until,
  workflowTasksOf,
} from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
});
after(() => harness?.close());

const share = { shareId: 'S1', endUserCode: 'EU999' };

function oneStage(lastFour: string) {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

/** A journey that is held once; the decision ends it. */
async function playHeld(lastFour: string, decision: object): Promise<JourneyHandle> {
  const handle = await harness.start(oneStage(lastFour));
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  await update(handle, 'resolveInquiry', decisionAbout(status, decision));
  await handle.result();
  return handle;
}

/** Manual gates, a joint applicant, one share with two consents, by signal and by update. */
async function playInFull(): Promise<JourneyHandle> {
  const input = journeyInput({ applicants: [applicant('1A'), applicant('2A')], shares: [share] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  for (const to of ['PREAPP', 'PRECLOSE']) {
    await untilStatus(handle, ({ waitingFor }) => waitingFor === to);
    await update(handle, 'advance', { journeyId, to });
  }
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
  await handle.signal('consent', consentMessage(journeyId, { applicantId: '2A' }));
  await handle.result();
  return handle;
}

/** Resets a closed run to each of its workflow tasks in turn. `when` names the task. */
async function* resetToEach(handle: JourneyHandle, options: Pick<ResetOptions, 'forgetMessages'> = {}) {
  const { runId } = (await handle.describe()).raw.workflowExecutionInfo?.execution ?? {};
  for (const task of await workflowTasksOf(handle)) {
    const again = await resetTo(harness, handle, task, { ...options, runId: runId ?? '' });
    yield { again, when: `after a reset to event ${task}` };
  }
}

/** Resets the journey to each of its workflow tasks in turn. The result must be the same every time. */
async function resetToEveryTask(handle: JourneyHandle, resolve?: object): Promise<number> {
  const result = await handle.result();
  const received = await harness.received(handle);
  const posted = await harness.posted(handle);
  let resets = 0;
  for await (const { again, when } of resetToEach(handle)) {
    resets++;
    if (resolve) await decideWhereHeld(again, resolve);
    assert.deepEqual(await again.result(), result, when);
    assert.deepEqual(await harness.received(currentRun(harness, handle)), received, when);
  }
  assert.deepEqual(await harness.posted(currentRun(harness, handle)), posted);
  return resets;
}

/** A decision that is admitted again before there is a hold is refused: then the operator repeats it. */
async function decideWhereHeld(again: JourneyHandle, decision: object): Promise<void> {
  let status: JourneyStatus | undefined;
  await until(async () => {
    status = await statusOf(again);
    return !['running', 'waitingAtGate', 'waitingForConsent'].includes(status.state);
  }, 'neither held nor over');
  if (status?.state !== 'held') return;
  // The run may have accepted the old decision meanwhile, and have closed.
  await update(again, 'resolveInquiry', decisionAbout(status, decision)).catch(() => undefined);
}

describe('a closed journey that is reset to each of its workflow tasks', { concurrency: 8 }, () => {
  test('ends the same way and sends nothing: stages, gates, consents and a share', async (t) => {
    const handle = await playInFull();
    assert.equal((await harness.received(handle)).length, 4);
    t.diagnostic(`${await resetToEveryTask(handle)} resets`);
  });

  const cases: [what: string, lastFour: string, requests: number, decision: object][] = [
    ['an operator’s resend', '4001', 2, { action: 'resend' }],
    ['an amendment', '1422', 2, { action: 'amend', applicants: [applicant('1A')] }],
    ['an abandoned inquiry', '4002', 1, { action: 'abandon' }],
    [
      'an accepted answer',
      '4002',
      1,
      {
        action: 'accept',
        providerSaid: 'posted',
        outcome: 'record',
        reference: {
          reportReferenceNumber: 'RPT-FROM-PROVIDER',
          requestedAt: '2026-01-05T10:00:00Z',
          applicants: [{ applicantId: '1A', consumerId: 'CONSUMER1' }],
        },
      },
    ],
  ];
  for (const [what, lastFour, requests, decision] of cases) {
    test(`ends the same way and sends nothing: ${what}`, async (t) => {
      const handle = await playHeld(lastFour, decision);
      assert.equal((await harness.received(handle)).length, requests);
      t.diagnostic(`${await resetToEveryTask(handle, decision)} resets`);
    });
  }

  test('ends the same way and sends nothing: 401 and 429, each followed by a second attempt', async () => {
    for (const lastFour of ['3401', '3429']) {
      const handle = await harness.start(oneStage(lastFour));
      await handle.result();
      assert.equal((await harness.received(handle)).length, 2);
      await resetToEveryTask(handle);
    }
  });
});

describe('a running journey', { concurrency: 8 }, () => {
  test('that is reset to before the send while its request is in flight waits for the answer to that request', async () => {
    const handle = await harness.start(oneStage('4011'));
    await until(async () => (await harness.received(handle)).length === 1, 'nothing was received');
    const again = await resetTo(harness, handle, await taskBeforeSend(handle));
    const result = await again.result();
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal(result.stages[0]?.attempts, 1);
    assert.equal((await harness.received(again)).length, 1);
    const [inquiry] = await inquiriesOf(harness, result.journeyId);
    assert.deepEqual(
      inquiry?.attempts.map(({ state }) => state),
      ['answered'],
    );
  });

  test('that is reset to before a send whose answer was lost is held again, and sends nothing', async () => {
    const handle = await harness.start(oneStage('4002'));
    const first = await untilStatus(handle, ({ state }) => state === 'held');
    const again = await resetTo(harness, handle, await taskBeforeSend(handle));
    const second = await untilStatus(again, ({ state }) => state === 'held');
    assert.deepEqual(
      second.holds.map(({ since: _, ...hold }) => hold),
      first.holds.map(({ since: _, ...hold }) => hold),
    );
    assert.equal((await harness.received(again)).length, 1);
    await update(again, 'resolveInquiry', decisionAbout(second, { action: 'abandon', providerSaid: 'posted' }));
    assert.equal((await again.result()).outcome, 'abandoned');
    assert.equal((await harness.received(currentRun(harness, handle))).length, 1);
  });

  test('whose resend was lost as well sends nothing after a reset: the replayed decision permits no third attempt', async () => {
    // The gateway answers 503 each time, after which the request may have been posted.
    const handle = await harness.start(oneStage('1503'));
    const first = await untilStatus(handle, ({ state }) => state === 'held');
    await update(handle, 'resolveInquiry', decisionAbout(first));
    await untilStatus(handle, ({ holds }) => holds[0]?.attempts === 2);
    assert.equal((await harness.received(handle)).length, 2);

    const { runId } = (await handle.describe()).raw.workflowExecutionInfo?.execution ?? {};
    for (const task of [await taskOfMessage(handle, 'resolveInquiry'), await taskBeforeSend(handle)]) {
      const again = await resetTo(harness, handle, task, { runId: runId ?? '' });
      await untilStatus(again, ({ holds }) => holds[0]?.attempts === 2);
      assert.equal((await harness.received(again)).length, 2);
    }
    const again = currentRun(harness, handle);
    const spent = { ...decisionAbout(await statusOf(again)), attempt: 1 };
    await assert.rejects(update(again, 'resolveInquiry', spent), 'the first attempt has been decided about');
    await update(again, 'resolveInquiry', decisionAbout(await statusOf(again), { decisionId: 'D2' }));
    await untilStatus(again, ({ holds }) => holds[0]?.attempts === 3);
    assert.equal((await harness.received(again)).length, 3);
    await again.terminate();
  });

  test('that is reset to before a decision without its messages refuses a new one, and takes the ledger’s answer', async () => {
    const handle = await playHeld('4001', { action: 'resend' });
    const result = await handle.result();
    const task = await taskOfMessage(handle, 'resolveInquiry');
    const again = await resetTo(harness, handle, task, { forgetMessages: true });
    const status = await untilStatus(again, ({ state }) => state === 'held');
    // The run believes that attempt 1 was lost; the ledger knows that its resend was answered.
    const late = update(again, 'resolveInquiry', decisionAbout(status, { decisionId: 'D2' }));
    assert.match(await refusalOf(late), /by now its attempt 2 is answered/);
    assert.deepEqual(await again.result(), result);
    assert.equal((await harness.received(currentRun(harness, handle))).length, 2);
  });
});

describe('a journey whose first share is withdrawn, whose second is revoked, and whose third is posted', () => {
  const SHARES = [
    { shareId: 'S1', endUserCode: 'EU997' },
    { shareId: 'S2', endUserCode: 'EU998' },
    { shareId: 'S3', endUserCode: 'EU999' },
  ];

  const decidedAt = new Date(Date.now() - 60_000).toISOString();
  const evidence = { method: 'web', textVersion: 'v1', capturedAt: decidedAt, reference: 'doc-1' };

  /** The same content each time, so that a repeated grant is a duplicate. */
  function consentTo(journeyId: string, index: number, decision: 'granted' | 'revoked' = 'granted') {
    const { shareId = '', endUserCode = '' } = SHARES[index] ?? {};
    return consentMessage(journeyId, {
      applicantId: '1A',
      shareId,
      consentId: `C-${shareId}`,
      secondaryUser: { endUserCode },
      ...(decision === 'granted' ? { decision, decidedAt, evidence } : { decision }),
    });
  }

  /** Both refusals are acknowledged while the stage is held, before there is a report that could be shared. */
  async function play(): Promise<JourneyHandle> {
    const input = { ...oneStage('4001'), shares: SHARES };
    const { journeyId } = input;
    const handle = await harness.start(input);
    const held = await untilStatus(handle, ({ state }) => state === 'held');
    const refusals = [
      await update(handle, 'recordConsent', consentTo(journeyId, 0)),
      await update(handle, 'withdrawShare', { journeyId, shareId: 'S1', by: 'ops', reason: 'another was meant' }),
      await update(handle, 'recordConsent', consentTo(journeyId, 1)),
      await update(handle, 'recordConsent', consentTo(journeyId, 1, 'revoked')),
    ];
    assert.deepEqual(
      refusals.map(({ recorded }) => recorded),
      [true, true, true, true],
    );
    await update(handle, 'resolveInquiry', decisionAbout(held));
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await update(handle, 'recordConsent', consentTo(journeyId, 2));
    return handle;
  }

  /** A share that the run had begun to post, as far as it knew, shows the number that the claim refused. */
  const withoutNumber = ({ customerTraceNumber: _, ...share }: JourneyStatus['shares'][number]) => share;

  /** Sends again only the messages that the run waits for: the decision about its hold, and the grant of the third share. */
  async function answerWhatItAsks(again: JourneyHandle, journeyId: string): Promise<void> {
    await until(async () => {
      const status = await statusOf(again);
      const said =
        status.state === 'held'
          ? update(again, 'resolveInquiry', decisionAbout(status))
          : status.state === 'waitingForConsent' && update(again, 'recordConsent', consentTo(journeyId, 2));
      // The run may have ended meanwhile: the ledger knew the answer already.
      await Promise.resolve(said).catch(() => undefined);
      return (await again.describe()).status.name !== 'RUNNING';
    }, 'the journey did not end');
  }

  for (const forgetMessages of [false, true]) {
    const what = forgetMessages ? 'forgets its messages' : 'admits its messages again';
    test(`ends the same way and sends nothing after a reset that ${what}, to each of its workflow tasks`, async () => {
      const handle = await play();
      const result = await handle.result();
      const received = await harness.received(handle);
      assert.deepEqual(
        result.shares.map(({ state }) => state),
        ['withdrawn', 'revoked', 'posted'],
      );
      assert.equal(received.length, 3);
      for await (const { again, when } of resetToEach(handle, { forgetMessages })) {
        await answerWhatItAsks(again, result.journeyId);
        const { shares, stages } = await again.result();
        assert.deepEqual(shares.map(withoutNumber), result.shares.map(withoutNumber), when);
        assert.deepEqual(stages, result.stages, when);
        assert.deepEqual(await harness.received(again), received, when);
      }
    });
  }
});

describe('after a reset to each workflow task without its messages', () => {
  const BY = { by: 'ops', reason: 'the applicant has withdrawn' };
  const scenario = (name: string) => async () =>
    (await SHARE_SCENARIOS.find((found) => found.name === name)?.play(harness)) as JourneyHandle;

  const RUNS: Record<string, () => Promise<JourneyHandle>> = {
    'a share whose consent was denied': scenario('shareReport-denied'),
    'a share that was withdrawn': scenario('shareReport-withdrawn'),
    'a journey that was withdrawn at its gate': async () => {
      const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
      const handle = await harness.start(input);
      await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
      await update(handle, 'withdraw', { journeyId: input.journeyId, ...BY });
      await handle.result();
      return handle;
    },
    'a pull that was withdrawn before its second attempt': async () => {
      const input = reportPull();
      const { environment, profiles } = harness.config;
      const run = { environment, customerId: profiles.get('default')?.customerId ?? '' };
      const product = {
        workflowType: 'creditReport',
        runKey: `pull:${input.pullId}`,
        productCode: 'CR',
        ordinal: 0,
      } as const;
      const customerTraceNumber = deriveTraceNumber({ ...run, ...product });
      await harness.addFaults([{ customerTraceNumber, fault: 'status', status: 429, retryAfter: 12 }]);
      const handle = await startPull(harness, input);
      await until(async () => (await statusOf(handle)).waitingFor !== undefined, 'the pull does not wait');
      await update(handle, 'withdraw', { pullId: input.pullId, ...BY });
      await handle.result();
      return handle;
    },
  };

  /** A run that had begun to post, as far as it knew, shows the number that the claim refused. */
  const withoutNumbers = (result: object) =>
    JSON.parse(JSON.stringify(result, (name, value) => (name === 'customerTraceNumber' ? undefined : value)));

  /** A run that has forgotten its withdrawal waits at its gate again. The claim after the gate finds the withdrawal. */
  async function passGate(again: JourneyHandle): Promise<void> {
    let status = await statusOf(again);
    await until(async () => {
      status = await statusOf(again);
      return status.state === 'waitingAtGate' || (await again.describe()).status.name !== 'RUNNING';
    }, 'neither at the gate nor over');
    if (status.state !== 'waitingAtGate') return;
    await update(again, 'advance', { journeyId: status.journeyId, to: 'PREAPP' });
  }

  for (const [what, play] of Object.entries(RUNS)) {
    test(`${what} ends the same way, and nothing more is posted`, async () => {
      const handle = await play();
      const result = await handle.result();
      const count = async () => ((await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as []).length;
      const requests = await count();
      for await (const { again, when } of resetToEach(handle, { forgetMessages: true })) {
        await passGate(again);
        assert.deepEqual(withoutNumbers(await again.result()), withoutNumbers(result), when);
        assert.equal(await count(), requests, when);
      }
    });
  }
});
