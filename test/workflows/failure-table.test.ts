/** Plays docs/protocol.md's failure table in journeys: their holds, and the requests of the gateway. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { HoldAction } from '../../src/model/failure-types.ts';
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
import { openLedgerOf } from '../support/ledger-access.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({
    env: { GATEWAY_HEADERS_TIMEOUT_MS: '2000', GATEWAY_BODY_TIMEOUT_MS: '2000', SUBMIT_TIMEOUT_MS: '15000' },
  });
});
after(() => harness?.close());

/** The decisions that are allowed for each type of hold. */
const ACTIONS: Record<string, HoldAction[]> = {
  NotEntitled: ['resend', 'abandon'],
  RequestRefused: ['amend', 'abandon'],
  OutcomeUnknown: ['resend', 'accept', 'abandon'],
  UnexpectedResponse: ['accept', 'abandon'],
  ReturnCodeUnknown: ['accept', 'amend', 'abandon'],
};

type Held = [lastFour: string, what: string, failureType: string, posted: number, joint?: boolean];

const status =
  (failureType: string) =>
  (code: number): Held => [`1${code}`, String(code), failureType, 0];
/** One fault of each kind. test/sandbox/failure-table.test.ts has every fault, as the client reads it. */
const HELD: Held[] = [
  status('NotEntitled')(403),
  status('RequestRefused')(422),
  ...[302, 503].map(status('OutcomeUnknown')),
  ['2303', '303 after posting', 'OutcomeUnknown', 1],
  ['2503', '503 after posting', 'OutcomeUnknown', 1],
  ['4001', 'a reset before posting', 'OutcomeUnknown', 0],
  ['4002', 'a reset after posting', 'OutcomeUnknown', 1],
  ['4007', 'no answer, not posted', 'OutcomeUnknown', 0],
  ['4009', 'an answer that stops in the middle', 'OutcomeUnknown', 1],
  ['4014', 'truncated JSON', 'OutcomeUnknown', 1],
  ['4024', 'an applicant missing', 'UnexpectedResponse', 1, true],
  ['4028', 'the applicants swapped', 'UnexpectedResponse', 1, true],
  ['0408', 'an unknown returnCode', 'ReturnCodeUnknown', 1],
];

function decideOn(journeyId: string, customerTraceNumber: string | undefined, more: object): object {
  return {
    ...{ journeyId, decisionId: 'D1', customerTraceNumber, attempt: 1, by: 'operator', reason: 'asked the provider' },
    ...{ providerSaid: 'notPosted', ...more },
  };
}

async function startWith(lastFour: string, joint?: boolean): Promise<{ handle: JourneyHandle; journeyId: string }> {
  const applicants = [applicant('1A', newSsn(lastFour)), ...(joint ? [applicant('2A', newSsn('0001'))] : [])];
  const input = journeyInput({ applicants, stages: ['PREQUAL'] });
  return { handle: await harness.start(input), journeyId: input.journeyId };
}

describe('an attempt that needs a decision', { concurrency: 12 }, () => {
  for (const [lastFour, what, failureType, posted, joint] of HELD) {
    test(`${what} becomes a hold: ${failureType}, after one request`, async () => {
      const { handle, journeyId } = await startWith(lastFour, joint);
      const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
      const hold = holds[0] ?? assert.fail();
      const actions = ACTIONS[failureType];
      assert.deepEqual([hold.failureType, hold.attempts, hold.allowedActions], [failureType, 1, actions]);
      if (/^[1-9]\d\d\b/.test(what)) assert.equal(hold.httpStatus, Number.parseInt(what, 10));
      assert.equal((await harness.received(handle)).length, 1);
      assert.equal((await harness.posted(handle)).length, posted);

      const abandon = { action: 'abandon', providerSaid: 'unknown' };
      await update(handle, 'resolveInquiry', decideOn(journeyId, hold.customerTraceNumber, abandon));
      const result = await handle.result();
      assert.deepEqual([result.outcome, result.stages[0]?.state], ['abandoned', 'abandoned']);
      assert.equal((await harness.received(handle)).length, 1);
    });
  }
});

describe('an attempt that is retried automatically', { concurrency: 12 }, () => {
  for (const [lastFour, what] of [
    ['3429', '429 with Retry-After in seconds'],
    ['4429', '429 with Retry-After as a date'],
    ['4430', '429 without Retry-After'],
    ['3401', '401 until the token is renewed'],
  ] as const) {
    test(`${what} is followed by one more attempt, and one inquiry is posted`, async () => {
      const { handle } = await startWith(lastFour);
      const result = await handle.result();
      assert.equal(result.outcome, 'completed');
      assert.equal(result.stages[0]?.attempts, 2);
      assert.equal((await harness.received(handle)).length, 2);
      assert.equal((await harness.posted(handle)).length, 1);
    });
  }

  test('a second 401, with a new token, becomes a hold', async () => {
    const { handle } = await startWith('1401');
    const status = await untilStatus(handle, ({ state }) => state === 'held');
    assert.equal(status.holds[0]?.failureType, 'CredentialsRefused');
    assert.equal(status.holds[0]?.attempts, 2);
    assert.equal((await harness.received(handle)).length, 2);
    await handle.terminate();
  });
});

describe('the body of a refused request', { concurrency: 4 }, () => {
  for (const [lastFour, failureType] of [
    ['1422', 'RequestRefused'],
    ['1403', 'NotEntitled'],
    ['1503', 'OutcomeUnknown'],
  ] as const) {
    test(`is kept encrypted, and the hold says so: ${failureType}`, async (t) => {
      const { handle } = await startWith(lastFour);
      const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
      const { customerTraceNumber, attempts, refusalKept, failureType: reason } = holds[0] ?? assert.fail();
      assert.deepEqual([reason, refusalKept], [failureType, true]);
      const ledger = await openLedgerOf(harness);
      t.after(() => ledger.close());
      const of = { customerTraceNumber, attempt: attempts };
      const kept = await ledger.readRefusal(of, { by: 'ops', via: 'ledger' });
      assert.match(kept?.body ?? '', /The sandbox was told to answer/);
      assert.equal(kept?.httpStatus, Number(lastFour) - 1000);
      assert.doesNotMatch(JSON.stringify(await statusOf(handle)), /The sandbox was told/);
    });
  }
});

describe('an operator’s decision', { concurrency: 12 }, () => {
  test('sends the request once more with the same trace number (resend)', async () => {
    const { handle, journeyId } = await startWith('4001');
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    const message = decideOn(journeyId, holds[0]?.customerTraceNumber, { action: 'resend' });
    assert.equal((await update(handle, 'resolveInquiry', message)).duplicate, false);
    const result = await handle.result();
    assert.equal(result.stages[0]?.state, 'record');
    const received = await harness.received(handle);
    assert.equal(received.length, 2);
    assert.equal(new Set(received.map(({ customerTraceNumber }) => customerTraceNumber)).size, 1);
    assert.equal((await harness.posted(handle)).length, 1);
  });

  test('keeps the hold with a reason if it accepts another person’s report, and ends it with the right one', async () => {
    const other = await startWith('0001');
    const { reference: theirs } = (await other.handle.result()).stages[0] ?? {};
    assert.ok(theirs);
    const { handle, journeyId } = await startWith('4002');
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    const decide = (decisionId: string, reference: object, more: object = {}) => {
      const accept = { decisionId, action: 'accept', outcome: 'record', providerSaid: 'posted', reference, ...more };
      return update(handle, 'resolveInquiry', decideOn(journeyId, holds[0]?.customerTraceNumber, accept));
    };
    const number = /^\/reference\/reportReferenceNumber must be the reference of this inquiry/;
    assert.match(await refusalOf(decide('D-theirs', theirs)), number);
    const [held] = (await handle.query<JourneyStatus>('status')).holds;
    assert.equal(held?.refusedDecision?.decisionId, 'D-theirs');
    assert.match(held?.refusedDecision?.reason ?? '', number);
    const own = { ...theirs, reportReferenceNumber: `RPT-${journeyId.slice(-8)}` };
    assert.match(await refusalOf(decide('D-own', own)), /^\/reference\/applicants\/0\/consumerId must be confirmed/);
    // A refused decision leaves its id free, so the corrected one can use it.
    await decide('D-own', own, { confirmConsumerIds: true });
    assert.deepEqual((await handle.result()).stages[0]?.reference, own);
    assert.equal((await harness.received(handle)).length, 1);
  });

  test('makes a new inquiry with the same or with corrected applicants (amend)', async () => {
    const { handle, journeyId } = await startWith('1422');
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    const first = holds[0]?.customerTraceNumber ?? '';
    await update(handle, 'resolveInquiry', decideOn(journeyId, first, { action: 'amend' }));
    // The gateway refuses this applicant again.
    const isHeldAgain = (status: JourneyStatus) => status.holds[0]?.customerTraceNumber === `${first.slice(0, -2)}01`;
    const again = (await untilStatus(handle, isHeldAgain)).holds[0]?.customerTraceNumber;
    const corrected = { action: 'amend', decisionId: 'D-corrected', applicants: [applicant('1A')] };
    await update(handle, 'resolveInquiry', decideOn(journeyId, again, corrected));
    const result = await handle.result();
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal(result.stages[0]?.customerTraceNumber, `${first.slice(0, -2)}02`);
    assert.equal((await harness.received(handle)).length, 3);
    assert.equal((await harness.posted(handle)).length, 1);
  });

  test('resolves the hold of a withdrawn journey only without sending', async () => {
    const { handle, journeyId } = await startWith('4002');
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    await update(handle, 'withdraw', { journeyId, by: 'borrower', reason: 'gone' });
    const trace = holds[0]?.customerTraceNumber;
    assert.match(
      await refusalOf(update(handle, 'resolveInquiry', decideOn(journeyId, trace, { action: 'resend' }))),
      /ending/,
    );
    await update(handle, 'resolveInquiry', decideOn(journeyId, trace, { action: 'abandon' }));
    assert.equal((await handle.result()).outcome, 'withdrawn');
    assert.equal((await harness.received(handle)).length, 1);
  });
});
