/** Invalid decisions are refused with the reason, and leave no trace in the history or the ledger. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { DecisionRecord } from '../../src/ledger/records.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { decisionAbout, eventsOf, ledgerRows, untilIdle, withLedger } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
});
after(() => harness?.close());

const reference = {
  reportReferenceNumber: 'RPT-1',
  requestedAt: '2026-01-05T10:00:00Z',
  applicants: [{ applicantId: '1A', consumerId: 'CONSUMER1' }],
};

type BadDecision = [what: string, decision: object, reason: RegExp];

const ANYWHERE: BadDecision[] = [
  ['about an unknown inquiry', { customerTraceNumber: 'PQUNKNOWN' }, /no inquiry/],
  ['about an attempt that was never made', { attempt: 2 }, /attempt 1/],
  ['about no attempt', { attempt: 0 }, /attempt/],
  ['for another journey', { journeyId: 'another' }, /another journey/],
  ['without a name', { by: '' }, /by/],
  ['without a reason', { reason: ' ' }, /reason/],
  ['with an unknown action', { action: 'retry' }, /action/],
  ['with an unknown field', { confirm: true }, /unknown field/],
];

const ACCEPT = { action: 'accept', providerSaid: 'posted' };

const HOLDS: Record<string, { lastFour: string; bad: BadDecision[] }> = {
  OutcomeUnknown: {
    lastFour: '4002',
    bad: [
      [
        'to resend without having asked the provider',
        { providerSaid: 'notAsked' },
        /providerSaid must be posted or notPosted/,
      ],
      ['to amend', { action: 'amend', applicants: [applicant('1A')] }, /allows resend, accept, abandon/],
      ['to accept without an outcome', ACCEPT, /outcome is required/],
      ['to accept a record without a reference', { ...ACCEPT, outcome: 'record' }, /reference is required/],
      [
        'to accept a reference without consumers',
        { ...ACCEPT, outcome: 'record', reference: { ...reference, applicants: [] } },
        /not empty/,
      ],
      [
        'to accept a reference to another applicant',
        {
          ...ACCEPT,
          outcome: 'record',
          reference: { ...reference, applicants: [{ applicantId: '9Z', consumerId: 'X' }] },
        },
        /each of the inquiry/,
      ],
      [
        'to accept a consumer without an id',
        {
          ...ACCEPT,
          outcome: 'record',
          reference: { ...reference, applicants: [{ applicantId: '1A', consumerId: '' }] },
        },
        /consumerId/,
      ],
    ],
  },
  RequestRefused: {
    lastFour: '1422',
    bad: [
      ['to resend', {}, /allows amend, abandon/],
      ['to accept', { ...ACCEPT, outcome: 'record', reference }, /allows amend, abandon/],
      ['to amend with an empty list', { action: 'amend', applicants: [] }, /applicants/],
    ],
  },
  UnexpectedResponse: {
    lastFour: '4027',
    bad: [
      ['to resend', {}, /allows accept, abandon/],
      ['to amend', { action: 'amend', applicants: [applicant('1A')] }, /allows accept, abandon/],
    ],
  },
  NotEntitled: { lastFour: '1403', bad: [['to accept', { ...ACCEPT, outcome: 'noRecord' }, /allows resend, abandon/]] },
};

async function held(lastFour: string): Promise<{ handle: JourneyHandle; status: JourneyStatus }> {
  const handle = await harness.start(
    journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] }),
  );
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  await untilIdle(handle);
  return { handle, status };
}

/** The tests run one journey at a time, because they compare the whole ledger. */
describe('a decision', () => {
  for (const [failureType, { lastFour, bad }] of Object.entries(HOLDS)) {
    test(`that is invalid for a hold of ${failureType} is refused, and leaves history and ledger unchanged`, async () => {
      const { handle, status } = await held(lastFour);
      assert.equal(status.holds[0]?.failureType, failureType);
      const events = (await eventsOf(handle)).length;
      const rows = ledgerRows(harness);
      for (const [what, decision, reason] of [...ANYWHERE, ...bad]) {
        const refusal = await refusalOf(update(handle, 'resolveInquiry', decisionAbout(status, decision)));
        assert.match(refusal, reason, what);
      }
      assert.equal((await eventsOf(handle)).length, events);
      assert.deepEqual(ledgerRows(harness), rows);
      assert.deepEqual(await untilStatus(handle, () => true), status);
      assert.equal((await harness.received(handle)).length, 1);
      await handle.terminate();
    });
  }

  test('that amends with invalid applicants leaves the ledger and the hold unchanged', async () => {
    const { handle, status } = await held('1422');
    const rows = ledgerRows(harness);
    const applicants = [{ ...applicant('1A'), dob: '1985-02-30' }];
    const refusal = await refusalOf(
      update(handle, 'resolveInquiry', decisionAbout(status, { action: 'amend', applicants })),
    );
    assert.match(refusal, /\/applicants\/0\/dob/);
    assert.doesNotMatch(refusal, /1985/);
    assert.deepEqual(ledgerRows(harness), rows);
    const [hold] = (await untilStatus(handle, () => true)).holds;
    const { refusedDecision, ...unchanged } = hold ?? {};
    assert.match(refusedDecision?.reason ?? '', /\/applicants\/0\/dob/);
    assert.deepEqual(unchanged, status.holds[0]);
    await handle.terminate();
  });

  test('about a decided hold is refused, and a repeated decision is answered as a duplicate', async () => {
    const { handle, status } = await held('1403');
    await update(handle, 'resolveInquiry', decisionAbout(status));
    await untilStatus(handle, ({ holds }) => holds[0]?.attempts === 2);
    await untilIdle(handle);
    const rows = ledgerRows(harness);
    assert.equal((await update(handle, 'resolveInquiry', decisionAbout(status))).duplicate, true);
    const other = decisionAbout(status, { decisionId: 'D2', action: 'abandon' });
    assert.match(await refusalOf(update(handle, 'resolveInquiry', other)), /attempt 2/);
    assert.deepEqual(ledgerRows(harness), rows);
    assert.equal((await harness.received(handle)).length, 2);
    await handle.terminate();
  });

  /** Another decision of the same attempt reaches the ledger before this one, behind the run's back. */
  async function decidedElsewhere(status: JourneyStatus, decision: object): Promise<void> {
    const { journeyId: _, ...message } = decisionAbout(status, { decisionId: 'D-FIRST', ...decision });
    const decidedAt = new Date().toISOString();
    const record = { ...message, failureType: 'OutcomeUnknown', decidedAt } as unknown as DecisionRecord;
    await withLedger(harness, async (ledger) => {
      const inquiry = await ledger.inquiry(record.customerTraceNumber);
      assert.ok(inquiry);
      const verdict = await ledger.recordDecision(ledger.identity.ledgerId, inquiry, record);
      assert.equal(verdict.kind, 'recorded');
    });
  }

  test('that another decision has overtaken is refused with the recorded one, and the resend is sent once', async () => {
    const { handle, status } = await held('1503');
    await decidedElsewhere(status, { action: 'resend' });
    const overtaken = /^nothing was decided: by now its attempt 1 has another resend$/;
    assert.match(await refusalOf(update(handle, 'resolveInquiry', decisionAbout(status))), overtaken);
    const again = await untilStatus(handle, ({ holds }) => holds[0]?.attempts === 2);
    assert.match(await refusalOf(update(handle, 'resolveInquiry', decisionAbout(status))), overtaken);
    // The decision id is unused, so it may be used for the next hold.
    const { duplicate } = await update(handle, 'resolveInquiry', decisionAbout(again, { action: 'abandon' }));
    assert.equal(duplicate, false);
    assert.equal((await handle.result()).outcome, 'abandoned');
    assert.equal((await harness.received(handle)).length, 2);
  });

  test('to resend an inquiry that was accepted meanwhile is refused, and nothing is sent', async () => {
    const { handle, status } = await held('1503');
    const none = { kind: 'outcome', outcome: 'noRecord' };
    await decidedElsewhere(status, { action: 'accept', answer: none });
    const overtaken = /^nothing was decided: by now its attempt 1 is accepted$/;
    assert.match(await refusalOf(update(handle, 'resolveInquiry', decisionAbout(status))), overtaken);
    assert.equal((await handle.result()).stages[0]?.state, 'noRecord');
    assert.equal((await harness.received(handle)).length, 1);
  });

  test('about an inquiry that was abandoned meanwhile is refused, and the journey ends as abandoned', async () => {
    const { handle, status } = await held('4002');
    await decidedElsewhere(status, { action: 'abandon' });
    const overtaken = /^nothing was decided: by now the inquiry is abandoned$/;
    assert.match(await refusalOf(update(handle, 'resolveInquiry', decisionAbout(status))), overtaken);
    assert.equal((await handle.result()).outcome, 'abandoned');
    assert.equal((await harness.received(handle)).length, 1);
  });
});
