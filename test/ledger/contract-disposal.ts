/** Part of the contract suite: a disposal destroys content, keeps rows, and prevents any further inquiry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DisposedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { AgeQuery } from '../../src/ledger/retention/retention.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { readAttention } from '../support/open-inquiries.ts';
import { retentionEvents } from '../support/retention-events.ts';
import {
  attempted,
  claimAs,
  claimOf,
  consentOf,
  decisionOf,
  INQUIRY,
  latestState,
  outcomeOf,
  RECORD,
  readSealedReport,
  SHARE,
  TRACE,
  UNKNOWN_CODE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };
const HOLD = { ...AUTHORIZATION, matter: '2026-17' };
const JOURNEY = 'J-1';
const PREAPP = { productCode: 'PREAPP', customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA00' } as const;
const ANSWERED = { state: 'answered', answer: RECORD, httpStatus: 200 } as const;

async function withReport(ledger: Ledger, inquiry: object = {}): Promise<void> {
  const claim = claimOf(ledger, { inquiry });
  await ledger.claim(claim);
  const { customerTraceNumber } = claim.inquiry;
  await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, ...ANSWERED }), '{"report":1}');
}

async function disposed(ledger: Ledger, runKey = JOURNEY): Promise<void> {
  assert.equal((await ledger.retention.begin(runKey, AUTHORIZATION)).kind, 'done');
  assert.equal((await ledger.retention.dispose(runKey, AUTHORIZATION, 2)).kind, 'done');
}

/** The sealed columns: a disposal must set all of them to NULL. */
const SEALED: readonly [table: string, column: string][] = [
  ['sealed_bodies', 'body'],
  ['sealed_bodies', 'wrapped_key'],
  ['sealed_bodies', 'key_id'],
  ['attempts', 'answer'],
  ['attempts', 'accepted_answer'],
  ['attempts', 'late_answer'],
  ['inquiries', 'digest'],
];

export function disposalTests(opened: Open, backend: LedgerBackend): void {
  async function counts(url: string): Promise<number[]> {
    const found: number[] = [];
    for (const [table, column] of SEALED) {
      const [row] = (await backend.execute(url, `SELECT count(${column}) AS n FROM ${table}`)) as { n: unknown }[];
      found.push(Number(row?.n));
    }
    return found;
  }

  test('disposal destroys reports, keys, answers and digests, keeps every row, and records who ordered it and why', async (t) => {
    const { url, ledger, ledgerId } = await opened(t);
    await withReport(ledger);
    // Lost, then accepted by an operator, then answered late: every column with personal data has a value.
    await attempted(ledger, { inquiry: PREAPP }, { state: 'unknown' });
    const about = { ...INQUIRY, ...PREAPP };
    assert.ok(RECORD.kind === 'outcome' && RECORD.reference);
    const accepted: Answer = { ...RECORD, reference: { ...RECORD.reference, reportReferenceNumber: 'ACCEPTED' } };
    const decision = { customerTraceNumber: PREAPP.customerTraceNumber, action: 'accept', answer: accepted } as const;
    await ledger.recordDecision(ledgerId, about, decisionOf(decision));
    const late = outcomeOf(ledger, { ...ANSWERED, customerTraceNumber: PREAPP.customerTraceNumber });
    assert.equal(await ledger.recordOutcome(late, '{"report":2}'), 'late');
    const seen = { decisionId: 'D-2', customerTraceNumber: PREAPP.customerTraceNumber, ...AUTHORIZATION };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    const others = { runKey: 'J-2', customerTraceNumber: 'PQBBBBBBBBBBBBBBBBBBBBBBBB00' };
    await withReport(ledger, others);
    assert.deepEqual(await counts(url), [3, 3, 3, 2, 1, 1, 3]);
    const before = await ledger.retention.view(JOURNEY);
    assert.deepEqual([before.inquiries, before.reports, before.obstacles], [2, 2, []]);
    assert.deepEqual(before.runs, [{ workflowId: 'journey-J-1', runId: 'run-1' }]);
    assert.equal((await ledger.inquiriesOf('J-1'))[1]?.decisions[0]?.answer?.kind, 'outcome');

    await disposed(ledger);
    assert.deepEqual(await counts(url), [1, 1, 1, 1, 0, 0, 1]);
    const consumers = await backend.execute(url, 'SELECT customer_trace_number FROM report_consumers');
    assert.equal(JSON.stringify(consumers), JSON.stringify([{ customer_trace_number: others.customerTraceNumber }]));
    const [first, second] = await ledger.inquiriesOf('J-1');
    assert.ok(first?.disposedAt && second?.disposedAt);
    assert.deepEqual([first.attempts[0]?.state, second.attempts[0]?.state], ['answered', 'accepted']);
    assert.equal(first.attempts[0]?.answer ?? second.attempts[0]?.answer ?? second.decisions[0]?.answer, undefined);
    assert.equal(second.decisions[0]?.reason, 'the provider has no such inquiry');
    const events = await retentionEvents(ledger, 'J-1');
    assert.deepEqual(
      events.map(({ recordedAt: _, ...event }) => event),
      [
        { runKey: 'J-1', ...AUTHORIZATION, kind: 'disposalBegun' },
        { runKey: 'J-1', ...AUTHORIZATION, kind: 'disposed', details: { inquiries: 2, reports: 2, runs: 2 } },
      ],
    );
    const { disposedAt, inquiries, reports } = await ledger.retention.view(JOURNEY);
    assert.deepEqual([inquiries, reports, disposedAt !== undefined], [0, 0, true]);
    await assert.rejects(readSealedReport(ledger, 'J-1', 'PREQUAL'), DisposedError);
    assert.equal((await readSealedReport(ledger, 'J-2', 'PREQUAL'))?.body, '{"report":1}');
    assert.equal(await readSealedReport(ledger, 'J-1', 'PRECLOSE'), null);
  });

  test('once a disposal has begun, no claim of any product, request or attempt succeeds', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    await attempted(ledger, { inquiry: PREAPP }, { state: 'unknown' });
    const decision = decisionOf({ customerTraceNumber: PREAPP.customerTraceNumber });
    await ledger.recordDecision(ledgerId, { ...INQUIRY, ...PREAPP }, decision);
    const attempts = async () => {
      const states = [];
      for (const change of [
        { attempt: 2 },
        { attempt: 2, request: 'another' },
        { attempt: 2, inquiry: PREAPP },
        { inquiry: { productCode: 'PRECLOSE', customerTraceNumber: 'PCAAAAAAAAAAAAAAAAAAAAAAAA00' } as const },
      ]) {
        states.push(latestState(await claimAs(ledger, change)));
      }
      return states;
    };
    await ledger.retention.begin(JOURNEY, AUTHORIZATION);
    assert.deepEqual(await attempts(), ['abandoned', 'requestDiffers', 'abandoned', 'abandoned']);
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'abandoned');
    await ledger.retention.dispose(JOURNEY, AUTHORIZATION, 0);
    assert.deepEqual(await attempts(), ['abandoned', 'abandoned', 'abandoned', 'abandoned']);
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'abandoned');
    assert.equal((await ledger.inquiriesOf('J-1')).length, 2, 'a refused claim leaves no row');
    const resend = decisionOf({ decisionId: 'D-3' });
    assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, resend)).kind, 'overtaken');
    assert.deepEqual([await ledger.retention.isBegun('J-1'), await ledger.retention.isBegun('J-2')], [true, false]);
    assert.equal((await ledger.startFacts('J-1')).isDisposed, true);
    assert.equal((await ledger.startFacts('J-2')).isDisposed, false);
  });

  test('disposal is refused while an answer may come, is undecided, or came late and was not marked as seen', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const reasons = async () => {
      const begun = await ledger.retention.begin(JOURNEY, AUTHORIZATION);
      return begun.kind === 'refused' ? begun.obstacles.map(({ reason }) => reason) : [];
    };
    await claimAs(ledger);
    assert.deepEqual(await reasons(), ['sending']);
    await ledger.recordOutcome(outcomeOf(ledger, {}));
    assert.deepEqual(await reasons(), ['undecided']);
    await attempted(ledger, { inquiry: PREAPP }, { state: 'answered', answer: UNKNOWN_CODE });
    assert.deepEqual(await reasons(), ['undecided', 'undecided']);
    for (const customerTraceNumber of [TRACE, PREAPP.customerTraceNumber]) {
      const decision = decisionOf({ customerTraceNumber, action: 'abandon' });
      await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber }, decision);
    }
    await ledger.recordOutcome(outcomeOf(ledger, ANSWERED), '{"report":2}');
    assert.deepEqual(await reasons(), ['attention']);
    assert.deepEqual(await retentionEvents(ledger, 'J-1'), [], 'nothing was begun');
    await ledger.recordSeen(ledgerId, { decisionId: 'D-9', customerTraceNumber: TRACE, ...AUTHORIZATION });
    assert.deepEqual(await reasons(), []);
    await disposed(ledger);
  });

  test('an answered attempt without an answer is on hold, and its inquiry is not disposed of', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered' });
    const { rows } = await ledger.tasks.open({ limit: 10 });
    assert.deepEqual(
      rows.map(({ reason }) => reason),
      ['UnexpectedResponse'],
    );
    const begun = await ledger.retention.begin(JOURNEY, AUTHORIZATION);
    assert.equal(begun.kind === 'refused' && begun.obstacles[0]?.reason, 'undecided');
  });

  test('a disposal that a legal hold stopped after it had begun is listed as unfinished until it is done', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    assert.equal(await retention.setLegalHold('J-1', HOLD), null, 'there is nothing to be held yet');
    await withReport(ledger);
    await retention.begin(JOURNEY, AUTHORIZATION);
    await retention.setLegalHold('J-1', HOLD);
    assert.equal((await retention.dispose(JOURNEY, AUTHORIZATION, 0)).kind, 'refused');
    assert.deepEqual(await retention.unfinished(), [{ runKey: JOURNEY }]);
    await retention.releaseLegalHold('J-1', HOLD);
    await disposed(ledger);
    assert.deepEqual(await retention.unfinished(), []);
    assert.equal(await retention.setLegalHold('J-1', HOLD), null, 'nothing is left to be held');
  });

  test('legal holds are logged in their order, also when several have the same millisecond', async (t) => {
    const { ledger } = await opened(t);
    await withReport(ledger);
    for (let round = 0; round < 5; round++) {
      await ledger.retention.setLegalHold('J-1', HOLD);
      await ledger.retention.releaseLegalHold('J-1', HOLD);
    }
    assert.deepEqual(
      (await retentionEvents(ledger, 'J-1')).map(({ kind }) => kind),
      Array.from({ length: 10 }, (_, index) => (index % 2 ? 'legalHoldReleased' : 'legalHoldSet')),
    );
  });

  test('an answer that arrives after a disposal is flagged, and nothing of it is kept', async (t) => {
    const { url, ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({}));
    await disposed(ledger);
    const record = outcomeOf(ledger, ANSWERED);
    assert.equal(await ledger.recordOutcome(record, '{"report":1}'), 'late');
    assert.deepEqual(await counts(url), [0, 0, 0, 0, 0, 0, 0]);
    assert.deepEqual(await readAttention(ledger, TRACE), ['lateAnswer']);
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, {})), 'already');
  });

  test('run keys are found by the age of their newest attempt or answer, oldest first and page by page', async (t) => {
    const { url, ledger } = await opened(t);
    const day = 24 * 3_600_000;
    const ids = ['J-old', 'J-older', 'J-young', 'J-answered', 'J-mixed'];
    for (const [index, runKey] of ids.entries()) {
      const inquiry = { runKey, customerTraceNumber: `PQ${index}AAAAAAAAAAAAAAAAAAAAAAA00` };
      await attempted(ledger, { inquiry }, ANSWERED);
    }
    const newer = { runKey: 'J-mixed', ...PREAPP };
    await attempted(ledger, { inquiry: newer }, ANSWERED);
    const age = (index: number, days: number) => `
      UPDATE inquiries SET created_at = created_at - ${days * day} WHERE customer_trace_number LIKE 'PQ${index}%'`;
    const attemptAge = (index: number, days: number, recorded: number) => `
      UPDATE attempts SET claimed_at = claimed_at - ${days * day}, recorded_at = recorded_at - ${recorded * day}
      WHERE customer_trace_number LIKE 'PQ${index}%'`;
    for (const [index, days, recorded] of [
      [0, 800, 800],
      [1, 900, 900],
      [3, 800, 1],
      [4, 850, 850],
    ] as const) {
      await backend.execute(url, age(index, days));
      await backend.execute(url, attemptAge(index, days, recorded));
    }
    const pages = async (query: object) => {
      const found: string[][] = [];
      let after: AgeQuery['after'];
      do {
        const page = await ledger.retention.olderThan({ olderThanMs: 760 * day, limit: 1, ...query, after });
        found.push(page.runKeys);
        after = page.next;
      } while (after);
      return found.flat();
    };
    assert.deepEqual(await pages({}), ['J-older', 'J-old']);
    assert.deepEqual(await pages({ limit: 10 }), ['J-older', 'J-old']);
    await disposed(ledger, 'J-older');
    assert.deepEqual(await pages({}), ['J-old']);
    assert.equal(await ledger.retention.scrub(), true);
  });

  test('a late revocation still flags a share that was disposed of', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const consents = [consentOf()];
    await attempted(ledger, { inquiry: SHARE, consents }, ANSWERED);
    await disposed(ledger);
    const revoked = consentOf({ decision: 'revoked' });
    await ledger.recordConsents(ledgerId, [revoked]);
    assert.equal(await ledger.flagPostedShares(ledgerId, revoked), 1);
  });

  test('disposal of a portfolio review covers all its rows, and closes the rows that were not sent yet', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    const rowOf = (runKey: string, customerTraceNumber: string) =>
      ({ runKey, customerTraceNumber, productCode: 'ACCTRVW' }) as const;
    const own = rowOf('portfolio:R-1/A-1', 'ARAAAAAAAAAAAAAAAAAAAAAAAA00');
    const second = rowOf('portfolio:R-1/A-2', 'ARBBBBBBBBBBBBBBBBBBBBBBBB00');
    const third = rowOf('portfolio:R-1/A-3', 'ARCCCCCCCCCCCCCCCCCCCCCCCC00');
    const other = rowOf('portfolio:R-10/A-1', 'ARDDDDDDDDDDDDDDDDDDDDDDDD00');
    for (const row of [own, second, other]) await withReport(ledger, row);
    const review = 'portfolio:R-1';
    assert.equal((await retention.view(review)).reports, 2);
    await retention.setLegalHold(own.runKey, HOLD);
    assert.equal((await retention.setLegalHold(review, HOLD))?.duplicate, false);
    assert.equal((await retention.begin(second.runKey, AUTHORIZATION)).kind, 'refused');
    await retention.releaseLegalHold(review, HOLD);
    // The hold on its own id is still in force.
    assert.equal((await retention.begin(review, AUTHORIZATION)).kind, 'refused');
    await retention.releaseLegalHold(own.runKey, HOLD);
    await disposed(ledger, review);
    assert.equal((await retention.view(review)).reports, 0);
    assert.equal((await retention.view(other.runKey)).reports, 1);
    assert.equal(latestState(await claimAs(ledger, { inquiry: third })), 'abandoned');
  });
}
