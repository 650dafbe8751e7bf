import assert from 'node:assert/strict';
import { test } from 'node:test';
import pc from 'picocolors';
import { changesBetween } from '../../src/changes/changes-between.ts';
import type { SealedChanges } from '../../src/changes/report-changes.ts';
import { changeLines } from '../../src/cli/output/change-lines.ts';
import type { ConsumerAccount, GatewayResponse } from '../../src/gateway/responses.ts';
import { DEFAULT_CHANGE_OPTIONS } from '../../src/model/change-options.ts';

const CARD: ConsumerAccount = {
  contributor: 'EXAMPLE BANK',
  accountNumber: 'XXXX1234',
  opened: '2019-05-01',
  balance: '1000.00',
  creditLimit: '5000',
  statusCode: '11',
};

function linesOf(earlier: ConsumerAccount[], later: ConsumerAccount[], names: object[] = []): string[] {
  const [one, other] = [earlier, later].map((accounts, index): GatewayResponse => {
    const consumer = { accounts, ...(index === 1 ? { names } : {}) };
    return { applicants: [{ applicantId: '1A', consumerId: 'C1', consumer }] };
  }) as [GatewayResponse, GatewayResponse];
  const [from, to] = ['PREAPP', 'PRECLOSE'].map((productCode) => ({ productCode, customerTraceNumber: 'T' }));
  const options = { ...DEFAULT_CHANGE_OPTIONS, closedStatusCodes: ['13'] };
  const found = { earlier: from, later: to, options, ...changesBetween(one, other, options) };
  return changeLines({ changes: found as SealedChanges }, { width: 80, colors: pc.createColors(false) });
}

test('an applicant gets a row for each change, in 80 columns, and the sums', () => {
  const lines = linesOf(
    [CARD, { ...CARD, accountNumber: 'XXXX5678' }],
    [
      { ...CARD, balance: '2500', statusCode: '13' },
      { ...CARD, accountNumber: 'XXXX9999', accountCrossReference: { consumerNameRefId: 2 } },
    ],
    [{ first: 'A', last: 'SAMPLE', refId: 2 }],
  );
  assert.deepEqual(lines, [
    'PRECLOSE compared with PREAPP',
    'Applicant 1A',
    '  new       EXAMPLE BANK  XXXX9999  1000 of 5000, 2019-05-01',
    '                                    under name 2 (A SAMPLE, new)',
    '  vanished  EXAMPLE BANK  XXXX5678  1000 of 5000, 2019-05-01',
    '  closed    EXAMPLE BANK  XXXX1234  status 11 → 13',
    '  moved     EXAMPLE BANK  XXXX1234  balance 1000 → 2500 (+1500)',
    '  new name: A SAMPLE',
    'Balances  2000 → 3500    new 1000',
    'Limits    10000 → 10000  new 5000',
  ]);
});

test('nothing in a report steers the terminal, and what did not change is said to be so', () => {
  const lines = linesOf([], [{ ...CARD, contributor: 'BANK\u001b[2J\u202e' }]);
  assert.ok(!/\p{C}/u.test(lines.join('')));
  assert.equal(linesOf([CARD], [CARD])[1], 'Applicant 1A · no change');
});
