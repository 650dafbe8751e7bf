/** What every engine of the ledger must do; each engine's test file runs this suite against a real database. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { LedgerChangedError, LedgerNotFoundError, LedgerSchemaError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { ClaimVerdict, Ledger } from '../../src/ledger/port.ts';
import { UnknownKeyError } from '../../src/protection/errors.ts';
import type { KeyRing } from '../../src/protection/key-ring.ts';
import {
  attempted,
  claimOf,
  consentOf,
  decisionOf,
  INQUIRY,
  keyRing,
  NO_RECORD,
  outcomeOf,
  RECORD,
  SHARE,
  TRACE,
  UNKNOWN_CODE,
} from './fixtures.ts';

export interface LedgerBackend {
  name: string;
  /** The address of a database that holds nothing yet; another one at each call. */
  newUrl(): Promise<string>;
  /** One statement behind the ledger's back. */
  execute(url: string, sql: string): Promise<unknown[]>;
}

interface Opened {
  url: string;
  ring: KeyRing;
  ledger: Ledger;
  /** A second handle on the same ledger, as another worker has. */
  again(): Promise<Ledger>;
}

/** Past its time at once: nothing here waits for a clock. */
const OVERDUE = { answerWithinMs: 0 };

export function ledgerContract(backend: LedgerBackend): void {
  async function opened(t: TestContext): Promise<Opened> {
    const url = await backend.newUrl();
    const ring = keyRing();
    const open = async () => {
      const ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
      t.after(() => ledger.close());
      return ledger;
    };
    return { url, ring, ledger: await open(), again: open };
  }

  describe(`${backend.name}: claims`, () => claimTests(opened));
  describe(`${backend.name}: outcomes`, () => outcomeTests(opened, backend));
  describe(`${backend.name}: decisions`, () => decisionTests(opened, backend));
  describe(`${backend.name}: consents`, () => consentTests(opened, backend));
  describe(`${backend.name}: reports`, () => reportTests(opened));
  describe(`${backend.name}: identity`, () => identityTests(opened, backend));
}

type Open = (t: TestContext) => Promise<Opened>;

function latestState(verdict: ClaimVerdict): string {
  return verdict.kind === 'latest' ? verdict.latest.state : verdict.kind;
}

function claimTests(opened: Open): void {
  test('the first claim is made and says when, by the database clock', async (t) => {
    const { ledger } = await opened(t);
    const verdict = await ledger.claim(claimOf(ledger));
    assert.equal(verdict.kind, 'claimed');
    assert.ok(verdict.kind === 'claimed' && verdict.firstClaimedAt === verdict.claimedAt);
    const { now } = await ledger.ping();
    assert.ok(Math.abs(Date.parse(now) - Date.parse(verdict.claimedAt)) < 10_000);
  });

  test('a claim in flight is waited for, and says how long', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim(claimOf(ledger));
    for (const attempt of [1, 2]) {
      const verdict = await ledger.claim(claimOf(ledger, { attempt }));
      assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'sending');
      assert.ok((verdict.latest.waitMs ?? 0) > 50_000 && (verdict.latest.waitMs ?? 0) <= 60_000);
    }
  });

  for (const state of ['notSent', 'notProcessed'] as const) {
    test(`after ${state} the next attempt may be made, and the first claim's instant stays`, async (t) => {
      const { ledger } = await opened(t);
      const first = await attempted(ledger, {}, { state });
      const second = await ledger.claim(claimOf(ledger, { attempt: 2 }));
      assert.ok(first.kind === 'claimed' && second.kind === 'claimed');
      assert.equal(second.firstClaimedAt, first.claimedAt);
    });
  }

  for (const state of ['unknown', 'refused', 'notEntitled', 'credentialsRefused', 'untrusted'] as const) {
    test(`after ${state} nothing is claimed without a resend for exactly that attempt, which is spent once`, async (t) => {
      const { ledger } = await opened(t);
      const { ledgerId } = ledger.identity;
      await attempted(ledger, {}, { state, httpStatus: 503 });
      const held = await ledger.claim(claimOf(ledger, { attempt: 2 }));
      assert.ok(held.kind === 'latest' && held.latest.state === state && held.latest.httpStatus === 503);
      assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({})), { kind: 'recorded' });
      assert.equal((await attempted(ledger, { attempt: 2 }, { state })).kind, 'claimed');
      // A reset replays the decision and the claim: neither gives anything again.
      assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({})), { kind: 'recorded' });
      assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 2 }))), state);
      assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 3 }))), state);
    });
  }

  test('an attempt whose time is over reads as unknown, and a claim writes it so', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim(claimOf(ledger, OVERDUE));
    const seen = await ledger.lookUp(ledger.identity.ledgerId, TRACE);
    assert.ok(seen?.state === 'unknown' && seen.failureType === 'OutcomeUnknown' && seen.waitMs === undefined);
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 2 }))), 'unknown');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts[0]?.state, 'unknown');
  });

  test('an answer is returned instead of a claim', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD, httpStatus: 200 });
    for (const attempt of [1, 2]) {
      const verdict = await ledger.claim(claimOf(ledger, { attempt }));
      assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'answered');
      assert.deepEqual(verdict.latest.answer, RECORD);
    }
  });

  test('another request under the same number gets nothing, whatever came of the first', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    for (const attempt of [1, 2]) {
      assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt, request: 'other' })), { kind: 'requestDiffers' });
    }
  });

  test('a ledger that lacks the previous attempt, or has another id, is not the one that was used', async (t) => {
    const { ledger } = await opened(t);
    assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt: 2 })), { kind: 'ledgerChanged' });
    assert.deepEqual(await ledger.claim(claimOf(ledger, { ledgerId: 'ledger-x' })), { kind: 'ledgerChanged' });
    assert.deepEqual(await ledger.inquiriesOf('J-1'), [], 'nothing was written');
  });

  test('the latest state is returned where the ledger is further than the run', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const verdict = await ledger.claim(claimOf(ledger));
    assert.ok(verdict.kind === 'latest' && verdict.latest.attempt === 2);
    assert.deepEqual(verdict.latest.answer, NO_RECORD);
  });

  test('of many claims at once by two writers exactly one is made', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    for (let round = 0; round < 10; round++) {
      const inquiry = { customerTraceNumber: `PQRACE${round}` };
      const verdicts = await Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const writer = index % 2 === 0 ? ledger : other;
          return writer.claim(claimOf(writer, { inquiry, run: { workflowId: 'w', runId: `r${index}` } }));
        }),
      );
      assert.equal(verdicts.filter((verdict) => verdict.kind === 'claimed').length, 1);
      assert.equal(verdicts.filter((verdict) => latestState(verdict) === 'sending').length, 7);
    }
  });

  test('of two writers that spend one resend exactly one may send', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    for (let round = 0; round < 5; round++) {
      const inquiry = { customerTraceNumber: `PQSPEND${round}` };
      await attempted(ledger, { inquiry }, { state: 'unknown' });
      const decision = decisionOf({ customerTraceNumber: inquiry.customerTraceNumber });
      await ledger.recordDecision(ledger.identity.ledgerId, { ...INQUIRY, ...inquiry }, decision);
      const verdicts = await Promise.all(
        [ledger, other, ledger, other].map((writer) => writer.claim(claimOf(writer, { inquiry, attempt: 2 }))),
      );
      assert.equal(verdicts.filter((verdict) => verdict.kind === 'claimed').length, 1);
    }
  });

  test('a claim, its consents and which of them permitted it are one transaction', async (t) => {
    const { ledger } = await opened(t);
    const consents = [consentOf(), consentOf({ applicantId: '02', consentId: 'C-2' })];
    await ledger.claim(claimOf(ledger, { inquiry: SHARE, consents }));
    // A claim that is not made writes none.
    await ledger.claim(claimOf(ledger, { inquiry: SHARE, consents: [consentOf({ consentId: 'C-3' })] }));
    const revoked = (consentId: string) => consentOf({ consentId, decision: 'revoked' });
    assert.equal(await ledger.flagPostedShares(ledger.identity.ledgerId, revoked('C-1')), 1);
  });
}

function outcomeTests(opened: Open, backend: LedgerBackend): void {
  test('an outcome is recorded once and may be repeated', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim(claimOf(ledger));
    const record = outcomeOf(ledger, {
      state: 'answered',
      answer: RECORD,
      httpStatus: 200,
      requestedAt: '2026-01-02T05:04:05.5+02:00',
    });
    assert.equal(await ledger.recordOutcome(record), 'recorded');
    assert.equal(await ledger.recordOutcome(record), 'already');
    const { httpStatus: _, ...lessKnown } = record;
    assert.equal(await ledger.recordOutcome(lessKnown), 'already', 'a run knows less than its activity did');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts[0]?.requestedAt, '2026-01-02T03:04:05.500Z');
    assert.equal(inquiry?.attempts[0]?.httpStatus, 200);
    assert.equal(inquiry?.lateAnswerAt, undefined);
  });

  test('retry-after, status and failure type are kept', async (t) => {
    const { ledger } = await opened(t);
    const news = { state: 'notProcessed', failureType: 'Throttled', httpStatus: 429, retryAfterMs: 7_000 } as const;
    await attempted(ledger, {}, news);
    const seen = await ledger.lookUp(ledger.identity.ledgerId, TRACE);
    assert.deepEqual({ ...news, ...seen }, seen);
  });

  test('nothing is written for an attempt that was never claimed', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{}'), 'missing');
    await attempted(ledger, {}, { state: 'notSent' });
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { attempt: 2 })), 'missing');
  });

  test('an unknown outcome is answered late, even after its time, while nothing was built on it', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, OVERDUE, { state: 'unknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({}));
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD })), 'recorded');
    // The resend stands, unspent, and is worth nothing: the answer is there.
    const verdict = await ledger.claim(claimOf(ledger, { attempt: 2 }));
    assert.ok(verdict.kind === 'latest');
    assert.deepEqual(verdict.latest.answer, RECORD);
    assert.equal(verdict.latest.failureType, undefined);
  });

  test('an answer to a superseded attempt is kept beside it, never returned, and raises attention', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({}));
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const late = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(late, '{"late":true}'), 'late');
    assert.equal(await ledger.recordOutcome(late, '{"late":true}'), 'late');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts[0]?.state, 'unknown');
    assert.ok(inquiry?.attempts[0]?.lateAnswerAt && inquiry.lateAnswerAt);
    assert.deepEqual((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.answer, NO_RECORD);
    assert.equal(await ledger.readReport('J-1', 'PREQUAL'), null, 'not even its report');
  });

  test('what is known does not change, and "unknown" says nothing against it', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'unknown' })), 'already');
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: NO_RECORD })), 'late');
    assert.deepEqual((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.answer, RECORD);
  });

  test('answers at rest show no consumer id', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const rows = await backend.execute(url, 'SELECT * FROM attempts');
    assert.equal(rows.length, 1);
    const bytes = Object.values(rows[0] as object).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
    );
    assert.ok(!bytes.join('\n').includes('CONSUMER-SENTINEL'));
    assert.ok(bytes.includes('record'), 'the outcome is there for those who count');
  });

  test('a look-up finds nothing where nothing was claimed, and refuses another ledger', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await ledger.lookUp(ledger.identity.ledgerId, TRACE), null);
    await assert.rejects(ledger.lookUp('ledger-x', TRACE), LedgerChangedError);
    await assert.rejects(ledger.recordOutcome(outcomeOf(ledger, { ledgerId: 'ledger-x' })), LedgerChangedError);
    await assert.rejects(ledger.recordDecision('ledger-x', INQUIRY, decisionOf({})), LedgerChangedError);
    await assert.rejects(ledger.recordConsents('ledger-x', [consentOf()]), LedgerChangedError);
    await assert.rejects(ledger.flagPostedShares('ledger-x', consentOf()), LedgerChangedError);
    assert.deepEqual(await ledger.inquiriesOf('J-1'), []);
  });

  test('rows cannot be deleted, nor decisions and consents changed', async (t) => {
    const { ledger, url } = await opened(t);
    const consents = [consentOf()];
    await attempted(ledger, { inquiry: SHARE, consents }, { state: 'unknown' });
    const { customerTraceNumber = '' } = SHARE;
    await ledger.recordDecision(
      ledger.identity.ledgerId,
      { ...INQUIRY, ...SHARE },
      decisionOf({ customerTraceNumber }),
    );
    for (const statement of [
      'DELETE FROM attempts',
      'DELETE FROM inquiries',
      'DELETE FROM ledger_identity',
      'DELETE FROM decisions',
      "UPDATE decisions SET reason = 'x'",
      'DELETE FROM consents',
      "UPDATE consents SET decision = 'revoked'",
      'DELETE FROM attempt_consents',
    ]) {
      await assert.rejects(backend.execute(url, statement), /kept as they are/, statement);
    }
  });
}

function decisionTests(opened: Open, backend: LedgerBackend): void {
  test('a second resend of one attempt is overtaken, before and after the first is spent', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    const decide = (decisionId: string) => ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ decisionId }));
    assert.equal((await decide('D-1')).kind, 'recorded');
    const overtaken = await decide('D-2');
    assert.ok(overtaken.kind === 'overtaken' && overtaken.latest.state === 'unknown');
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const later = await decide('D-3');
    assert.ok(later.kind === 'overtaken' && later.latest.attempt === 2 && later.latest.state === 'answered');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(inquiry?.decisions, [decisionOf({})]);
  });

  test('of many people who resend at once one is heard', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    await attempted(ledger, {}, { state: 'unknown' });
    const verdicts = await Promise.all(
      Array.from({ length: 6 }, (_, index) => {
        const decision = decisionOf({ decisionId: `D-${index}` });
        return (index % 2 === 0 ? ledger : other).recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
      }),
    );
    assert.equal(verdicts.filter(({ kind }) => kind === 'recorded').length, 1);
  });

  test('a resend before any claim is kept, however many there are, and permits nothing by itself', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    for (const decisionId of ['D-1', 'D-2']) {
      const decision = decisionOf({ decisionId, failureType: 'TokenUnavailable' });
      assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, decision)).kind, 'recorded');
    }
    assert.equal(await ledger.lookUp(ledgerId, TRACE), null);
    assert.equal((await attempted(ledger, {}, { state: 'unknown' })).kind, 'claimed');
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 2 }))), 'unknown');
    assert.deepEqual(await ledger.claim(claimOf(ledger, { request: 'other' })), { kind: 'requestDiffers' });
  });

  test('accept gives an unknown outcome the answer that a person was told', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim(claimOf(ledger, OVERDUE));
    const decision = decisionOf({ action: 'accept', providerSaid: 'posted', answer: RECORD });
    assert.deepEqual(await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision), { kind: 'recorded' });
    const verdict = await ledger.claim(claimOf(ledger, { attempt: 2 }));
    assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'accepted');
    assert.deepEqual(verdict.latest.answer, RECORD);
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(inquiry?.decisions, [decision]);
    const late = outcomeOf(ledger, { state: 'answered', answer: NO_RECORD });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.deepEqual((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.answer, RECORD);
  });

  test('accept judges a doubtful answer, and its report becomes readable', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim(claimOf(ledger));
    const doubtful = outcomeOf(ledger, { state: 'answered', answer: UNKNOWN_CODE, failureType: 'ReturnCodeUnknown' });
    assert.equal(await ledger.recordOutcome(doubtful, '{"returnCode":"Maybe"}'), 'recorded');
    assert.equal(await ledger.readReport('J-1', 'PREQUAL'), null);
    const decision = decisionOf({ action: 'accept', answer: NO_RECORD });
    assert.equal((await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision)).kind, 'recorded');
    assert.equal(await ledger.recordOutcome(doubtful), 'already');
    assert.equal((await ledger.readReport('J-1', 'PREQUAL'))?.body, '{"returnCode":"Maybe"}');
  });

  test('accept and abandon are overtaken by an answer that came meanwhile', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    for (const action of ['accept', 'abandon', 'resend'] as const) {
      const decision = decisionOf({ decisionId: action, action, answer: NO_RECORD });
      const verdict = await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
      assert.ok(verdict.kind === 'overtaken', action);
      assert.deepEqual(verdict.latest.answer, RECORD);
    }
    assert.deepEqual((await ledger.inquiriesOf('J-1'))[0]?.decisions, []);
  });

  test('abandon closes an inquiry for good, before or after its first claim', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'notSent' });
    const fresh = { ...INQUIRY, customerTraceNumber: 'PQFRESH' };
    for (const inquiry of [INQUIRY, fresh]) {
      const { customerTraceNumber } = inquiry;
      const decision = decisionOf({ action: 'abandon', customerTraceNumber });
      assert.equal((await ledger.recordDecision(ledgerId, inquiry, decision)).kind, 'recorded');
      assert.equal((await ledger.lookUp(ledgerId, customerTraceNumber))?.state, 'abandoned');
      const attempt = inquiry === fresh ? 1 : 2;
      assert.equal(latestState(await ledger.claim(claimOf(ledger, { inquiry, attempt }))), 'abandoned');
    }
    const late = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'abandoned');
  });

  test('what is decided about a request that differs leaves the other request alone', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const decision = decisionOf({ action: 'abandon', failureType: 'RequestDiffers' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decision), { kind: 'recorded' });
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'answered');
  });

  test('an amendment is kept and changes nothing', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'refused' });
    const decision = decisionOf({ action: 'amend', answer: RECORD });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 2 }))), 'refused');
    assert.equal((await backend.execute(url, 'SELECT * FROM decisions')).length, 1);
    const amended = { customerTraceNumber: 'PQAMENDED', ordinal: 1, amends: TRACE };
    await ledger.claim(claimOf(ledger, { inquiry: amended, request: 'amended' }));
    const numbers = (await ledger.inquiriesOf('J-1')).map((view) => [view.customerTraceNumber, view.amends]);
    assert.deepEqual(numbers, [
      [TRACE, undefined],
      ['PQAMENDED', TRACE],
    ]);
  });
}

function consentTests(opened: Open, backend: LedgerBackend): void {
  test('consents are appended once', async (t) => {
    const { ledger, url } = await opened(t);
    const { ledgerId } = ledger.identity;
    const evidence = { method: 'web', textVersion: '7', capturedAt: '2026-01-02T03:04:05Z', reference: 'E-1' };
    const consents = [consentOf({ evidence }), consentOf({ decision: 'revoked' })];
    await ledger.recordConsents(ledgerId, consents);
    await ledger.recordConsents(ledgerId, [...consents, consentOf({ consentId: 'C-2' })]);
    assert.equal((await backend.execute(url, 'SELECT * FROM consents')).length, 3);
    await ledger.recordConsents(ledgerId, []);
  });

  test('a late revocation flags the posted shares that it concerns, and no others', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const posted = { state: 'answered', answer: { ...RECORD } } as const;
    await attempted(ledger, { inquiry: SHARE, consents: [consentOf()] }, posted);
    const notPosted = { ...SHARE, customerTraceNumber: 'SUNOTPOSTED', shareId: 'S2' };
    await attempted(ledger, { inquiry: notPosted, consents: [consentOf({ shareId: 'S2' })] }, { state: 'notSent' });

    const flags = (change: Parameters<typeof consentOf>[0]) =>
      ledger.flagPostedShares(ledgerId, consentOf({ decision: 'revoked', ...change }));
    assert.equal(await flags({ decision: 'granted' }), 0);
    assert.equal(await flags({ applicantId: '02' }), 0);
    assert.equal(await flags({ shareId: 'S2' }), 0);
    assert.equal(await flags({ secondaryUser: { endUserCode: 'EU9' } }), 0);
    await ledger.recordConsents(ledgerId, [consentOf({ consentId: 'C-OTHER' })]);
    assert.equal(await flags({ consentId: 'C-OTHER' }), 0, 'the grant that it revokes permitted nothing');
    assert.equal((await ledger.inquiriesOf('J-1'))[0]?.lateConsentAt, undefined);

    assert.equal(await flags({ consentId: 'C-NEVER-SEEN' }), 1, 'an unknown id revokes every grant');
    assert.equal(await flags({}), 1);
    assert.equal(await flags({ decision: 'denied', consentId: 'C-9' }), 1);
    assert.ok((await ledger.inquiriesOf('J-1'))[0]?.lateConsentAt);
  });
}

function reportTests(opened: Open): void {
  test('the newest answered report is read as it came', async (t) => {
    const { ledger } = await opened(t);
    const body = JSON.stringify({ names: ['Zoë', '😀'], filler: 'x'.repeat(200_000) });
    await ledger.claim(claimOf(ledger));
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{"first":1}');
    const again = { customerTraceNumber: 'PQAGAIN', ordinal: 1 };
    await ledger.claim(claimOf(ledger, { inquiry: again }));
    const newest = outcomeOf(ledger, { ...again, state: 'answered', answer: NO_RECORD });
    await ledger.recordOutcome(newest, body);
    const report = await ledger.readReport('J-1', 'PREQUAL');
    assert.equal(report?.body, body);
    assert.equal(report?.customerTraceNumber, 'PQAGAIN');
    assert.equal(await ledger.readReport('J-1', 'PREAPP'), null);
    assert.equal(await ledger.readReport('J-2', 'PREQUAL'), null);
  });

  test('a report that was missing when its outcome was recorded may follow', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.readReport('J-1', 'PREQUAL'), null);
    const record = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(record, '{"a":1}'), 'already');
    assert.equal(await ledger.recordOutcome(record, '{"a":2}'), 'already');
    assert.equal((await ledger.readReport('J-1', 'PREQUAL'))?.body, '{"a":1}');
  });
}

function identityTests(opened: Open, backend: LedgerBackend): void {
  test('a ledger keeps its id and its digests over its life', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    assert.deepEqual(other.identity, ledger.identity);
    assert.equal(other.digest('x'), ledger.digest('x'));
    assert.match(ledger.digest('x'), /^[0-9a-f]{64}$/);
    assert.notEqual(ledger.digest('x'), ledger.digest('y'));
  });

  test('two ledgers have different ids and digests', async (t) => {
    const [one, two] = [await opened(t), await opened(t)];
    assert.notEqual(one.ledger.identity.ledgerId, two.ledger.identity.ledgerId);
    assert.notEqual(one.ledger.digest('x'), two.ledger.digest('x'));
  });

  test('processes that make it at once get the same one', async (t) => {
    const url = await backend.newUrl();
    const ring = keyRing();
    const ledgers = await Promise.all(
      Array.from({ length: 4 }, () => openLedger({ url, environment: 'sandbox', keyRing: ring, create: true })),
    );
    t.after(() => Promise.all(ledgers.map((ledger) => ledger.close())));
    assert.equal(new Set(ledgers.map((ledger) => ledger.identity.ledgerId)).size, 1);
  });

  test('where there is none, none is made unless asked for', async () => {
    const url = await backend.newUrl();
    await assert.rejects(
      openLedger({ url, environment: 'sandbox', keyRing: keyRing() }),
      (error) => error instanceof LedgerNotFoundError && error.message.includes('credit-journey setup'),
    );
  });

  test('another environment, another id or another key ring is refused', async (t) => {
    const { url, ring: ours, ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const open = openLedger;
    await assert.rejects(
      open({ url, environment: 'uat', keyRing: ours, create: true }),
      (error) => error instanceof LedgerChangedError && error.message.includes(ledgerId),
    );
    await assert.rejects(
      open({ url, environment: 'sandbox', keyRing: ours, expectedId: 'ledger-x' }),
      (error) => error instanceof LedgerChangedError && error.message.includes('ledger-x'),
    );
    await assert.rejects(
      open({ url, environment: 'sandbox', keyRing: keyRing('other') }),
      (error) => error instanceof UnknownKeyError && error.keyId === 'k-ledger',
    );
    const same = await open({ url, environment: 'sandbox', keyRing: ours, expectedId: ledgerId });
    await same.close();
  });

  test('tables newer than the code, or older without a setup, are refused', async (t) => {
    const url = await backend.newUrl();
    const ring = keyRing();
    const made = await openLedger({ url, environment: 'uat', keyRing: ring, create: true });
    t.after(() => made.close());
    await backend.execute(url, 'INSERT INTO ledger_schema (version, applied_at) VALUES (99, 0)');
    await assert.rejects(openLedger({ url, environment: 'uat', keyRing: ring, create: true }), LedgerSchemaError);
  });
}
