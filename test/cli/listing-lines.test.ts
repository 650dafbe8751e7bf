/** The output of listings: rows and totals on a terminal, cells of CSV, and the period that they cover. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formatCsvLine,
  formatCsvRow,
  formatRecord,
  formatTotals,
  parsePeriod,
  toColumns,
} from '../../src/cli/commands/listing-commands.ts';
import { inquiries } from '../../src/operations/listings.ts';

const HOLD = { runKey: 'portfolio:R-1', matter: '2026-17', setAt: '2026-01-02T03:04:05.678Z', by: 'c', reason: '' };

const ATTEMPT = {
  customerTraceNumber: 'PQABCDEFGHIJKLMNOPQRSTUVWX00',
  runKey: 'x'.repeat(64),
  attempt: 12,
  claimedAt: '2026-01-02T03:04:05.678Z',
  posted: 'unknown',
  consents: [{ applicantId: '1A', consentId: 'C-1' }],
  decision: { decisionId: 'D-1', reason: `\u001b[2J${'zzzz '.repeat(40)} said "no",\nand more` },
  legalHolds: [HOLD, { ...HOLD, matter: '=2' }],
};

test('a row shows every fact in 80 columns, and its texts contain no terminal control characters', () => {
  const [first, ...lines] = formatRecord(inquiries, ATTEMPT, 80);
  assert.match(first ?? '', /^2026-01-02T03:04:05Z \(\d+ d ago\)$/);
  for (const line of lines) assert.ok(line.length <= 80 && !/\p{Cc}/u.test(line), line);
  const text = lines.map((line) => line.trim()).join(' ');
  for (const part of ['attempt 12, posted unknown, ', 'consent id C-1, ', 'decision reason ', 'matter 2026-17, ']) {
    assert.ok(text.includes(part), part);
  }
  assert.match(formatCsvRow(toColumns(inquiries.output), ATTEMPT), /,"2026-17; '=2",/);
});

test('totals are printed as a table of 80 columns', () => {
  const total = { productCode: 'PREQUAL', endUserCode: 'EU1', endUser: 'nnnn '.repeat(25).trim(), sent: 3, posted: 1 };
  const lines = formatTotals(inquiries, [{ ...total, notPosted: 1, unknown: 1 }], 80);
  for (const line of lines) assert.ok(line.length <= 80, line);
  assert.match(lines.join('\n'), /^PREQUAL +EU1 +3 +1 +1 +1$/m);
  assert.equal(lines.join('').match(/n{2,}/g)?.join('').length, 100, 'a name is cut');
  assert.deepEqual(formatTotals(inquiries, [], 80), ['no inquiries']);
});

test('a CSV cell never begins a formula, whichever separator a spreadsheet uses', () => {
  for (const [cell, written] of [
    ['=1+1', "'=1+1"],
    ['  =1+1', "  '=1+1"],
    ['＝1+1', "'＝1+1"],
    ['a;=1+1', `"a;'=1+1"`],
    ['a; @SUM(A1)', `"a; '@SUM(A1)"`],
    ['a\t-1', `"a\t'-1"`],
    ['a\n+1', `"a\n'+1"`],
    ['a"=1', `"a""'=1"`],
    ['LOAN-1', 'LOAN-1'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ] as const) {
    assert.equal(formatCsvLine([cell, 7]), `${written},7\r\n`);
  }
});

describe('a period', () => {
  test('consists of days in a time zone, or of instants', () => {
    const days = { from: '2026-03-08', to: '2026-03-08' };
    const [from, before] = ['2026-03-08T06:00:00.000Z', '2026-03-09T05:00:00.000Z'];
    assert.deepEqual(parsePeriod(days, 'America/Chicago'), { from, before });
    assert.deepEqual(parsePeriod({ to: '2026-01-31T14:00:00+01:00' }, 'UTC'), { before: '2026-01-31T13:00:00.000Z' });
    assert.deepEqual(parsePeriod({}, 'UTC'), {});
    // Chile's clocks went from 23:59:59 to 01:00:00 that night, so the day has no midnight.
    assert.deepEqual(parsePeriod({ from: '2024-09-08' }, 'America/Santiago'), { from: '2024-09-08T04:00:00.000Z' });
  });

  test('is refused if it is invalid or ends before it begins', () => {
    for (const period of [{ from: '2026-02-30' }, { to: 'yesterday' }, { from: '2026-01-02', to: '2026-01-01' }]) {
      assert.throws(() => parsePeriod(period, 'UTC'), { name: 'UsageError' });
    }
  });
});
