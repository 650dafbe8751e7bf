/** The API's answers with reports, refusals, changes and references: in full, and masked. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { changesBetween, type SealedChanges } from '../../src/changes/changes-between.ts';
import { DEFAULT_CHANGE_OPTIONS } from '../../src/fields/change-options.ts';
import { readResponse } from '../../src/gateway/envelope.ts';
import { DisposedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import { MASKED } from '../../src/protection/redaction/redaction.ts';
import { APPLICANT, SENTINELS } from '../codec-server/fixtures.ts';
import { claimAs, claimOf, keyRing, NO_RECORD, outcomeOf, RECORD, SHARE } from '../ledger/fixtures.ts';
import { readStored } from '../support/ledger-readings.ts';

const directory = mkdtempSync(join(tmpdir(), 'report-answers-'));
after(async () => {
  await ledger.close();
  rmSync(directory, { recursive: true, force: true });
});

const ring = keyRing();
const REPORT = JSON.stringify({
  returnCode: 'Record',
  reportReferenceNumber: 'REF-1',
  applicants: [
    {
      applicantId: '01',
      consumerId: 'CONSUMER-SENTINEL',
      consumer: {
        names: [{ first: 'ANNABEL', last: 'SENTINEL', firstReportedDate: '2001-02-03', refId: 1 }],
        ssn: APPLICANT.ssn,
        dob: APPLICANT.dob,
        accounts: [{ contributor: 'FIRST SANDBOX BANK', accountNumber: 'XXXX1234', balance: '12.00' }],
        score: 0,
      },
    },
  ],
}).replace('"score":0', '"score":1234567890123456789.5');

const REFUSED = 'PQCCCCCCCCCCCCCCCCCCCCCCCC00';
const REFUSAL = JSON.stringify({
  ...{ returnCode: 'Error', returnReasonCode: 'E1', errorMessage: 'ANNABEL SENTINEL', code: 422, 'ANNABEL x': 1 },
  problems: [{ path: '/applicants/0/names/0/last', text: 'ANNABEL is no name' }, 'ANNABEL'],
});

const ledger = await ledgerWithReport();

/** A real ledger in which `J-1` has a report, a share, and a stage without a record. */
async function ledgerWithReport(): Promise<Ledger> {
  const url = `file:${join(directory, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
  const answered = async (inquiry: object, answer: Answer, report?: string, applicantIds?: string[]) => {
    const change = { inquiry, ...(applicantIds ? { applicantIds } : {}) };
    await claimAs(ledger, change);
    const { customerTraceNumber } = claimOf(ledger, change).inquiry;
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer }), report);
  };
  await answered({}, RECORD, REPORT);
  await answered({ productCode: 'PREAPP', customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA00' }, RECORD);
  await answered({ productCode: 'PREAPP', customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA01', ordinal: 1 }, NO_RECORD);
  const failsafe = {
    productCode: 'FAILSAFE',
    runKey: 'pull:P-1',
    customerTraceNumber: 'FSAAAAAAAAAAAAAAAAAAAAAAAA00',
  };
  const consumers = [{ applicantId: '02', outcome: 'noRecord' as const, consumerId: 'CONSUMER-SENTINEL' }];
  const named = { kind: 'outcome', outcome: 'noRecord', returnCode: 'No Record', applicants: consumers } as const;
  await answered(failsafe, named, undefined, ['02']);
  const unnamed = { ...failsafe, runKey: 'pull:P-2', customerTraceNumber: 'FSAAAAAAAAAAAAAAAAAAAAAAAA01' };
  await answered(unnamed, NO_RECORD, undefined, ['02', '01']);
  const reference = { reportReferenceNumber: 'REF-2', requestedAt: '2026-01-03T00:00:00Z', applicants: [] };
  await answered(SHARE, { kind: 'outcome', outcome: 'record', returnCode: 'Record', reference });
  const [customerTraceNumber, productCode] = ['PQAAAAAAAAAAAAAAAAAAAAAAAA00', 'PREQUAL'];
  const later = readResponse(REPORT.replace('"balance"', '"accountCrossReference":{"consumerNameRefId":1},"balance"'));
  assert.ok(later);
  const applicants = [{ consumerId: 'CONSUMER-SENTINEL', consumer: {} }];
  const compared = { customerTraceNumber, productCode };
  const changes = changesBetween({ applicants }, later);
  const content: SealedChanges = { earlier: compared, later: compared, options: DEFAULT_CHANGE_OPTIONS, ...changes };
  const refused = { customerTraceNumber: REFUSED, attempt: 1 };
  await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber: REFUSED, runKey: 'J-3' } }));
  const sealed = await ledger.sealRefusal(refused, { text: REFUSAL, isWhole: true });
  await ledger.recordOutcome(outcomeOf(ledger, { ...refused, state: 'refused', httpStatus: 422 }), undefined, sealed);
  const origin = { customerTraceNumber, attempt: 1 };
  await ledger.keepChanges(ledger.identity.ledgerId, { of: origin, from: origin }, JSON.stringify(content));
  return ledger;
}

const PREQUAL = { runKey: 'J-1', productCode: 'PREQUAL' } as const;

type View = 'whole' | 'redacted';

function reading(view: View) {
  return { reveal: String(view === 'whole') };
}

test('an unmasked report equals the gateway’s answer', async () => {
  const text = String(await readStored(ledger, 'getReport', PREQUAL));
  // The report's text is unchanged, to the last digit.
  assert.ok(text.endsWith(`,"report":${REPORT}}`));
  const { report: _report, storedAt, ...about } = JSON.parse(text);
  const customerTraceNumber = 'PQAAAAAAAAAAAAAAAAAAAAAAAA00';
  assert.equal(Number.isNaN(Date.parse(storedAt)), false);
  assert.deepEqual(about, { customerTraceNumber, productCode: 'PREQUAL', attempt: 1, redacted: false });
});

test('a trace number selects the report of one inquiry of a repeated stage', async () => {
  const customerTraceNumber = 'PQAAAAAAAAAAAAAAAAAAAAAAAA00';
  const read = (of: string) =>
    readStored(ledger, 'getReport', PREQUAL, { ...reading('whole'), customerTraceNumber: of });
  assert.equal(JSON.parse(String(await read(customerTraceNumber))).customerTraceNumber, customerTraceNumber);
  await assert.rejects(read('PQAAAAAAAAAAAAAAAAAAAAAAAA01'), { status: 404 });
});

test('a masked report contains no personal data', async () => {
  const text = String(await readStored(ledger, 'getReport', PREQUAL, reading('redacted')));
  const json = JSON.parse(text);
  assert.equal(json.redacted, true);
  for (const sentinel of [...SENTINELS, 'ANNABEL']) assert.ok(!text.includes(sentinel), sentinel);
  const [{ consumer, consumerId }] = json.report.applicants;
  assert.deepEqual(consumer.names, [{ first: MASKED, last: MASKED, firstReportedDate: '2001-02-03', refId: 1 }]);
  assert.deepEqual(consumer.accounts, [{ contributor: 'FIRST SANDBOX BANK', accountNumber: MASKED, balance: '12.00' }]);
  assert.equal(consumerId, MASKED);
  assert.equal(json.report.reportReferenceNumber, 'REF-1');
});

test('a refusal’s body is read in full, or masked with only its structure and its codes', async () => {
  const read = async (view: View, attempt = '1') =>
    JSON.parse(
      String(await readStored(ledger, 'getRefusal', { customerTraceNumber: REFUSED, attempt }, reading(view))),
    );
  const { storedAt: _at, ...whole } = await read('whole');
  assert.deepEqual(whole, {
    ...{ customerTraceNumber: REFUSED, attempt: 1, productCode: 'PREQUAL', httpStatus: 422, isWhole: true },
    ...{ redacted: false, body: JSON.parse(REFUSAL) },
  });
  const masked = await read('redacted');
  assert.equal(masked.redacted, true);
  assert.deepEqual(masked.body, {
    ...{ returnCode: 'Error', returnReasonCode: 'E1', errorMessage: MASKED, code: MASKED, [MASKED]: MASKED },
    problems: [{ path: MASKED, text: MASKED }, MASKED],
  });
  await assert.rejects(read('whole', '2'), { status: 404 });
});

test('references come from the newest answered inquiry of each product', async () => {
  const answer = await readStored(ledger, 'getReferences', { runKey: 'J-1' });
  assert.ok(RECORD.kind === 'outcome');
  assert.deepEqual(answer, {
    runKey: 'J-1',
    // PREAPP is missing, since its newest inquiry had no record.
    references: [
      { productCode: 'PREQUAL', customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00', reference: RECORD.reference },
    ],
    shares: [{ shareId: 'S1', reportReferenceNumber: 'REF-2' }],
    redacted: false,
  });
  const masked = await readStored(ledger, 'getReferences', { runKey: 'J-1' }, reading('redacted'));
  const { redacted, references } = masked as { redacted: boolean; references: { reference: ReportReference }[] };
  assert.equal(redacted, true);
  assert.deepEqual(references[0]?.reference.applicants, [{ applicantId: '01', consumerId: MASKED }]);
});

test('FAILSAFE’s references list each consumer, with or without a consumer id', async () => {
  const ask = async (view: View, pullId = 'P-1') =>
    (await readStored(ledger, 'getReferences', { runKey: `pull:${pullId}` }, reading(view))) as {
      references: object[];
      consumers: object[];
    };
  const consumer = (consumerId: string) => ({ applicantId: '02', outcome: 'noRecord', consumerId });
  const { references, consumers } = await ask('whole');
  assert.deepEqual(references, []);
  assert.deepEqual(consumers, [consumer('CONSUMER-SENTINEL')]);
  assert.deepEqual((await ask('redacted')).consumers, [consumer(MASKED)]);
  // One gateway answer covers all consumers, in the order of the request.
  assert.deepEqual((await ask('redacted', 'P-2')).consumers, [
    { applicantId: '02', outcome: 'noRecord' },
    { applicantId: '01', outcome: 'noRecord' },
  ]);
});

test('changes between reports are read in full, or masked', async () => {
  const {
    storedAt: _storedAt,
    changes,
    ...about
  } = JSON.parse(String(await readStored(ledger, 'getJourneyChanges', { journeyId: 'J-1' })));
  assert.deepEqual(about, { customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00', attempt: 1, redacted: false });
  const [applicant] = (changes as SealedChanges).applicants;
  assert.equal(applicant?.newAccounts[0]?.accountNumber, 'XXXX1234');
  assert.deepEqual(applicant?.newNames, [{ first: 'ANNABEL', last: 'SENTINEL' }]);
  const text = String(await readStored(ledger, 'getJourneyChanges', { journeyId: 'J-1' }, reading('redacted')));
  const masked = JSON.parse(text);
  assert.equal(masked.redacted, true);
  for (const sentinel of [...SENTINELS, 'ANNABEL', 'XXXX1234']) assert.ok(!text.includes(sentinel), sentinel);
  const [account] = (masked.changes as SealedChanges).applicants[0]?.newAccounts ?? [];
  assert.deepEqual(
    [account?.contributor, account?.accountNumber, account?.balance],
    ['FIRST SANDBOX BANK', MASKED, '12'],
  );
  assert.deepEqual(account?.identification?.name, { refId: 1, entry: { first: MASKED, last: MASKED }, isNew: true });
});

// This test must run last, since it disposes of the journey.
test('a missing report is answered 404, and a disposed report 410', async () => {
  for (const asked of [
    () => readStored(ledger, 'getReport', { ...PREQUAL, productCode: 'PRECLOSE' }),
    () => readStored(ledger, 'getReport', { ...PREQUAL, runKey: 'J-2' }),
    () => readStored(ledger, 'getJourneyChanges', { journeyId: 'J-2' }),
    () => readStored(ledger, 'getReferences', { runKey: 'J-2' }),
  ]) {
    await assert.rejects(asked, { status: 404 });
  }
  const authorization = { by: 'ops@example.com', reason: 'kept long enough' };
  await ledger.retention.begin('J-1', authorization);
  await ledger.retention.dispose('J-1', authorization, 0);
  await assert.rejects(readStored(ledger, 'getReport', PREQUAL), DisposedError);
  await assert.rejects(readStored(ledger, 'getReferences', { runKey: 'J-1' }), { status: 410 });
});
