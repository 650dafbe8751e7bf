import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attempted, consentOf, decisionOf, INQUIRY, RECORD, SHARE, TRACE } from '../ledger/fixtures.ts';
import { type LedgerStage, openLedgerStage } from './command-stage.ts';
import { runInTerminal } from './run-in-terminal.ts';

let stage: LedgerStage;

/** Fills the ledger with a lost answer, its resend, and a share. */
before(async () => {
  stage = await openLedgerStage(async (ledger) => {
    await attempted(ledger, {}, { state: 'unknown', httpStatus: 503 });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({ reason: '=1+1, "they said"' }));
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: RECORD });
    const evidence = { method: '=1+1', textVersion: 'v1', capturedAt: '2026-01-02T03:04:05Z', reference: '=2+2' };
    const shared = { inquiry: SHARE, consents: [consentOf({ evidence })], sharedReference: 'REF-1' };
    await attempted(ledger, shared, { state: 'answered', answer: RECORD });
    await ledger.recordConsents(ledger.identity.ledgerId, [
      consentOf({ applicantId: '02', consentId: 'C-2', decision: 'denied', proof: 'a.b.c' }),
    ]);
    await ledger.retention.setLegalHold('J-1', { matter: '2026-17', by: 'records-1', reason: '=a claim' });
  });
});
after(() => stage?.close());

const inquiries = (...args: string[]) => stage.cli('inquiries', ...args);

const TOTALS = [
  { productCode: 'PREQUAL', endUserCode: 'EU1', sent: 2, posted: 1, notPosted: 1, unknown: 0 },
  { productCode: 'SECONDUSE', endUserCode: 'EU2', sent: 1, posted: 1, notPosted: 0, unknown: 0 },
];

describe('the inquiries command', { concurrency: 3 }, () => {
  test('prints one JSON document with each inquiry’s decision and consents, and totals', async () => {
    const { code, stdout, stderr } = await inquiries('--from', '2026-01-01');
    assert.equal(code, 0, stderr);
    const document = JSON.parse(stdout);
    assert.deepEqual(document.totals, TOTALS);
    assert.equal(document.hasMore, false);
    const [lost, resent, share] = document.data;
    assert.deepEqual([lost.runKey, lost.outcome, lost.posted, lost.httpStatus], ['J-1', 'unknown', 'no', 503]);
    assert.deepEqual([resent.posted, resent.permittedBy], ['yes', lost.decision]);
    assert.deepEqual(share.consents, [{ applicantId: '01', consentId: 'C-1' }]);
    assert.doesNotMatch(stdout, /SENTINEL|REF-1/);
  });

  test('finds an inquiry by its report reference, and prints an empty list if nothing matches', async () => {
    const found = JSON.parse(
      (await inquiries('--report-reference-number', 'REF-1', '--product-code', 'PREQUAL')).stdout,
    );
    assert.deepEqual(
      found.data.map(({ attempt }: { attempt: number }) => attempt),
      [2],
    );
    assert.deepEqual(JSON.parse((await inquiries('--to', '2001-01-01', '--json')).stdout), {
      data: [],
      hasMore: false,
      totals: [],
    });
  });

  test('prints inquiries and totals as CSV on request', async () => {
    const rows = (await inquiries('--format', 'csv')).stdout.split('\r\n');
    assert.equal(rows.length, 5);
    assert.match(rows[1] ?? '', /,operator@example\.com,"'=1\+1, ""they said""",notPosted,/);
    const totals = await inquiries('--format', 'csv', '--totals', '--end-user', 'EU2');
    assert.equal(
      totals.stdout,
      'productCode,endUserCode,endUser,sent,posted,notPosted,unknown\r\nSECONDUSE,EU2,,1,1,0,0\r\n',
    );
  });

  test('prints lines of 80 columns on a terminal', async () => {
    const { code, screen } = await runInTerminal(['inquiries', '--from', '2026-01-01'], [], stage.env);
    assert.equal(code, 0, screen);
    for (const line of screen.split('\n')) assert.ok(line.length <= 80, line);
    assert.match(screen.replaceAll(/\n +/g, ' '), /attempt 2, .*product code PREQUAL, .*outcome record, .*posted yes/);
    assert.match(screen, /SECONDUSE +EU2 +1 +1 +0 +0/);
  });

  test('refuses invalid filters without repeating their values', async () => {
    for (const [args, rule] of [
      [['--product-code', 'S912345678'], /"must be one of CR, PREQUAL.*","option":"--product-code"/],
      [['--outcome', 'S912345678'], /"must be one of record, .*","option":"--outcome"/],
      [['--from', '912-34-5678'], /--from must be a day/],
    ] as const) {
      const { code, stdout, stderr } = await inquiries(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, rule);
      assert.doesNotMatch(stdout + stderr, /912/);
    }
  });
});

describe('the commands that list decisions, consents and disposals', { concurrency: 3 }, () => {
  const read = (command: string, ...args: string[]) => stage.cli(command, ...args);
  const listed = async (command: string, ...args: string[]) =>
    JSON.parse((await read(command, ...args)).stdout).data as Record<string, unknown>[];

  test('print one JSON document each, with proofs on request only', async () => {
    const [decision] = await listed('decisions');
    assert.deepEqual(
      [decision?.runKey, decision?.action, decision?.by, decision?.reason, decision?.customerTraceNumber],
      ['J-1', 'resend', 'operator@example.com', '=1+1, "they said"', TRACE],
    );
    const consents = await listed('consents');
    assert.deepEqual(
      consents.map(({ stands, ...one }) => [one.consentId, one.permittedAttempts, one.hasProof, one.proof, stands]),
      [
        ['C-1', 1, false, undefined, { decision: 'granted', since: consents[0]?.decidedAt, consentId: 'C-1' }],
        ['C-2', 0, true, undefined, { decision: 'denied', since: consents[1]?.decidedAt, consentId: 'C-2' }],
      ],
    );
    assert.equal((await listed('consents', '--proofs'))[1]?.proof, 'a.b.c');
    const [hold] = await listed('disposals');
    assert.deepEqual([hold?.runKey, hold?.kind, hold?.by], ['J-1', 'legalHoldSet', 'records-1']);
    for (const command of ['decisions', 'consents', 'disposals']) {
      assert.deepEqual(await listed(command, '--run-key', 'J-2', '--format', 'json'), []);
    }
  });

  test('print CSV, and lines with ages, on request', async () => {
    for (const [command, cell] of [
      ['decisions', `"'=1+1, ""they said""",notPosted`],
      ['consents', 'J-1,S1,02,C-2,denied,EU2,'],
      ['disposals', "legalHoldSet,J-1,records-1,'=a claim,"],
      ['shares', `,PREQUAL,${TRACE},EU1,J-1,S1,01,C-1,`],
    ] as const) {
      const csv = (await read(command, '--format', 'csv')).stdout;
      assert.match(csv, command === 'shares' ? /^claimedAt,.*\r\n.*'=2\+2/ : /^recordedAt,/);
      assert.ok(csv.includes(cell), csv);
      const table = (await read(command, '--format', 'table')).stdout;
      assert.match(table, /^\d{4}-\d\d-\d\dT[\d:]+Z \((now|\d+ (s|min) ago)\)\n /);
      for (const line of table.split('\n')) assert.ok(line.length <= 80, line);
    }
    const { code, stderr } = await read('decisions', '--format', 'S912345678');
    assert.deepEqual([code, /Allowed choices are table, csv, json/.test(stderr), /912/.test(stderr)], [2, true, false]);
  });

  test('find inquiries by journey, trace number and number of applicants', async () => {
    const attempts = async (...args: string[]) => (await listed('inquiries', ...args)).map(({ attempt }) => attempt);
    assert.deepEqual(await attempts('--run-key', 'J-1', '--customer-trace-number', TRACE), [1, 2]);
    assert.deepEqual(await attempts('--run-key', 'J-2'), []);
    assert.deepEqual(await attempts('--applicants', '2'), []);
    const { code, stderr } = await inquiries('--run-key', 'J@1');
    assert.deepEqual([code, JSON.parse(stderr).error.problems[0].option], [2, '--run-key']);
  });

  test('find shares by report, owner and end user', async () => {
    const narrow = ['--report', 'REF-1', '--end-user', 'EU1', '--run-key', 'J-1'];
    const [share, ...others] = await listed('shares', ...narrow);
    assert.deepEqual(others, []);
    assert.deepEqual([share?.runKey, share?.sharedBy, share?.endUserCode, share?.posted], ['J-1', 'EU1', 'EU2', 'yes']);
    const report = { runKey: 'J-1', customerTraceNumber: TRACE, productCode: 'PREQUAL', endUserCode: 'EU1' };
    assert.deepEqual(share?.report, report);
    assert.doesNotMatch(JSON.stringify(share), /SENTINEL|REF-1/);
    assert.deepEqual(await listed('shares', '--end-user', 'EU7'), []);
  });
});
