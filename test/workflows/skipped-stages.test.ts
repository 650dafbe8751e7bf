/** Stages that are skipped, and stages that are pulled for an end user of their own. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { WorkflowUpdateStage } from '@temporalio/client';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { PassGateMessage } from '../../src/messages/advance.ts';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import { lendingJourney } from '../../src/messages/inputs/lending-journey.ts';
import type { StageStatus } from '../../src/messages/journey/shapes.ts';
import { checkAdvance, takeAdvance } from '../../src/workflows/journey/advances.ts';
import { Journey } from '../../src/workflows/journey/journey.ts';
import { inquiriesOf, resetTo, workflowTasksOf } from '../hazards/operator-hands.ts';
import { HANDS_OVER_SOON, handsOver } from '../support/floods.ts';
import {
  applicant,
  type Harness,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { decidedAbout, lockLedger, openLedgerOf } from '../support/ledger-access.ts';
import { runsSlowParts } from '../support/slow-parts.ts';

let harness: Harness;
let ledger: Ledger;
before(async () => {
  harness = await startHarness({ env: HANDS_OVER_SOON });
  ledger = await openLedgerOf(harness);
});
after(async () => {
  await ledger?.close();
  await harness?.close();
});

const who = { by: 'underwriting', reason: 'the first report will do' };
const skipOf = (journeyId: string): PassGateMessage => ({ journeyId, to: 'PRECLOSE', skip: 'PREAPP', ...who });
const NOW = new Date().toISOString();
const statesOf = (stages: readonly StageStatus[]) => stages.map(({ productCode, state }) => `${productCode} ${state}`);

async function currentDetailsOf(handle: { query<T>(name: string): Promise<T> }): Promise<string> {
  return (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

describe('a skip', () => {
  function journeyAt(...states: StageStatus['state'][]): Journey {
    const journey = new Journey(journeyInput());
    for (const [index, state] of states.entries()) Object.assign(journey.stages[index]?.status ?? {}, { state });
    return journey;
  }

  test('is accepted only for a stage with a gate that has not begun, before the stage that it advances to', () => {
    const cases: [Journey, object, RegExp | null][] = [
      [journeyAt('record'), {}, null],
      [journeyAt('pending'), {}, null],
      [journeyAt('record', 'running'), {}, /PREAPP has gone beyond its gate: running/],
      [journeyAt('record', 'record'), {}, /PREAPP has gone beyond its gate: record/],
      [journeyAt('pending'), { skip: 'PREQUAL', to: 'PREAPP' }, /PREQUAL begins by itself/],
      [journeyAt('record'), { skip: 'PRECLOSE' }, /\/skip must be a stage before/],
      [journeyAt('record'), { skip: 'PREAPP', to: 'PREAPP' }, /\/skip must be a stage before/],
      [
        new Journey(journeyInput({ stages: ['PREQUAL', 'PRECLOSE'] })),
        {},
        /\/skip names a stage that this journey leaves out/,
      ],
    ];
    for (const [journey, change, rule] of cases) {
      const objection = checkAdvance(journey, { ...skipOf('J'), ...change });
      if (rule) assert.match(objection?.reason ?? 'none', rule);
      else assert.equal(objection, null);
    }
  });

  test('is a duplicate if sent again, refused with another reason, and no later message pulls the stage', () => {
    const journey = journeyAt('record');
    takeAdvance(journey, { journeyId: 'J', to: 'PREAPP' }, NOW);
    takeAdvance(journey, { journeyId: 'J', repeat: 'PREAPP', occurrence: 2, ...who }, NOW);
    assert.equal(takeAdvance(journey, skipOf('J'), NOW), true);
    assert.equal(takeAdvance(journey, skipOf('J'), NOW), false);
    assert.deepEqual(statesOf(journey.stages.map(({ status }) => status)), [
      'PREQUAL record',
      'PREAPP skipped',
      'PREAPP skipped',
      'PRECLOSE pending',
    ]);
    assert.match(
      checkAdvance(journey, { ...skipOf('J'), reason: 'another' })?.reason ?? '',
      /skipping PREAPP was accepted before with other content: \/reason differs/,
    );
    assert.match(
      checkAdvance(journey, { journeyId: 'J', to: 'PREAPP' })?.reason ?? '',
      /gone beyond its gate: skipped/,
    );
    for (const occurrence of [2, 3]) {
      const repeat = { journeyId: 'J', repeat: 'PREAPP', occurrence, ...who } as const;
      assert.match(checkAdvance(journey, repeat)?.reason ?? '', /PREAPP is skipped/);
    }
    assert.equal(checkAdvance(journey, { journeyId: 'J', to: 'PRECLOSE' }), null, 'its gate part was accepted');
    assert.equal(takeAdvance(journey, { journeyId: 'J', to: 'PRECLOSE' }, NOW), false);
    assert.deepEqual(
      journey.toState().events.waiting?.map(({ type, data }) => [type, data]),
      [['stage.skipped', { stage: 'PREAPP' }]],
    );
  });

  test('is accepted after an early advance to the stage behind the skipped one', () => {
    const journey = journeyAt('running');
    assert.equal(takeAdvance(journey, { journeyId: 'J', to: 'PRECLOSE' }, NOW), true);
    assert.equal(checkAdvance(journey, skipOf('J')), null);
    assert.equal(takeAdvance(journey, skipOf('J'), NOW), true);
    assert.equal(checkAdvance(journey, { ...skipOf('J'), acceptAge: true }), null);
    assert.equal(takeAdvance(journey, { ...skipOf('J'), acceptAge: true }, NOW), true, 'its age is accepted too');
  });
});

describe('a journey', { concurrency: 5 }, () => {
  test('goes from PREQUAL to PRECLOSE if PREAPP is skipped at its gate, also in the next run, and never pulls it', async () => {
    const input = journeyInput({ shares: [{ shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREAPP' }] });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ waitingFor }) => waitingFor === 'PREAPP');
    assert.ok((await currentDetailsOf(handle)).includes('--to PRECLOSE --skip PREAPP'));
    const other = journeyInput();
    const held = await harness.start(other);
    await untilStatus(held, ({ waitingFor }) => waitingFor === 'PREAPP');
    const old: PassGateMessage = { journeyId: other.journeyId, to: 'PRECLOSE', skip: 'PREAPP', ...who };
    assert.match(await refusalOf(update(held, 'advance', { ...old, by: undefined })), /\/by is required with skip/);
    await update(held, 'withdraw', { journeyId: other.journeyId, ...who });

    const answers = await Promise.all([1, 2, 3].map(() => update(handle, 'advance', skipOf(journeyId))));
    assert.deepEqual(answers.map(({ duplicate }) => duplicate).sort(), [false, true, true]);
    assert.equal(answers[0]?.status.state, 'running', 'the answer does not name the gate that it has left');
    assert.deepEqual(
      answers.map(({ recorded }) => recorded),
      [true, true, true],
    );
    const skipped = { decisionId: 'skip-PREAPP', action: 'skip', productCode: 'PREAPP', ...who };
    assert.deepEqual(await decidedAbout(ledger, journeyId), [skipped]);
    const result = await handle.result();
    assert.deepEqual(statesOf(result.stages), ['PREQUAL record', 'PREAPP skipped', 'PRECLOSE record']);
    assert.equal(result.outcome, 'completed');
    assert.equal(result.shares[0]?.state, 'nothingToShare');
    const posted = await harness.posted(handle);
    assert.deepEqual(posted.map(({ productCode }) => productCode).sort(), ['PRECLOSE', 'PREQUAL']);
    assert.equal((await inquiriesOf(harness, journeyId)).length, 2);
  });

  test('keeps an early skip while PREQUAL is held, through a continue-as-new and a reset', async () => {
    const input = journeyInput({ applicants: [applicant('1A', newSsn('4002'))], onNoRecord: 'continue' });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    await update(handle, 'advance', skipOf(journeyId));
    await handsOver(handle);
    assert.equal((await update(handle, 'advance', skipOf(journeyId))).duplicate, true);
    assert.match(await refusalOf(update(handle, 'advance', { journeyId, to: 'PREAPP' })), /skipped/);
    assert.deepEqual(statesOf((await statusOf(handle)).stages), ['PREQUAL held', 'PREAPP skipped', 'PRECLOSE pending']);
    const [{ customerTraceNumber = '', attempts: attempt = 1 } = {}] = holds;
    const decision = { decisionId: 'D1', customerTraceNumber, attempt, action: 'accept', outcome: 'noRecord' };
    const word = { by: 'operator', reason: 'asked the provider', providerSaid: 'posted' };
    await update(handle, 'resolveInquiry', { journeyId, ...decision, ...word });
    const { holds: [closing] = [] } = await untilStatus(handle, ({ stages }) => stages[2]?.state === 'held');
    const about = { customerTraceNumber: closing?.customerTraceNumber, attempt: closing?.attempts };
    await update(handle, 'resolveInquiry', { journeyId, ...decision, ...about, decisionId: 'D2', ...word });
    const result = await handle.result();
    assert.deepEqual(statesOf(result.stages), ['PREQUAL noRecord', 'PREAPP skipped', 'PRECLOSE noRecord']);

    const [task] = await workflowTasksOf(handle);
    assert.ok(task);
    const again = await resetTo(harness, handle, task);
    assert.deepEqual(statesOf((await again.result()).stages), statesOf(result.stages));
    const products = (await harness.posted(handle)).map(({ productCode }) => productCode);
    assert.ok(!products.includes('PREAPP'));
  });

  test('continues with a report that is too old once the ledger has who accepts its age and why', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], maxReportAge: 'PT1S' });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ reportTooOld }) => reportTooOld !== undefined);
    const passage = { journeyId, to: 'PREAPP', acceptAge: true, ...who };
    const answer = await update(handle, 'advance', passage);
    assert.deepEqual([answer.recorded, answer.duplicate], [true, false]);
    assert.equal((await handle.result()).outcome, 'completed');
    const accepted = { decisionId: 'acceptAge-PREAPP', action: 'acceptAge', productCode: 'PREAPP', ...who };
    assert.deepEqual(await decidedAbout(ledger, journeyId), [accepted]);
  });

  test('pulls each stage for the end user named for it, and uses that in attributes, holds and shares', async () => {
    const endUserCodes = { PREAPP: 'EU200', PRECLOSE: 'EU300' };
    const stages = ['PREQUAL', 'PREAPP'] as const;
    const input = journeyInput({
      ...{ stages: [...stages], endUserCodes: { PREAPP: 'EU200' }, sharesOpenFor: 'P1D' },
      shares: [{ shareId: 'S1', endUserCode: 'EU123', reportOf: 'PREAPP' }],
    });
    assert.equal(input.endUserCode, 'EU123');
    assert.deepEqual(
      lendingJourney.rules({ ...input, endUserCodes }).map(({ path }) => path),
      ['/endUserCodes/PRECLOSE'],
    );
    const { journeyId } = input;
    const handle = await harness.start(input);
    const endUserListed = async () => (await handle.describe()).searchAttributes.EndUserCode?.[0];
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    assert.equal(await endUserListed(), 'EU123');
    const share = (endUserCode: string, reportOf?: string) => ({
      journeyId,
      share: { shareId: `S-${endUserCode}-${reportOf}`, endUserCode, ...(reportOf ? { reportOf } : {}) },
    });
    for (const [code, reportOf] of [['EU200', 'PREAPP'], ['EU123', 'PREQUAL'], ['EU123'], ['EU200']] as const) {
      assert.match(await refusalOf(update(handle, 'requestShare', share(code, reportOf))), /own end user/, `${code}`);
    }
    await update(handle, 'requestShare', share('EU200', 'PREQUAL'));
    await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [applicant('1A', newSsn('4002'))] });
    const { holds: [hold] = [] } = await untilStatus(handle, ({ state }) => state === 'held');
    assert.equal(hold?.endUserCode, 'EU200');
    assert.ok((await currentDetailsOf(handle)).includes('EU200'), 'the question to the provider names it');
    assert.equal(await endUserListed(), 'EU200');
    await update(handle, 'resolveInquiry', {
      ...{ journeyId, decisionId: 'D1', customerTraceNumber: hold?.customerTraceNumber, attempt: hold?.attempts },
      ...{ action: 'abandon', by: 'operator', reason: 'enough', providerSaid: 'posted' },
    });
    assert.equal((await handle.result()).outcome, 'abandoned');
    const inquiries = await inquiriesOf(harness, journeyId);
    assert.deepEqual(inquiries.map(({ productCode, endUserCode }) => [productCode, endUserCode]).sort(), [
      ['PREAPP', 'EU200'],
      ['PREQUAL', 'EU123'],
    ]);
    const posted = await harness.posted(handle);
    assert.deepEqual(posted.map(({ productCode, endUserCode }) => [productCode, endUserCode]).sort(), [
      ['PREAPP', 'EU200'],
      ['PREQUAL', 'EU123'],
    ]);
  });
});

const inSlowRuns = { skip: !runsSlowParts };

test(
  'a stage is not pulled before the ledger has recorded its skip, although its gate is opened',
  inSlowRuns,
  async () => {
    const input = journeyInput();
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ waitingFor }) => waitingFor === 'PREAPP');
    const unlock = lockLedger(harness);
    try {
      const skipping = await handle.startUpdate<UpdateAnswer, [PassGateMessage]>('advance', {
        args: [skipOf(journeyId)],
        waitForStage: WorkflowUpdateStage.ACCEPTED,
      });
      const pass = await update(handle, 'advance', { journeyId, to: 'PREAPP' });
      const skip = await skipping.result();
      assert.deepEqual([skip.recorded, pass.accepted], [false, true]);
      assert.deepEqual(statesOf((await statusOf(handle)).stages), [
        'PREQUAL record',
        'PREAPP pending',
        'PRECLOSE pending',
      ]);
    } finally {
      unlock();
    }
    assert.deepEqual(statesOf((await handle.result()).stages), ['PREQUAL record', 'PREAPP skipped', 'PRECLOSE record']);
  },
);
