/** The advances that a journey accepts in each of its states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrantFault } from '../../src/consent/consent-record.ts';
import { GRANT_FAULTS, refuseFault } from '../../src/consent/refusals.ts';
import type { AdvanceMessage } from '../../src/messages/advance.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import type { StageStatus } from '../../src/messages/journey/shapes.ts';
import { checkAdvance, takeAdvance } from '../../src/workflows/journey/advances.ts';
import { Journey } from '../../src/workflows/journey/journey.ts';
import { checkShareRequest } from '../../src/workflows/journey/journey-handlers.ts';
import { journeyInput } from '../support/journey-harness.ts';

const who = { by: 'loan officer', reason: 'the closing was put off' };

function repeatOf(repeat: StageStatus['productCode'], occurrence = 2): AdvanceMessage {
  return { journeyId: 'J', repeat, occurrence, ...who };
}

/** Makes a journey whose stages have the given states; the others are pending. */
const NOW = new Date().toISOString();
const GATE = { before: 'PREAPP', since: NOW, until: NOW } as const;

function journeyAt(...states: StageStatus['state'][]): Journey {
  const journey = new Journey(journeyInput());
  for (const [index, state] of states.entries()) {
    const stage = journey.stages[index];
    assert.ok(stage);
    stage.status.state = state;
    stage.ordinal = 0;
  }
  return journey;
}

test('a repeat is accepted only for the latest stage, whether it is answered or in flight', () => {
  for (const state of ['pending', 'running', 'held', 'record', 'noRecord', 'noReport'] as const) {
    assert.equal(checkAdvance(journeyAt(state), repeatOf('PREQUAL')), null, state);
  }
  assert.match(checkAdvance(journeyAt('record', 'running'), repeatOf('PREQUAL'))?.reason ?? '', /PREAPP has begun/);
  const ended = journeyAt('noRecord', 'skipped', 'skipped');
  ended.state.stagesEndedAs = 'stopped';
  assert.match(checkAdvance(ended, repeatOf('PREQUAL'))?.reason ?? '', /the stages have ended: stopped/);
  const closing = journeyAt('record', 'record', 'record');
  closing.state.isClosing = true;
  assert.match(checkAdvance(closing, repeatOf('PRECLOSE'))?.reason ?? '', /ending/);
});

test('a repeat is accepted with the next occurrence, a duplicate with the last one, and refused with any other', () => {
  const journey = journeyAt('record');
  assert.equal(takeAdvance(journey, repeatOf('PREQUAL'), NOW), true);
  assert.equal(takeAdvance(journey, repeatOf('PREQUAL'), NOW), false);
  assert.equal(checkAdvance(journey, repeatOf('PREQUAL', 3)), null);
  assert.match(checkAdvance(journey, repeatOf('PREQUAL', 4))?.reason ?? '', /must be 3: PREQUAL was asked for 2 times/);
  assert.deepEqual(
    journey.stages.map(({ status }) => [status.productCode, status.occurrence]),
    [
      ['PREQUAL', undefined],
      ['PREQUAL', 2],
      ['PREAPP', undefined],
      ['PRECLOSE', undefined],
    ],
  );
});

test('amendments and repeats of a stage share its hundred trace numbers', () => {
  const journey = journeyAt('record');
  const [stage] = journey.stages;
  assert.ok(stage);
  stage.ordinal = 98;
  assert.equal(takeAdvance(journey, repeatOf('PREQUAL'), NOW), true);
  assert.equal(journey.computeNextOrdinal('PREQUAL'), 99);
  assert.match(checkAdvance(journey, repeatOf('PREQUAL', 3))?.reason ?? '', /has used its 100 trace numbers/);
});

test('acceptAge can be added once to an advance that was kept', () => {
  const journey = journeyAt('running');
  const advance: AdvanceMessage = { journeyId: 'J', to: 'PREAPP' };
  assert.deepEqual(
    [
      advance,
      advance,
      { ...advance, acceptAge: true as const, ...who },
      { ...advance, acceptAge: true as const, ...who },
    ].map((message) => takeAdvance(journey, message, NOW)),
    [true, false, true, false],
  );
});

test('an advance has either `to` or `repeat`, and `by` and `reason` if it accepts an age, skips or repeats', () => {
  const problems: [object, RegExp | null][] = [
    [{ journeyId: 'J', to: 'PREAPP' }, null],
    [{ journeyId: 'J', to: 'PREAPP', acceptAge: true, ...who }, null],
    [repeatOf('PRECLOSE'), null],
    [{ journeyId: 'J' }, /\/to is required/],
    [{ ...repeatOf('PRECLOSE'), to: 'PRECLOSE' }, /unknown field/],
    [{ ...repeatOf('PRECLOSE'), acceptAge: true }, /unknown field/],
    [{ ...repeatOf('PRECLOSE'), occurrence: 1 }, /\/occurrence must be a whole number from 2/],
    [{ ...repeatOf('PRECLOSE'), by: undefined }, /\/by is required/],
    [{ journeyId: 'J', to: 'PREAPP', acceptAge: true }, /required with acceptAge/],
    [{ journeyId: 'J', to: 'PREAPP', acceptAge: false, ...who }, /\/acceptAge must be true/],
    [{ journeyId: 'J', to: 'PREAPP', ...who }, /is allowed only with acceptAge or skip/],
    [{ journeyId: 'J', to: 'PRECLOSE', skip: 'PREAPP', ...who }, null],
    [{ journeyId: 'J', to: 'PRECLOSE', skip: 'PREAPP' }, /\/by is required with skip/],
    [{ ...repeatOf('PRECLOSE'), skip: 'PREAPP' }, /unknown field/],
  ];
  for (const [message, rule] of problems) {
    const problem = MESSAGES.advance.findProblem(message);
    if (rule) assert.match(problem ?? '', rule);
    else assert.equal(problem, null);
  }
});

test('the status leaves a gate as soon as an advance for it is accepted, and not with one for a later gate', () => {
  for (const message of [{ journeyId: 'J', to: 'PREAPP' } as const, repeatOf('PREQUAL')]) {
    const journey = journeyAt('record');
    journey.state.gate = GATE;
    takeAdvance(journey, message, NOW);
    assert.deepEqual([journey.status().state, journey.status().waitingFor], ['running', undefined]);
  }
  const early = journeyAt('record');
  early.state.gate = GATE;
  takeAdvance(early, { journeyId: 'J', to: 'PRECLOSE' }, NOW);
  assert.equal(early.status().waitingFor, 'PREAPP');
});

test('a refusal has its cause beside the reason', () => {
  const journey = journeyAt('record');
  takeAdvance(journey, repeatOf('PREQUAL'), NOW);
  const closing = journeyAt('record', 'record', 'record');
  closing.state.isClosing = true;
  const share = (change: object) => ({ journeyId: 'J', share: { shareId: 'S1', endUserCode: 'EU9', ...change } });
  const refusals = {
    differs: checkAdvance(journey, { ...repeatOf('PREQUAL'), reason: 'another' } as AdvanceMessage),
    ending: checkAdvance(closing, repeatOf('PRECLOSE')),
    unknownPart: checkAdvance(journey, { journeyId: 'J', to: 'PREQUAL' }),
    notNow: checkAdvance(journeyAt('record', 'running'), repeatOf('PREQUAL')),
  };
  for (const [cause, refusal] of Object.entries(refusals)) assert.equal(refusal?.cause, cause);
  assert.equal(checkShareRequest(closing, share({}))?.cause, 'ending');
  const short = new Journey(journeyInput({ stages: ['PREQUAL'] }));
  assert.equal(checkShareRequest(short, share({ reportOf: 'PRECLOSE' }))?.cause, 'unknownPart');
  for (const fault of Object.keys(GRANT_FAULTS) as GrantFault[]) {
    assert.equal(refuseFault(fault).cause, 'noLongerCounts', fault);
  }
});
