import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { changesBetween } from '../../src/changes/changes-between.ts';
import { sealedChangesText } from '../../src/changes/sealed-changes.ts';
import { readResponse } from '../../src/gateway/envelope.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openLedger } from '../../src/ledger/sql/open-ledger.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { MASKED } from '../../src/protection/redaction/redaction.ts';
import { claimOf, keyRing, NO_RECORD, outcomeOf, RECORD, SHARE } from '../ledger/fixtures.ts';
import { APPLICANT, KEY_SET, NAMESPACE, SENTINELS, startServer, token } from './fixtures.ts';

const directory = mkdtempSync(join(tmpdir(), 'codec-server-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const keySet = join(directory, 'jwks.json');
writeFileSync(keySet, JSON.stringify(KEY_SET));

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

let ledgers = 0;

/** A real one, in which `J-1` has a report, a share, and a stage without a record. */
async function ledgerWithReport(): Promise<() => Promise<Ledger>> {
  ledgers += 1;
  const url = `file:${join(directory, `ledger-${ledgers}.db`)}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
  const answered = async (inquiry: object, answer: Answer, report?: string, applicantIds?: string[]) => {
    const claim = claimOf(ledger, { inquiry, ...(applicantIds ? { applicantIds } : {}) });
    await ledger.claim(claim);
    const { customerTraceNumber } = claim.inquiry;
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer }), report);
  };
  await answered({}, RECORD, REPORT);
  await answered({ productCode: 'PREAPP', customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA00' }, RECORD);
  await answered({ productCode: 'PREAPP', customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA01', ordinal: 1 }, NO_RECORD);
  const failsafe = {
    productCode: 'FAILSAFE',
    ownerId: 'pull:P-1',
    customerTraceNumber: 'FSAAAAAAAAAAAAAAAAAAAAAAAA00',
  };
  const consumers = [{ applicantId: '02', outcome: 'noRecord' as const, consumerId: 'CONSUMER-SENTINEL' }];
  await answered(failsafe, { kind: 'outcome', outcome: 'noRecord', returnCode: 'No Record', applicants: consumers });
  const unnamed = { ...failsafe, ownerId: 'pull:P-2', customerTraceNumber: 'FSAAAAAAAAAAAAAAAAAAAAAAAA01' };
  await answered(unnamed, NO_RECORD, undefined, ['02', '01']);
  const reference = { reportReferenceNumber: 'REF-2', requestedAt: '2026-01-03T00:00:00Z', applicants: [] };
  await answered(SHARE, { kind: 'outcome', outcome: 'record', returnCode: 'Record', reference });
  const [customerTraceNumber, productCode] = ['PQAAAAAAAAAAAAAAAAAAAAAAAA00', 'PREQUAL'];
  const later = readResponse(REPORT.replace('"balance"', '"accountCrossReference":{"consumerNameRefId":1},"balance"'));
  assert.ok(later);
  const applicants = [{ consumerId: 'CONSUMER-SENTINEL', consumer: {} }];
  const compared = { customerTraceNumber, productCode };
  const text = sealedChangesText({
    earlier: compared,
    later: compared,
    changes: changesBetween({ applicants }, later),
  });
  const refused = { customerTraceNumber: REFUSED, attempt: 1 };
  await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber: REFUSED, ownerId: 'J-3' } }));
  const sealed = await ledger.sealRefusal(refused, { text: REFUSAL, isWhole: true });
  await ledger.recordOutcome(outcomeOf(ledger, { ...refused, state: 'refused', httpStatus: 422 }), undefined, sealed);
  const origin = { customerTraceNumber, attempt: 1 };
  await ledger.keepDerived(ledger.identity.ledgerId, { kind: 'changes', of: origin, from: origin }, text);
  await ledger.close();
  return () => openLedger({ url, environment: 'sandbox', keyRing: ring });
}

async function started(t: TestContext) {
  const server = await startServer(t, keySet, { openLedger: await ledgerWithReport() });
  const callers = {
    service: await token({ roles: ['report', 'decode'] }),
    person: await token({ roles: ['report'] }),
    investigator: await token({ roles: ['report', 'reveal'] }),
  };
  return { server, ...callers };
}

test('a service reads the report as the gateway answered it', async (t) => {
  const { server, service } = await started(t);
  const { status, text, json, headers } = await server.call('/journeys/J-1/reports/PREQUAL', { token: service });
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  // To the last digit.
  assert.ok(text.endsWith(`,"report":${REPORT}}`));
  const { report: _report, storedAt, ...about } = json;
  assert.equal(Number.isNaN(Date.parse(storedAt)), false);
  assert.deepEqual(about, {
    customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00',
    productCode: 'PREQUAL',
    attempt: 1,
    redacted: false,
  });
});

test('where a stage was repeated, the report of one inquiry is read by its trace number', async (t) => {
  const { server, service } = await started(t);
  const read = (query: string) => server.call(`/journeys/J-1/reports/PREQUAL${query}`, { token: service });
  const { json } = await read('?customerTraceNumber=PQAAAAAAAAAAAAAAAAAAAAAAAA00');
  assert.equal(json.customerTraceNumber, 'PQAAAAAAAAAAAAAAAAAAAAAAAA00');
  assert.equal((await read('?customerTraceNumber=PQAAAAAAAAAAAAAAAAAAAAAAAA01')).status, 404);
  assert.equal((await read('?customerTraceNumber=a&customerTraceNumber=b')).status, 400);
});

test('people read it masked, unless they may reveal it and ask for it', async (t) => {
  const { server, person, investigator } = await started(t);
  const path = '/journeys/J-1/reports/PREQUAL';
  for (const caller of [person, investigator]) {
    const { json, text } = await server.call(path, { token: caller });
    assert.equal(json.redacted, true);
    for (const sentinel of [...SENTINELS, 'ANNABEL']) assert.ok(!text.includes(sentinel), sentinel);
    const [{ consumer, consumerId }] = json.report.applicants;
    assert.deepEqual(consumer.names, [{ first: MASKED, last: MASKED, firstReportedDate: '2001-02-03', refId: 1 }]);
    assert.deepEqual(consumer.accounts, [
      { contributor: 'FIRST SANDBOX BANK', accountNumber: MASKED, balance: '12.00' },
    ]);
    assert.equal(consumerId, MASKED);
    assert.equal(json.report.reportReferenceNumber, 'REF-1');
  }
  assert.equal((await server.call(`${path}?reveal=true`, { token: person })).status, 403);
  for (const revealed of [`${path}?reveal=true`, `/reveal${path}`]) {
    const { json } = await server.call(revealed, { token: investigator });
    assert.equal(json.redacted, false);
    assert.equal(json.report.applicants[0].consumer.ssn, APPLICANT.ssn);
  }
  assert.deepEqual(server.audited()[0], {
    subject: 'operator-7',
    issuer: 'https://issuer.example.com',
    address: '127.0.0.1',
    route: '/journeys/{journeyId}/reports/{productCode}',
    namespace: NAMESPACE,
    journeyId: 'J-1',
    productCode: 'PREQUAL',
    // Whichever inquiry the newest report is of.
    customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00',
    count: 1,
    revealed: false,
    status: 200,
  });
  // A trace number that names nothing here may be anything: only the ledger's own are written down.
  await server.call(`${path}?customerTraceNumber=912345678`, { token: person });
  const { customerTraceNumber, status } = server.audited().at(-1) ?? {};
  assert.deepEqual([customerTraceNumber, status], [undefined, 404]);
});

test('what a refusal said is read by those who may read reports: masked, its shape and its codes alone', async (t) => {
  const { server, service, person, investigator } = await started(t);
  const path = `/inquiries/${REFUSED}/attempts/1/refusal`;
  const whole = await server.call(path, { token: service });
  const { storedAt: _at, ...shown } = whole.json;
  assert.deepEqual(shown, {
    ...{ customerTraceNumber: REFUSED, attempt: 1, productCode: 'PREQUAL', httpStatus: 422, isWhole: true },
    ...{ redacted: false, body: JSON.parse(REFUSAL) },
  });
  const masked = await server.call(path, { token: person });
  assert.equal(masked.json.redacted, true);
  assert.deepEqual(masked.json.body, {
    ...{ returnCode: 'Error', returnReasonCode: 'E1', errorMessage: MASKED, code: MASKED, [MASKED]: MASKED },
    problems: [{ path: MASKED, text: MASKED }, MASKED],
  });
  assert.equal((await server.call(`/reveal${path}`, { token: investigator })).json.redacted, false);
  assert.equal((await server.call(path, { token: await token({ roles: ['decode'] }) })).status, 403);
  assert.equal((await server.call(path)).status, 401);
  for (const [other, status] of [
    [`/inquiries/${REFUSED}/attempts/2/refusal`, 404],
    ['/inquiries/912-34-5678/attempts/1/refusal', 400],
    [`/inquiries/${REFUSED}/attempts/x/refusal`, 400],
  ] as const) {
    assert.equal((await server.call(other, { token: service })).status, status, other);
  }
  const { route, customerTraceNumber, revealed } = server.audited()[1] ?? {};
  assert.deepEqual(
    [route, customerTraceNumber, revealed],
    ['/inquiries/{customerTraceNumber}/attempts/{attempt}/refusal', REFUSED, false],
  );
});

test('each reading is a row in the ledger, by the token’s subject, and another end user gets nothing', async (t) => {
  const open = await ledgerWithReport();
  const server = await startServer(t, keySet, { openLedger: open });
  const service = await token({ roles: ['report', 'decode'] });
  const person = await token({ roles: ['report'] });
  const path = '/journeys/J-1/reports/PREQUAL';
  await server.call(path, { token: person });
  const again = `${path}?purpose=adverse%20action&endUser=EU1&by=somebody%20else`;
  assert.equal((await server.call(again, { token: service })).status, 200);
  assert.equal(server.audited()[1]?.reissued, true);
  const other = await server.call(`${path}?purpose=x&endUser=EU2`, { token: service });
  assert.deepEqual([other.status, other.json.error.reason], [403, 'otherEndUser']);
  assert.doesNotMatch(other.text, /SENTINEL|EU1/);
  await server.call('/journeys/J-1/changes', { token: service });
  for (const query of ['?purpose=', '?by=a&by=b', `?purpose=${'x'.repeat(201)}`, '?by=a%0Ab']) {
    assert.equal((await server.call(`${path}${query}`, { token: service })).status, 400, query);
  }
  const ledger = await open();
  t.after(() => ledger.close());
  const rows = [];
  for await (const { kind, by, via, purpose, redacted } of ledger.reading.accessesBetween()) {
    rows.push([kind, by, via, purpose, redacted]);
  }
  assert.deepEqual(rows, [
    ['report', 'operator-7', 'codecServer', undefined, true],
    ['report', 'operator-7', 'codecServer', 'adverse action', false],
    ['changes', 'operator-7', 'codecServer', undefined, false],
  ]);
});

test('references are those of the newest answered inquiries', async (t) => {
  const { server, service, person } = await started(t);
  const { json } = await server.call('/journeys/J-1/references', { token: service });
  assert.ok(RECORD.kind === 'outcome');
  assert.deepEqual(json, {
    journeyId: 'J-1',
    // Not PREAPP, whose newest one had no record.
    references: [
      { productCode: 'PREQUAL', customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00', reference: RECORD.reference },
    ],
    shares: [{ shareId: 'S1', reportReferenceNumber: 'REF-2' }],
    redacted: false,
  });
  const masked = await server.call('/journeys/J-1/references', { token: person });
  assert.equal(masked.json.redacted, true);
  assert.deepEqual(masked.json.references[0].reference.applicants, [{ applicantId: '01', consumerId: MASKED }]);
});

test('FAILSAFE’s references have each consumer, with a record and without', async (t) => {
  const server = await startServer(t, keySet, { openLedger: await ledgerWithReport() });
  const ask = async (roles: string[], pullId = 'P-1') =>
    (await server.call(`/journeys/pull:${pullId}/references`, { token: await token({ roles }) })).json;
  const consumer = (consumerId: string) => ({ applicantId: '02', outcome: 'noRecord', consumerId });
  const { references, consumers } = await ask(['report', 'decode']);
  assert.deepEqual(references, []);
  assert.deepEqual(consumers, [consumer('CONSUMER-SENTINEL')]);
  assert.deepEqual((await ask(['report'])).consumers, [consumer(MASKED)]);
  // One answer for all of them, in the order in which they were asked for.
  assert.deepEqual((await ask(['report'], 'P-2')).consumers, [
    { applicantId: '02', outcome: 'noRecord' },
    { applicantId: '01', outcome: 'noRecord' },
  ]);
});

test('what changed is read whole by a service, and masked by people', async (t) => {
  const { server, service, person } = await started(t);
  const whole = await server.call('/journeys/J-1/changes', { token: service });
  assert.equal(whole.status, 200);
  const { storedAt: _storedAt, changes, ...about } = whole.json;
  assert.deepEqual(about, { customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00', attempt: 1, redacted: false });
  const [applicant] = changes.applicants;
  assert.equal(applicant.newAccounts[0].accountNumber, 'XXXX1234');
  assert.deepEqual(applicant.newNames, [{ first: 'ANNABEL', last: 'SENTINEL' }]);
  const { json, text } = await server.call('/journeys/J-1/changes', { token: person });
  assert.equal(json.redacted, true);
  for (const sentinel of [...SENTINELS, 'ANNABEL', 'XXXX1234']) assert.ok(!text.includes(sentinel), sentinel);
  assert.deepEqual(
    server.audited().map(({ customerTraceNumber }) => customerTraceNumber),
    [about.customerTraceNumber, about.customerTraceNumber],
  );
  const [account] = json.changes.applicants[0].newAccounts;
  assert.deepEqual([account.contributor, account.accountNumber, account.balance], ['FIRST SANDBOX BANK', MASKED, '12']);
  assert.deepEqual(account.identification.name, { refId: 1, entry: { first: MASKED, last: MASKED }, isNew: true });
});

test('what is not there is told apart from what cannot be asked', async (t) => {
  const { server, service } = await started(t);
  const cases: [string, number, string][] = [
    ['/journeys/J-1/reports/PRECLOSE', 404, 'noReport'],
    ['/journeys/J-2/reports/PREQUAL', 404, 'noReport'],
    ['/journeys/J-2/changes', 404, 'noChanges'],
    ['/journeys/J-2/references', 404, 'noJourney'],
    ['/journeys/J-1/reports/EVERYTHING', 400, 'productCode'],
    ['/journeys/912-34-5678/references', 400, 'journeyId'],
    ['/journeys/a@example.com/reports/PREQUAL', 400, 'journeyId'],
    [`/journeys/${'J'.repeat(99)}/references`, 400, 'journeyId'],
  ];
  for (const [path, status, reason] of cases) {
    const answer = await server.call(path, { token: service });
    assert.deepEqual([answer.status, answer.json.error.reason], [status, reason], path);
  }
  for (const personal of ['912-34-5678', 'a@example.com']) assert.ok(!server.lines.join('').includes(personal));
});

test('reports belong to the first namespace that is served', async (t) => {
  const server = await startServer(t, keySet, {
    openLedger: await ledgerWithReport(),
    namespaces: [NAMESPACE, 'cards'],
  });
  const caller = await token({ roles: ['cards:report', 'cards:decode'] });
  const { status } = await server.call('/journeys/J-1/references', { token: caller, namespace: 'cards' });
  assert.equal(status, 403);
});

test('a server without a ledger says so, and one whose ledger is down tries again', async (t) => {
  const caller = await token({ roles: ['report'] });
  const none = await startServer(t, keySet);
  assert.equal((await none.call('/journeys/J-1/references', { token: caller })).json.error.reason, 'noLedger');
  const open = await ledgerWithReport();
  let isDown = true;
  const server = await startServer(t, keySet, {
    openLedger: async () => {
      const { LedgerUnavailableError } = await import('../../src/ledger/errors.ts');
      if (isDown) throw new LedgerUnavailableError('down');
      return open();
    },
  });
  const { status, json } = await server.call('/journeys/J-1/references', { token: caller });
  assert.deepEqual([status, json.error.reason], [503, 'ledger']);
  isDown = false;
  assert.equal((await server.call('/journeys/J-1/references', { token: caller })).status, 200);
});

test('what was disposed of is gone, and said to be', async (t) => {
  const open = await ledgerWithReport();
  const ledger = await open();
  const authorization = { by: 'ops@example.com', reason: 'kept long enough' };
  const server = await startServer(t, keySet, { openLedger: open });
  const service = await token({ roles: ['report', 'decode'] });
  for (const scope of [{ ownerId: 'J-1', productCode: 'PREQUAL' } as const, { ownerId: 'J-1' }]) {
    await ledger.retention.begin(scope, authorization);
    await ledger.retention.dispose(scope, authorization, 0);
    const { status, json } = await server.call('/journeys/J-1/reports/PREQUAL', { token: service });
    assert.deepEqual([status, json.error.code, json.error.reason], [410, 'Gone', 'disposed']);
    const references = await server.call('/journeys/J-1/references', { token: service });
    assert.equal(references.status, 'productCode' in scope ? 200 : 410);
  }
  await ledger.close();
});
