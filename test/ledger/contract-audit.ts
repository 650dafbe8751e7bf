/** Part of the contract suite: the list of inquiries that auditors and accountants read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditedAttempt, type InquiriesQuery, InquiryTotals } from '../../src/ledger/audit/audited.ts';
import { type FoundRow, readAttemptsPage } from '../../src/ledger/audit/record-pages.ts';
import { Transactions } from '../../src/ledger/database/transactions.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openEngine } from '../../src/ledger/open-ledger.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { LedgerCipher } from '../../src/protection/sealed/sealing.ts';
import {
  asJson,
  attempted,
  claimAs,
  claimOf,
  consentOf,
  decisionOf,
  INQUIRY,
  NO_RECORD,
  outcomeOf,
  RECORD,
  SHARE,
  TRACE,
  UNKNOWN_CODE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const numbered = (customerTraceNumber: string) => ({ inquiry: { customerTraceNumber } });

function listed(ledger: Ledger, query: InquiriesQuery = {}): Promise<AuditedAttempt[]> {
  return Array.fromAsync(ledger.inquiriesBetween(query));
}

/** Lists each attempt as `<trace> <outcome> <posted>`. */
async function told(ledger: Ledger, query: InquiriesQuery = {}): Promise<string[]> {
  return (await listed(ledger, query)).map((one) => `${one.customerTraceNumber} ${one.outcome} ${one.posted}`);
}

async function traces(ledger: Ledger, query: InquiriesQuery): Promise<string[]> {
  return (await listed(ledger, query)).map((one) => `${one.customerTraceNumber}/${one.attempt}`);
}

const ANSWERED: Partial<OutcomeRecord> = { state: 'answered', answer: RECORD };

export function auditTests(opened: Open, backend: LedgerBackend): void {
  test('each attempt has codes, outcomes by applicant, and the reference number of an answer without a record', async (t) => {
    const { ledger } = await opened(t);
    const applicantIds = ['01', '02'];
    const reference = RECORD.kind === 'outcome' ? RECORD.reference : undefined;
    const none = { kind: 'outcome', outcome: 'noRecord', returnCode: 'No Record', returnReasonCode: 'N1' } as const;
    const some = { kind: 'outcome', outcome: 'record', returnCode: 'Record', ...(reference && { reference }) } as const;
    const answers: [string, Answer][] = [
      ['A', RECORD],
      ['B', { ...none, noRecordReference: 'NONE-1' }],
      [
        'C',
        {
          ...some,
          applicants: [
            { applicantId: '01', outcome: 'record', returnCode: 'Record', consumerId: 'CONSUMER-SENTINEL' },
            { applicantId: '02', outcome: 'noReport', returnCode: 'Suppress' },
          ],
        },
      ],
      ['D', UNKNOWN_CODE],
    ];
    for (const [trace, answer] of answers) {
      await attempted(ledger, { ...numbered(trace), applicantIds }, { state: 'answered', answer });
    }
    const found = (await listed(ledger)).map((row) => {
      const applicants = row.applicantOutcomes?.map((each) => Object.values(each).join('='));
      const { customerTraceNumber, returnCode, returnReasonCode, noRecordReference } = row;
      return [customerTraceNumber, returnCode, returnReasonCode, noRecordReference, ...(applicants ?? [])].join('; ');
    });
    assert.deepEqual(found.sort(), [
      'A; Record; ; ; 01=record; 02=noRecord',
      'B; No Record; N1; NONE-1; 01=noRecord; 02=noRecord',
      'C; Record; ; ; 01=record=Record; 02=noReport=Suppress',
      'D; ; ; ',
    ]);
    assert.doesNotMatch(JSON.stringify(await listed(ledger)), /SENTINEL/);
  });

  test('an accepted outcome says which applicants have a record', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const applicantIds = ['01', '02'];
    await attempted(ledger, { ...numbered('A'), applicantIds }, { state: 'unknown' });
    const accept = decisionOf({ customerTraceNumber: 'A', action: 'accept', providerSaid: 'posted', answer: RECORD });
    await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber: 'A' }, accept);
    const [accepted] = await listed(ledger, { customerTraceNumber: 'A' });
    assert.deepEqual(
      accepted?.applicantOutcomes?.map(({ outcome }) => outcome),
      ['record', 'noRecord'],
    );
  });

  test('each attempt has its outcome, and says whether an inquiry was posted', async (t) => {
    const { ledger } = await opened(t);
    const outcomes: [string, Partial<OutcomeRecord>][] = [
      ['A', ANSWERED],
      ['B', { state: 'answered', answer: NO_RECORD }],
      ['C', { state: 'answered', answer: UNKNOWN_CODE }],
      ['D', { state: 'answered', answer: { kind: 'unexpectedResponse', problems: ['/applicants is missing'] } }],
      ['E', { state: 'unknown', httpStatus: 503 }],
      ['F', { state: 'notSent' }],
      ['G', { state: 'notProcessed', httpStatus: 429 }],
      ['H', { state: 'refused' }],
    ];
    for (const [trace, outcome] of outcomes) await attempted(ledger, numbered(trace), outcome);
    await claimAs(ledger, { ...numbered('I'), answerWithinMs: 0 });
    await claimAs(ledger, numbered('J'));
    const expected = [
      'A record yes',
      'B noRecord yes',
      'C returnCodeUnknown yes',
      'D unexpectedResponse yes',
      'E unknown unknown',
      'F notSent no',
      'G notProcessed no',
      'H refused no',
      'I unknown unknown',
      'J sending unknown',
    ];
    assert.deepEqual((await told(ledger)).sort(), expected);
    for (const outcome of ['record', 'unexpectedResponse', 'unknown', 'sending'] as const) {
      const own = expected.filter((line) => line.split(' ')[1] === outcome);
      assert.deepEqual((await told(ledger, { outcome })).sort(), own);
    }
    const [e] = await listed(ledger, { outcome: 'unknown' });
    assert.deepEqual([e?.httpStatus, e?.decision, e?.consents], [503, undefined, []]);
  });

  test('an attempt names its end user, its purpose and the grants that permitted it, and shows nothing sealed', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, { inquiry: SHARE, consents: [consentOf(), consentOf({ applicantId: '02' })] }, ANSWERED);
    const [share] = await listed(ledger);
    const { claimedAt, ...rest } = share ?? assert.fail();
    assert.ok(Date.parse(claimedAt) > 0);
    assert.deepEqual(asJson(rest), {
      ...INQUIRY,
      ...SHARE,
      attempt: 1,
      outcome: 'record',
      posted: 'yes',
      returnCode: 'Record',
      consents: [
        { applicantId: '01', consentId: 'C-1' },
        { applicantId: '02', consentId: 'C-1' },
      ],
      legalHolds: [],
    });
    assert.doesNotMatch(JSON.stringify(share), /SENTINEL|REF-1/);
  });

  test('a decision’s providerSaid determines what counts as posted, and a late answer overrides it', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const decide = (customerTraceNumber: string, change: Partial<Parameters<typeof decisionOf>[0]>) =>
      ledger.recordDecision(
        ledgerId,
        { ...INQUIRY, customerTraceNumber },
        decisionOf({ customerTraceNumber, ...change }),
      );
    await attempted(ledger, numbered('A'), { state: 'unknown' });
    await decide('A', { action: 'resend', reason: '=cmd' });
    await attempted(ledger, { ...numbered('A'), attempt: 2 }, ANSWERED);
    await attempted(ledger, numbered('B'), { state: 'unknown' });
    await decide('B', { action: 'abandon', providerSaid: 'posted' });
    await attempted(ledger, numbered('C'), { state: 'unknown' });
    await decide('C', { action: 'accept', providerSaid: 'unknown', answer: NO_RECORD });
    await attempted(ledger, numbered('D'), { state: 'unknown' });
    await decide('D', { action: 'abandon', providerSaid: 'notPosted' });
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber: 'D', ...ANSWERED }));
    // One decision is about an unclaimed inquiry, the other about another request: neither settles the attempt.
    await decide('E', { decisionId: 'D-8', failureType: 'TokenUnavailable', providerSaid: 'posted' });
    await attempted(ledger, numbered('E'), { state: 'unknown' });
    await decide('E', { decisionId: 'D-9', action: 'amend', failureType: 'RequestDiffers', providerSaid: 'posted' });
    await attempted(ledger, { inquiry: { customerTraceNumber: 'F', amends: 'E', ordinal: 1 } }, ANSWERED);

    assert.deepEqual((await told(ledger)).sort(), [
      'A record yes',
      'A unknown no',
      'B unknown yes',
      'C noRecord unknown',
      'D unknown yes',
      'E unknown unknown',
      'F record yes',
    ]);
    const rows = Object.fromEntries(
      (await listed(ledger)).map((one) => [`${one.customerTraceNumber}${one.attempt}`, one]),
    );
    assert.deepEqual(rows.A1?.decision, {
      decisionId: 'D-1',
      action: 'resend',
      by: 'operator@example.com',
      reason: '=cmd',
      providerSaid: 'notPosted',
      decidedAt: '2026-01-02T03:04:05Z',
    });
    assert.deepEqual([rows.A2?.permittedBy, rows.A2?.decision], [rows.A1?.decision, undefined]);
    assert.deepEqual([rows.D1?.late?.outcome, rows.D1?.abandonedAt === undefined], ['record', false]);
    assert.deepEqual([rows.E1?.decision, rows.E1?.permittedBy], [undefined, undefined]);
    assert.equal(rows.F1?.permittedBy?.decisionId, 'D-9');
  });

  test('a late answer is listed with its codes and outcomes; a disposal removes only its reference number', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const inquiry = { customerTraceNumber: 'L' };
    await ledger.claim({ ...claimOf(ledger, { inquiry }), applicantIds: ['1A', '2A'] });
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber: 'L', state: 'notSent' }));
    const answer: Answer = {
      ...{ kind: 'outcome', outcome: 'noRecord', returnCode: 'No Record', returnReasonCode: 'R7' },
      noRecordReference: 'LATE-1',
    };
    assert.equal(
      await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber: 'L', state: 'answered', answer })),
      'late',
    );
    const [one] = await listed(ledger);
    const { at = '', ...late } = one?.late ?? {};
    assert.ok(at > '2026');
    const told = {
      ...{ outcome: 'noRecord', returnCode: 'No Record', returnReasonCode: 'R7' },
      applicantOutcomes: ['1A', '2A'].map((applicantId) => ({ applicantId, outcome: 'noRecord' })),
    };
    assert.deepEqual(asJson(late), { ...told, noRecordReference: 'LATE-1' });
    assert.deepEqual([one?.returnCode, one?.outcome], [undefined, 'notSent'], 'it is not the outcome');
    await ledger.recordSeen(ledgerId, { customerTraceNumber: 'L', decisionId: 'D-1', by: 'ops', reason: 'seen' });
    const abandon = decisionOf({ decisionId: 'D-2', customerTraceNumber: 'L', action: 'abandon' });
    await ledger.recordDecision(ledgerId, { ...INQUIRY, ...inquiry }, abandon);
    const who = { by: 'records-1', reason: 'retention is over' };
    await ledger.retention.begin('J-1', who);
    await ledger.retention.dispose('J-1', who, 0);
    const { at: _, ...left } = (await listed(ledger))[0]?.late ?? {};
    assert.deepEqual(asJson(left), told);
  });

  test('the list can be filtered by period, end user and product, and by a reference number that is stored sealed', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    for (const [index, inquiry] of [
      { customerTraceNumber: 'A' },
      { customerTraceNumber: 'B', endUserCode: 'EU9' },
      { customerTraceNumber: 'C', productCode: 'PRECLOSE' as const, endUser: 'A House' },
    ].entries()) {
      await attempted(ledger, { inquiry }, { state: 'unknown' });
      const set = `claimed_at = ${1000 * (index + 1)}`;
      await backend.execute(
        url,
        `UPDATE attempts SET ${set} WHERE customer_trace_number = '${inquiry.customerTraceNumber}'`,
      );
    }
    const second = (count: number) => new Date(1000 * count).toISOString();
    assert.deepEqual(await traces(ledger, { from: second(2) }), ['B/1', 'C/1']);
    assert.deepEqual(await traces(ledger, { from: second(1), before: second(2) }), ['A/1']);
    assert.deepEqual(await traces(ledger, { endUser: 'EU9' }), ['B/1']);
    assert.deepEqual(await traces(ledger, { endUser: 'A House', productCode: 'PRECLOSE' }), ['C/1']);
    assert.deepEqual(await traces(ledger, { endUser: 'A House', productCode: 'PREQUAL' }), []);
    for (const query of [{ from: 'yesterday' }, { before: '2026-01-01' }]) {
      await assert.rejects(traces(ledger, query), RangeError);
    }

    const referred = (reportReferenceNumber: string) => traces(ledger, { reportReferenceNumber });
    const record = (reportReferenceNumber: string) => ({
      ...RECORD,
      reference: {
        ...(RECORD.kind === 'outcome' && RECORD.reference ? RECORD.reference : assert.fail()),
        reportReferenceNumber,
      },
    });
    assert.deepEqual(await referred('R-ANSWERED'), []);
    await attempted(ledger, numbered('E'), { state: 'answered', answer: record('R-ANSWERED') });
    const accept = decisionOf({ customerTraceNumber: 'A', action: 'accept', answer: record('R-ACCEPTED') });
    await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber: 'A' }, accept);
    const abandon = decisionOf({ customerTraceNumber: 'B', action: 'abandon' });
    await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber: 'B' }, abandon);
    await ledger.recordOutcome(
      outcomeOf(ledger, { customerTraceNumber: 'B', state: 'answered', answer: record('R-LATE') }),
    );
    assert.deepEqual(await referred('R-ANSWERED'), ['E/1']);
    assert.deepEqual(await referred('R-ACCEPTED'), ['A/1']);
    assert.deepEqual(await referred('R-LATE'), ['B/1']);
    assert.deepEqual(await traces(ledger, { reportReferenceNumber: 'R-LATE', before: second(2) }), []);
  });

  test('pages list each attempt once and in order, also when many were claimed at the same instant', async (t) => {
    const { ledger, url } = await opened(t);
    for (const trace of ['B', 'A', 'D', 'C']) {
      await attempted(ledger, numbered(trace), { state: trace === 'C' ? 'refused' : 'notSent' });
      if (trace !== 'C') await attempted(ledger, { ...numbered(trace), attempt: 2 }, { state: 'notSent' });
    }
    await backend.execute(url, "UPDATE attempts SET claimed_at = 1000 WHERE customer_trace_number <> 'D'");
    const expected = ['A/1', 'A/2', 'B/1', 'B/2', 'C/1', 'D/1', 'D/2'];
    assert.deepEqual(await traces(ledger, {}), expected);
    const engine = await openEngine(url);
    t.after(() => engine.close());
    const cipher = new LedgerCipher(ledger.identity.ledgerId, new Uint8Array(32));
    const transactions = new Transactions(engine, cipher);
    for (const pageSize of [1, 2, 3]) {
      const listed = (query: InquiriesQuery) =>
        Array.fromAsync(
          transactions.readPages((tx, after?: FoundRow) => readAttemptsPage(tx, query, after, { pageSize })),
        );
      const paged = await listed({});
      assert.deepEqual(
        paged.map((one) => `${one.customerTraceNumber}/${one.attempt}`),
        expected,
      );
      const some = await listed({ outcome: 'refused' });
      assert.deepEqual(
        some.map((one) => one.customerTraceNumber),
        ['C'],
        'pages without any are passed over',
      );
    }
  });

  test('totals count sent, posted, not posted and unknown attempts by product and end user', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, { inquiry: { customerTraceNumber: TRACE } }, ANSWERED);
    await attempted(ledger, numbered('U'), { state: 'unknown' });
    await attempted(ledger, numbered('R'), { state: 'refused' });
    await attempted(ledger, numbered('N'), { state: 'notSent' });
    await attempted(ledger, { inquiry: SHARE, consents: [consentOf()] }, ANSWERED);
    const totals = new InquiryTotals();
    for await (const one of ledger.inquiriesBetween()) totals.add(one);
    assert.deepEqual(asJson(totals.list), [
      { productCode: 'PREQUAL', endUserCode: 'EU1', sent: 3, posted: 1, notPosted: 1, unknown: 1 },
      { productCode: 'SECONDUSE', endUserCode: 'EU2', sent: 1, posted: 1, notPosted: 0, unknown: 0 },
    ]);
  });
}
