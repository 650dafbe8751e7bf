import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { InvalidInputError } from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { Decision } from '../../src/messages/resolve-inquiry.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import { decide, decideInLedger, markSeen, readDecidable } from '../../src/operator/decide.ts';
import type { LedgerJourneys } from '../../src/operator/ledger-journeys.ts';
import { untilIdle } from '../hazards/operator-hands.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';

let harness: Harness;
let journeys: LedgerJourneys;
let ledger: Ledger;

before(async () => {
  harness = await startHarness();
  ledger = await openLedgerOf(harness);
  journeys = await connectTo(harness, { openLedger: () => openLedgerOf(harness) });
});
after(async () => {
  await journeys?.close();
  await ledger?.close();
  await harness?.close();
});

interface Held {
  handle: JourneyHandle;
  input: LendingJourneyInput;
  customerTraceNumber: string;
}

async function held(lastFour: string): Promise<Held> {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  await untilIdle(handle);
  return { handle, input, customerTraceNumber: holds[0]?.customerTraceNumber ?? assert.fail() };
}

const REFERENCE: ReportReference = {
  reportReferenceNumber: 'REF-1',
  requestedAt: '2026-01-02T03:04:05Z',
  applicants: [{ applicantId: '1A', consumerId: 'C-1' }],
};

function decision({ customerTraceNumber }: Pick<Held, 'customerTraceNumber'>, change = {}) {
  return {
    decisionId: `D-${randomUUID().slice(0, 8)}`,
    customerTraceNumber,
    attempt: 1,
    action: 'abandon' as const,
    by: 'ops',
    reason: 'a test',
    providerSaid: 'posted' as const,
    ...change,
  };
}

function refusesInLedger(given: Decision, reason: RegExp | string): Promise<void> {
  return assert.rejects(decideInLedger(journeys, given), { code: 'decisionRefused', reason });
}

describe('a decision', { concurrency: 4 }, () => {
  test('is refused with the reason if it is invalid, and changes neither history nor ledger', async () => {
    const one = await held('4002');
    const journey = journeys.get(one.input.journeyId);
    const state = async () => ({
      events: (await one.handle.fetchHistory()).events?.length,
      row: await ledger.inquiry(one.customerTraceNumber),
    });
    const before = await state();
    const accepted = { action: 'accept', outcome: 'record' };
    const toRun: [object, RegExp][] = [
      [{ customerTraceNumber: 'PQNONE' }, /no inquiry with this/],
      [{ attempt: 2 }, /about attempt 1/],
      [{ action: 'amend', applicants: one.input.applicants }, /OutcomeUnknown allows resend, accept, abandon/],
      [{ action: 'resend', providerSaid: 'notAsked' }, /needs the provider’s answer/],
      [
        { ...accepted, reference: { ...REFERENCE, applicants: [{ applicantId: '2A', consumerId: 'C-2' }] } },
        /and no other/,
      ],
    ];
    for (const [change, expected] of toRun) {
      await assert.rejects(journey.resolveInquiry(decision(one, change)), { code: 'updateRefused', reason: expected });
    }
    const withoutConsumers = { ...accepted, reference: { ...REFERENCE, applicants: [] } };
    await assert.rejects(journey.resolveInquiry(decision(one, withoutConsumers)), InvalidInputError);
    await assert.rejects(decideInLedger(journeys, decision(one, withoutConsumers)), InvalidInputError);
    await refusesInLedger(decision(one), /is running: send the decision to the run/);
    await refusesInLedger(decision({ customerTraceNumber: 'PQNONE' }), /knows of no such inquiry/);
    await assert.rejects(markSeen(journeys, decision(one)), { code: 'decisionRefused' });
    assert.deepEqual(await state(), before);
    await one.handle.terminate('done');
  });

  test('goes into the ledger if that is an older copy without the outcome, for which an open run does not wait', async () => {
    const { config, start } = harness;
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const handle = await start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    const [inquiry] = await ledger.inquiriesOf(input.journeyId);
    const { customerTraceNumber = '' } = inquiry ?? {};
    const forget = (ago: number) => {
      const database = new DatabaseSync(config.ledger.url.slice('file:'.length), { timeout: 5_000 });
      database
        .prepare("UPDATE attempts SET state = 'sending', answer = NULL, answer_by = ? WHERE customer_trace_number = ?")
        .run(Date.now() - ago, customerTraceNumber);
      database.close();
    };
    const accept = decision({ customerTraceNumber }, { action: 'accept', outcome: 'noRecord' });
    const listed = async () => (await ledger.tasks.open({ customerTraceNumber, limit: 1 })).rows.length;
    // The run may be about to hold.
    forget(10_000);
    await assert.rejects(decide(journeys, input.journeyId, accept), { refusalCause: 'notOnHold' });
    forget(120_000);
    assert.equal(await listed(), 1);
    const wrong = { ...accept, attempt: 2 };
    await assert.rejects(decide(journeys, input.journeyId, wrong), { refusalCause: 'notOnHold' });
    const decided = { accepted: true, duplicate: false, recorded: true, heldBy: 'run' };
    assert.deepEqual(await decide(journeys, input.journeyId, accept), decided);
    assert.deepEqual(await decide(journeys, input.journeyId, accept), { ...decided, duplicate: true });
    assert.equal(await listed(), 0);
    await handle.terminate('done');
  });

  test('is refused by the ledger if it is invalid, and does not change the row', async () => {
    const one = await held('3403');
    await one.handle.terminate('gone');
    const before = await ledger.inquiry(one.customerTraceNumber);
    const cases: [object, RegExp][] = [
      [{ attempt: 2 }, /about attempt 1/],
      [{ action: 'accept', outcome: 'noRecord' }, /NotEntitled allows resend, abandon without a run/],
    ];
    for (const [change, expected] of cases) {
      await refusesInLedger(decision(one, change), expected);
    }
    assert.deepEqual(await ledger.inquiry(one.customerTraceNumber), before);
  });

  test('is used once by the next start of the journey if the ledger recorded it as a resend', async () => {
    const one = await held('1503');
    await one.handle.terminate('gone');
    const resend = decision(one, { action: 'resend', providerSaid: 'notPosted' });
    assert.equal((await decideInLedger(journeys, resend)).duplicate, false);
    assert.equal((await decideInLedger(journeys, resend)).duplicate, true);
    const other = { ...resend, action: 'abandon', by: 'another' } as const;
    await refusesInLedger(other, '/decisionId was used before with other content: /action, /by differ');
    await refusesInLedger(decision(one), /decided already/);
    const again = await harness.start(one.input);
    const { holds } = await untilStatus(again, ({ state }) => state === 'held');
    assert.equal(holds[0]?.attempts, 2, 'without asking anybody anew');
    await again.terminate('gone');
    const third = await harness.start(one.input);
    await untilStatus(third, ({ state }) => state === 'held');
    assert.equal((await harness.received(third)).length, 2, 'one send, and one for the decision');
    await third.terminate('done');
  });

  test('gives the next start of the journey its answer if the ledger recorded it as an acceptance', async () => {
    const one = await held('4002');
    await one.handle.terminate('gone');
    const { customerTraceNumber } = one;
    const open = await readDecidable(journeys, one.input.journeyId, customerTraceNumber);
    assert.deepEqual([open?.heldBy, open?.allowedActions], ['ledger', ['resend', 'accept', 'abandon']]);
    const ofAnother = { ...REFERENCE, applicants: [{ applicantId: '2A', consumerId: 'C-2' }] };
    const accepted = { action: 'accept', outcome: 'record' };
    await refusesInLedger(decision(one, { ...accepted, reference: ofAnother }), /and no other/);
    const accept = decision(one, { ...accepted, reference: REFERENCE });
    assert.equal((await decideInLedger(journeys, accept)).duplicate, false);
    assert.equal((await decideInLedger(journeys, accept)).duplicate, true);
    const without = decision(one, { decisionId: accept.decisionId, action: 'accept', outcome: 'noRecord' });
    await refusesInLedger(without, /: \/outcome, \/reference differ$/);
    const again = await harness.start(one.input);
    assert.deepEqual((await again.result()).stages[0]?.reference, REFERENCE);
    assert.equal((await harness.received(again)).length, 1);
  });
});
