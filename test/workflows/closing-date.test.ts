/** PRECLOSE by the closing date: what may be said of it, what it leads to, and what a person should look at before closing. */
import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import fc from 'fast-check';
import { pastDateProblems, placed } from '../../src/activities/closing-dates.ts';
import { addDays, localDate, startOfDayMs } from '../../src/base/local-days.ts';
import { lendingJourneyProblems } from '../../src/fields/cross-rules.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import type { LendingJourneyInput, StageState } from '../../src/messages/journey/shapes.ts';
import { Journey } from '../../src/workflows/journey/journey.ts';
import {
  addStandingRepeat,
  closingObjection,
  repeatDueInMs,
  takeClosingDate,
} from '../../src/workflows/journey/preclose-by-date.ts';
import { inquiriesOf, resetTo, workflowTasksOf } from '../hazards/operator-hands.ts';
import { HANDS_OVER_SOON, handsOver } from '../support/floods.ts';
import {
  applicant,
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
import { decidedAbout, openLedgerOf } from '../support/ledger-access.ts';

const who = { by: 'underwriting', reason: 'the buyer asked for it' };
const policy = { by: 'credit policy', reason: 'the report is to be of the days before closing' };
const DAY_MS = 86_400_000;
const inDays = (days: number) => addDays(new Date().toISOString().slice(0, 10), days);

test('a day begins at midnight in the zone, also where clocks change or midnight is left out', () => {
  const starts: [string, string, string][] = [
    ['2026-03-01', 'UTC', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01', 'America/New_York', '2026-03-01T05:00:00.000Z'],
    ['2026-03-09', 'America/New_York', '2026-03-09T04:00:00.000Z'],
    ['2026-03-01', 'Pacific/Kiritimati', '2026-02-28T10:00:00.000Z'],
    ['2026-03-01', 'Pacific/Pago_Pago', '2026-03-01T11:00:00.000Z'],
    // Clocks went from 24:00 to 01:00.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
  ];
  for (const [date, zone, instant] of starts) {
    assert.equal(new Date(startOfDayMs(date, zone)).toISOString(), instant, `${date} ${zone}`);
    assert.equal(localDate(startOfDayMs(date, zone), zone), date);
    assert.ok(localDate(startOfDayMs(date, zone) - 1, zone) < date);
  }
  assert.equal(addDays('2026-03-01', -1), '2026-02-28');
  assert.equal(addDays('2028-03-01', -1), '2028-02-29');
});

test('so many days before are days of the calendar in the profile’s zone; a day is past once it is over there', () => {
  const profile = { timeZone: 'America/New_York' };
  // Over the night in which clocks go forward three days are 71 hours.
  assert.deepEqual(placed(profile, { closingDate: '2026-03-10', daysBefore: 3 }), {
    closingDate: '2026-03-10',
    precloseFrom: '2026-03-07T05:00:00.000Z',
    over: '2026-03-11T04:00:00.000Z',
  });
  const lastSecond = Date.parse('2026-03-11T03:59:59Z');
  assert.deepEqual(pastDateProblems(profile, '2026-03-10', lastSecond), []);
  assert.equal(pastDateProblems(profile, '2026-03-10', lastSecond + 1_000)[0]?.path, '/closingDate');
});

test('an input with a closing date says how it is used, and of a stage that is there', () => {
  const preclose = { daysBefore: 3, ...policy };
  const problems = (input: object) => lendingJourneyProblems({ ...journeyInput(), ...input }).map(({ path }) => path);
  assert.deepEqual(problems({ closingDate: '2030-01-01', preclose, attentionAbove: { newAccounts: 0 } }), []);
  assert.deepEqual(problems({ preclose }), []);
  assert.deepEqual(problems({ closingDate: '2030-01-01' }), ['/preclose']);
  assert.deepEqual(problems({ stages: ['PREQUAL'], preclose, attentionAbove: {} }), ['/preclose', '/attentionAbove']);
  assert.deepEqual(problems({ preclose, gates: { PRECLOSE: { pass: 'auto' } } }), ['/gates/PRECLOSE/pass']);
});

test('changes are numbered by whoever asks: the next is taken, a known one is a duplicate or differs, others are refused', () => {
  const journey = new Journey(journeyInput({ preclose: { daysBefore: 3, ...policy } }));
  const change = (number: number, more: object = {}) => ({
    ...{ journeyId: 'J', closingDate: '2030-01-01', change: number, ...who },
    ...more,
  });
  const take = (number: number) =>
    takeClosingDate(journey, change(number), placed({ timeZone: 'UTC' }, { closingDate: '2030-01-01', daysBefore: 3 }));
  assert.match(closingObjection(journey, change(2)) ?? '', /\/change must be 1/);
  take(1);
  assert.equal(closingObjection(journey, change(1)), null);
  assert.match(closingObjection(journey, change(1, { closingDate: '2030-01-02' })) ?? '', /\/closingDate differs/);
  assert.equal(closingObjection(journey, change(2)), null);
  take(2);
  assert.match(closingObjection(journey, change(4)) ?? '', /\/change must be 3: the date was changed 2 times/);
  assert.deepEqual(
    journey.handedOver().events.early?.map(({ type }) => type),
    ['closing.set', 'closing.set'],
  );
  const other = new Journey(journeyInput());
  assert.match(closingObjection(other, change(1)) ?? '', /\/closingDate has no use here/);
});

/** What may happen to a journey whose first PRECLOSE is under way. Days count from the start of the world. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('move' as const), toDay: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ kind: fc.constant('pass' as const), days: fc.integer({ min: 1, max: 9 }) }),
    fc.record({
      kind: fc.constant('settle' as const),
      as: fc.constantFrom<StageState>('record', 'noRecord', 'abandoned', 'held'),
    }),
  ),
  { maxLength: 40 },
);

test('however dates move, PRECLOSE is repeated at most so many times, in the days before closing, and never while it is held', () => {
  const START = Date.parse('2026-01-01T12:00:00Z');
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 }), (all, repeats, daysBefore) => {
      mock.timers.enable({ apis: ['Date'], now: START });
      try {
        const journey = new Journey(journeyInput({ preclose: { daysBefore, repeats, ...policy } }));
        for (const stage of journey.stages) {
          Object.assign(stage, { ordinal: 0, attemptedAt: new Date().toISOString() });
          stage.status.state = stage.status.productCode === 'PRECLOSE' ? 'running' : 'record';
        }
        const made = () => journey.stages.filter(({ repeat }) => repeat?.isStanding);
        let change = 0;
        const latest = () => journey.stage('PRECLOSE') ?? assert.fail();
        /** As the run does it after each task, and when its timer fires. */
        const act = () => {
          while (repeatDueInMs(journey, Date.now()) === 0) {
            assert.ok(!['pending', 'running', 'held'].includes(latest().status.state));
            const { precloseFrom = '', over = '' } = journey.closing.placed ?? {};
            const now = new Date().toISOString();
            assert.ok(precloseFrom <= now && now < over);
            assert.ok((latest().attemptedAt ?? '') < precloseFrom);
            addStandingRepeat(journey);
            assert.ok(made().length <= repeats);
            latest().ordinal = journey.nextOrdinal('PRECLOSE');
            latest().status.state = 'running';
          }
        };
        for (const step of all) {
          if (step.kind === 'move') {
            const closingDate = addDays('2026-01-01', step.toDay);
            const message = { journeyId: 'J', closingDate, change: ++change, ...who };
            takeClosingDate(journey, message, placed({ timeZone: 'UTC' }, { closingDate, daysBefore }));
          } else if (step.kind === 'pass') {
            const untilMs = Date.now() + step.days * DAY_MS;
            const dueInMs = repeatDueInMs(journey, Date.now());
            if (dueInMs !== undefined && Date.now() + dueInMs < untilMs) mock.timers.setTime(Date.now() + dueInMs);
            act();
            mock.timers.setTime(untilMs);
          } else if (['running', 'held'].includes(latest().status.state)) {
            latest().attemptedAt = new Date().toISOString();
            latest().status.state = step.as;
          }
          act();
        }
        const counted = made().map(({ repeat }) => repeat?.occurrence);
        assert.deepEqual(counted, [...new Set(counted)], 'each under a number of its own');
      } finally {
        mock.timers.reset();
      }
    }),
    { numRuns: 100 },
  );
});

describe('a journey with a closing date', { concurrency: 6 }, () => {
  let harness: Harness;
  let ledger: Ledger;
  before(async () => {
    harness = await startHarness({ env: HANDS_OVER_SOON, proving: true });
    ledger = await openLedgerOf(harness);
  });
  after(async () => {
    await ledger?.close();
    await harness?.close();
  });

  const inputOf = (overrides: Partial<LendingJourneyInput> = {}) =>
    journeyInput({
      ...{ stages: ['PREQUAL', 'PRECLOSE'], preclose: { daysBefore: 3, ...policy } },
      ...overrides,
    });
  const move = (handle: JourneyHandle, closingDate: string, change: number, more: object = {}) => {
    const journeyId = handle.workflowId.replace('journey-', '');
    return update(handle, 'setClosingDate', { journeyId, closingDate, change, ...who, ...more });
  };
  const isAtGate = ({ state }: { state: string }) => state === 'waitingAtGate';

  test('has PRECLOSE pulled at once where its days have begun, and ends once its closing date cannot move anything', async () => {
    const input = inputOf({ closingDate: inDays(2), preclose: { daysBefore: 3, repeats: 0, ...policy } });
    const handle = await harness.start(input);
    const result = await handle.result();
    assert.deepEqual(
      result.stages.map(({ state }) => state),
      ['record', 'record'],
    );
    assert.equal((await harness.posted(handle)).length, 2);
    assert.deepEqual(
      (await inquiriesOf(harness, input.journeyId)).flatMap(({ decisions }) => decisions),
      [],
    );
  });

  test('waits for its days, through a hand-over; moved nearer it is pulled at once, and moved on in its days never again', async () => {
    const input = inputOf({ closingDate: inDays(40), gates: { PRECLOSE: { expiresAfter: 'P1D' } } });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const status = await untilStatus(handle, isAtGate);
    assert.deepEqual(status.closing, {
      ...{ closingDate: inDays(40), change: 0, repeatsLeft: 1 },
      precloseFrom: `${inDays(37)}T00:00:00.000Z`,
    });
    assert.equal(status.waitingUntil, `${inDays(41)}T00:00:00.000Z`, 'no gate expires before its closing date');
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.ok(currentDetails.includes(`Closing on ${inDays(40)}: the gate before PRECLOSE opens by itself from`));
    assert.ok(currentDetails.includes(`closing-date ${journeyId} --date DATE --change 1`));

    assert.match(await refusalOf(move(handle, inDays(-2), 1)), /\/closingDate must not be past/);
    assert.match(await refusalOf(move(handle, inDays(20), 2)), /\/change must be 1/);
    const answers = await Promise.all([1, 2, 3].map(() => move(handle, inDays(20), 1)));
    assert.deepEqual(answers.map(({ duplicate }) => duplicate).sort(), [false, true, true]);
    assert.equal(answers[0]?.status.closing?.precloseFrom, `${inDays(17)}T00:00:00.000Z`);
    await handsOver(handle);
    assert.equal((await move(handle, inDays(20), 1)).duplicate, true);
    assert.match(await refusalOf(move(handle, inDays(21), 1)), /\/closingDate differs/);
    assert.equal((await harness.posted(handle)).length, 1);

    await move(handle, inDays(1), 2);
    await untilStatus(handle, ({ stages }) => stages[1]?.state === 'record');
    // Its report is of those days: no date in them has another pulled.
    await move(handle, inDays(2), 3);
    await move(handle, inDays(3), 4);
    const { state, stages, closing } = await statusOf(handle);
    assert.deepEqual([state, stages.length, closing?.repeatsLeft], ['running', 2, 1]);
    await handsOver(handle);
    assert.deepEqual((await statusOf(handle)).closing, closing);
    await update(handle, 'withdraw', { journeyId, ...who });
    await handle.result();
    assert.equal((await harness.posted(handle)).length, 2);
    const decided = await decidedAbout(ledger, journeyId);
    const dates = [inDays(20), inDays(1), inDays(2), inDays(3)];
    const rows = dates.map((closingDate, index) => ({
      ...{ closingDate, decisionId: `closing-date-${index + 1}`, action: 'setClosingDate', ...who },
    }));
    assert.deepEqual(decided, [...rows, { decisionId: 'withdraw', action: 'withdraw', ...who }]);
    assert.match(await refusalOf(move(handle, inDays(4), 5)).catch((error: Error) => error.name), /ending|NotFound/);
  });

  test('takes its first date while it waits, or before it has begun; a withdrawal meanwhile pulls nothing', async () => {
    const early = inputOf();
    const started = await harness.start(early);
    // Perhaps before the input is checked: then it waits for that.
    await move(started, inDays(1), 1);
    await untilStatus(started, ({ stages }) => stages[1]?.state === 'record');
    await update(started, 'withdraw', { journeyId: early.journeyId, ...who });
    await started.result();

    const input = inputOf();
    const handle = await harness.start(input);
    await untilStatus(handle, isAtGate);
    await Promise.allSettled([
      update(handle, 'withdraw', { journeyId: input.journeyId, ...who }),
      move(handle, inDays(1), 1),
    ]);
    assert.equal((await handle.result()).outcome, 'withdrawn');
    assert.equal((await harness.posted(handle)).length, 1);
  });

  test('a date that is past is refused at the start, and a standing decision where each repeat needs a proof', async () => {
    const problemsOf = async (input: LendingJourneyInput) => {
      const handle = await harness.start(input);
      await handle.result().catch(() => undefined);
      return (await statusOf(handle)).problems?.map(({ path }) => path);
    };
    assert.deepEqual(await problemsOf(inputOf({ closingDate: inDays(-2) })), ['/closingDate']);
    assert.deepEqual(await problemsOf(inputOf({ profile: 'deciding' })), ['/preclose/repeats']);
  });

  test('a reset makes no further inquiry', async () => {
    const input = inputOf({ preclose: { daysBefore: 3, repeats: 1, ...policy } });
    const handle = await harness.start(input);
    await untilStatus(handle, isAtGate);
    await move(handle, inDays(1), 1);
    await untilStatus(handle, ({ stages }) => stages[1]?.state === 'record');
    const posted = await harness.posted(handle);
    const [task] = await workflowTasksOf(handle);
    assert.ok(task);
    const again = await resetTo(harness, handle, task);
    await untilStatus(again, ({ stages }) => stages[1]?.state === 'record');
    assert.deepEqual(await harness.posted(again), posted);
    await update(again, 'withdraw', { journeyId: input.journeyId, ...who });
    await again.result();
  });

  test('raises attention before closing where more has changed than may, and not where no more has', async () => {
    const applicants = [applicant('1A', newSsn('0020'))];
    const auto = { PRECLOSE: { pass: 'auto' } } as const;
    const flagged = journeyInput({
      ...{ stages: ['PREQUAL', 'PRECLOSE'], gates: auto, applicants, sharesOpenFor: 'P1D' },
      attentionAbove: { newAccounts: 0 },
    });
    const handle = await harness.start(flagged);
    const { stages } = await untilStatus(handle, (status) => status.stages[1]?.changes !== undefined);
    assert.equal(stages[1]?.attention, 'reportChanged');
    const { searchAttributes } = await handle.describe();
    assert.deepEqual(searchAttributes.NeedsAttention, ['reportChanged']);
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(currentDetails, /differs from the one before by more than `attentionAbove`[\s\S]*report-changed\.md/);
    await update(handle, 'withdraw', { journeyId: flagged.journeyId, ...who });
    assert.equal((await handle.result()).stages[1]?.attention, 'reportChanged');

    const quiet = await harness.start({
      ...flagged,
      journeyId: `${flagged.journeyId}-Q`,
      attentionAbove: { newAccounts: 99 },
    });
    const calm = await untilStatus(quiet, (status) => status.stages[1]?.changes !== undefined);
    assert.equal(calm.stages[1]?.attention, undefined);
    await update(quiet, 'withdraw', { journeyId: `${flagged.journeyId}-Q`, ...who });
    await quiet.result();
  });
});
