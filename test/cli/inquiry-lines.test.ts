import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formatCsvRow,
  formatRecord,
  formatTotals,
  parsePeriod,
  toColumns,
} from '../../src/cli/commands/listing-commands.ts';
import { formatRowTable } from '../../src/cli/output/output.ts';
import type { AuditedAttempt } from '../../src/ledger/audit/audited.ts';
import { inquiries } from '../../src/operations/listings.ts';
import { describeAttempt } from '../../src/words/records.ts';

const ATTEMPT_COLUMNS = toColumns(inquiries.output);

const ATTEMPT: AuditedAttempt = {
  customerTraceNumber: 'PQABCDEFGHIJKLMNOPQRSTUVWX00',
  environment: 'sandbox',
  profile: 'default',
  customerId: 'HOUSE1',
  workflowType: 'lendingJourney',
  runKey: 'x'.repeat(64),
  productCode: 'SECONDUSE',
  shareId: 'y'.repeat(40),
  ordinal: 0,
  endUserCode: 'EU999',
  permissiblePurposeCode: '02',
  attempt: 12,
  claimedAt: '2026-01-02T03:04:05.678Z',
  outcome: 'credentialsRefused',
  posted: 'unknown',
  consents: [{ applicantId: '1A', consentId: 'C-1' }],
  decision: {
    decisionId: 'D-1',
    action: 'resend',
    by: 'ops',
    reason: `\u001b[2J${'zzzz '.repeat(40)} said "no",\nand more`,
    providerSaid: 'notPosted',
    decidedAt: '2026-01-02T03:04:05Z',
  },
  legalHolds: [],
  late: { at: '2026-01-02T03:05:05.678Z', outcome: 'record' },
};

describe('an inquiry', () => {
  test('keeps to 80 columns, and what people wrote steers no terminal', () => {
    const lines = formatRecord(describeAttempt(ATTEMPT), 80);
    for (const line of lines) assert.ok(line.length <= 80 && !/\p{Cc}/u.test(line), line);
    const text = lines.join('\n');
    for (const part of [
      '2026-01-02T03:04:05Z',
      'perhaps posted',
      'attempt 12',
      'purpose 02',
      '1A C-1',
      'notPosted',
      'late',
    ]) {
      assert.ok(text.includes(part), part);
    }
  });

  test('names each legal hold that covers the inquiry', () => {
    const hold = {
      runKey: 'portfolio:R-1',
      matter: '2026-17',
      setAt: '2026-01-02T03:04:05.678Z',
      by: 'c',
      reason: '',
    };
    const held = { ...ATTEMPT, legalHolds: [hold, { ...hold, matter: '=2' }] };
    const words = /legal hold on portfolio:R-1, matter 2026-17, set by c at 2026-01-02T03:04:05Z/;
    assert.match(formatRecord(describeAttempt(held), 200).join('\n'), words);
    assert.match(formatCsvRow(ATTEMPT_COLUMNS, held), /,"2026-17; '=2",/);
  });
});

test('totals are a table of 80 columns, and CSV', () => {
  const total = {
    productCode: 'PREQUAL',
    endUserCode: 'EU1',
    endUser: 'nnnn '.repeat(25).trim(),
    sent: 3,
    posted: 1,
  } as const;
  const lines = formatTotals(inquiries, [{ ...total, notPosted: 1, unknown: 1 }], 80);
  for (const line of lines) assert.ok(line.length <= 80, line);
  assert.match(lines.join('\n'), /^PREQUAL +EU1 +3 +1 +1 +1$/m);
  assert.equal(lines.join('').match(/n{2,}/g)?.join('').length, 100, 'a name is cut');
  assert.deepEqual(formatTotals(inquiries, [], 80), ['no inquiries']);
});

describe('a period', () => {
  test('is days that begin and end in a place, or instants as they are', () => {
    const days = { from: '2026-03-08', to: '2026-03-08' };
    assert.deepEqual(parsePeriod(days, 'UTC'), {
      from: '2026-03-08T00:00:00.000Z',
      before: '2026-03-09T00:00:00.000Z',
    });
    assert.deepEqual(parsePeriod(days, 'America/Chicago'), {
      from: '2026-03-08T06:00:00.000Z',
      before: '2026-03-09T05:00:00.000Z',
    });
    assert.deepEqual(parsePeriod({ to: '2026-01-31T14:00:00+01:00' }, 'UTC'), { before: '2026-01-31T13:00:00.000Z' });
    assert.deepEqual(parsePeriod({}, 'UTC'), {});
  });

  test('begins with the first moment of a day that has no midnight', () => {
    // Chile's clocks went from 23:59:59 to 01:00:00 that night.
    const { from } = parsePeriod({ from: '2024-09-08' }, 'America/Santiago');
    assert.equal(from, '2024-09-08T04:00:00.000Z');
  });

  test('that is none is refused', () => {
    for (const period of [{ from: '2026-02-30' }, { to: 'yesterday' }, { from: '2026-01-02', to: '2026-01-01' }]) {
      assert.throws(() => parsePeriod(period, 'UTC'), { name: 'UsageError' });
    }
  });
});

describe('lists of runs and of events on their way', () => {
  const at = new Date(Date.now() - 180_000).toISOString();
  const shown = `${at.replace(/\.\d+/, '')} (3 min ago)`;

  test('show the age beside each instant', () => {
    const [, row = ''] = formatRowTable([{ runKey: 'J-1', run: 'running', startedAt: at }], 80);
    assert.ok(row.startsWith(`running  ${shown}`) && row.endsWith('J-1'), row);
  });
});
