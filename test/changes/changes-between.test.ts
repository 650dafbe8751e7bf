import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApplicantChanges } from '../../src/changes/changes-between.ts';
import { changesBetween } from '../../src/changes/changes-between.ts';
import type { ChangeOptions } from '../../src/fields/change-options.ts';
import type { Consumer, ConsumerAccount, GatewayResponse, ResponseEntry } from '../../src/gateway/responses.ts';
import { reportOf } from './report-worlds.ts';

const CARD: ConsumerAccount = {
  contributor: 'BANK A',
  accountNumber: 'XX11',
  type: '18',
  opened: '2019-05-01',
  balance: '1000.00',
  creditLimit: '5000',
  statusCode: '11',
};

test('finds new, vanished, closed and reopened tradelines, and the moved figures of those that stayed', () => {
  const loan = { ...CARD, accountNumber: 'XX22', type: '00' };
  const shop = { ...CARD, accountNumber: 'XX33', statusCode: '61' };
  const changes = compare(
    { accounts: [CARD, loan, shop, { ...CARD, contributor: 'BANK B' }] },
    {
      accounts: [
        { ...CARD, balance: '4200.50', creditLimit: '4500' },
        { ...loan, statusCode: '13', balance: '0' },
        { ...shop, statusCode: '11' },
        { ...CARD, opened: '2024-09-30' },
      ],
    },
    { closedStatusCodes: ['13', '61'] },
  );
  assert.deepEqual(
    changes.newAccounts.map(({ opened }) => opened),
    ['2024-09-30'],
  );
  assert.deepEqual(
    changes.vanishedAccounts.map(({ contributor }) => contributor),
    ['BANK B'],
  );
  const [card, closed, reopened] = changes.changedAccounts;
  assert.deepEqual(card?.balance, { from: '1000', to: '4200.5', by: '3200.5' });
  assert.deepEqual(card?.creditLimit, { from: '5000', to: '4500', by: '-500' });
  assert.deepEqual(closed?.status, { change: 'closed', from: '11', to: '13' });
  assert.deepEqual(reopened?.status, { change: 'reopened', from: '61', to: '11' });
});

test('calls a status code closed only if the options list it', () => {
  const closing: [Consumer, Consumer] = [{ accounts: [CARD] }, { accounts: [{ ...CARD, statusCode: '13' }] }];
  const changed = { change: 'changed', from: '11', to: '13' };
  assert.deepEqual(compare(...closing).changedAccounts[0]?.status, changed);
  assert.deepEqual(compare(...closing, { closedStatusCodes: ['C'] }).changedAccounts[0]?.status, changed);
  const closed = compare(...closing, { closedStatusCodes: ['13'] }).changedAccounts[0]?.status;
  assert.deepEqual(closed, { ...changed, change: 'closed' });
});

test('leaves out a balance that moved by less than either threshold', () => {
  const options: Partial<ChangeOptions> = { balance: { amount: '100', percent: '5' } };
  const moved = (from: string, to: string) =>
    compare({ accounts: [{ ...CARD, balance: from }] }, { accounts: [{ ...CARD, balance: to }] }, options)
      .changedAccounts.length;
  assert.equal(moved('0', '99.99'), 0, 'less than the amount');
  assert.equal(moved('0', '100'), 1);
  assert.equal(moved('10000', '10400'), 0, 'less than the percentage of the larger');
  assert.equal(moved('9500', '10000'), 1, 'exactly it');
  assert.equal(moved('90071992547409930000', '90071992547409930001'), 0);
});

test('distinguishes figures that floating point cannot distinguish', () => {
  const changes = compare(
    { accounts: [{ ...CARD, balance: '90071992547409930000.01' }] },
    { accounts: [{ ...CARD, balance: '90071992547409930000.02' }] },
  );
  assert.equal(changes.changedAccounts[0]?.balance?.by, '0.01');
});

test('reports a figure that it cannot read as unreadable', () => {
  const changes = compare(
    { accounts: [{ ...CARD, balance: '1,000' }] },
    { accounts: [{ ...CARD, creditLimit: 5000 as unknown as string }] },
  );
  assert.deepEqual(changes.changedAccounts, []);
  assert.deepEqual(
    changes.unreadable.map(({ report, field }) => `${report} ${field}`),
    ['earlier balance', 'later creditLimit'],
  );
});

test('pairs tradelines that have the same key by their other fields, and marks them as tied', () => {
  const changes = compare(
    { accounts: [{ ...CARD, balance: '10' }, CARD] },
    { accounts: [CARD, { ...CARD, balance: '900' }, { ...CARD, balance: '20' }] },
  );
  assert.deepEqual(changes.changedAccounts[0]?.balance, { from: '10', to: '20', by: '10' });
  assert.equal(changes.changedAccounts[0]?.later.tied, true);
  assert.deepEqual(
    changes.newAccounts.map(({ balance, tied }) => ({ balance, tied })),
    [{ balance: '900', tied: true }],
  );
});

test('finds new names and addresses, and ignores case, spaces and a ZIP+4', () => {
  const address = { line1: '1 Main Street', city: 'Springfield', state: 'VA', zip: '20001' };
  const changes = compare(
    { names: [{ first: 'Ada', middle: '', last: 'Sample' }], addresses: [address] },
    {
      names: [
        { first: 'ADA', last: 'SAMPLE' },
        { first: 'A', last: 'SAMPLE' },
      ],
      addresses: [
        { ...address, line1: ' 1  MAIN STREET', line2: '', zip: '20001-1234' },
        { ...address, line1: '2 Side St' },
      ],
    },
  );
  assert.deepEqual(changes.newNames, [{ first: 'A', last: 'SAMPLE' }]);
  assert.deepEqual(changes.newAddresses, [{ line1: '2 SIDE ST', city: 'SPRINGFIELD', state: 'VA', zip: '20001' }]);
  assert.equal(changes.vanishedNames.length + changes.vanishedAddresses.length, 0);
});

test('names the identification of a new tradeline if a reference update has it', () => {
  const names = [{ first: 'ADA', last: 'SAMPLE', refId: 1 }];
  const changes = compare(
    { names, accounts: [] },
    {
      names: [...names, { first: 'EVE', last: 'SAMPLE', refId: 2 }],
      accounts: [
        {
          ...CARD,
          accountCrossReference: { consumerNameRefId: 2, consumerAddressRefId: 7, consumerPhoneNbrRefId: 0 },
        },
      ],
    },
  );
  assert.deepEqual(changes.newAccounts[0]?.identification, {
    name: { refId: 2, entry: { first: 'EVE', last: 'SAMPLE' }, isNew: true },
    address: { refId: 7 },
  });
});

test('compares consumers by consumerId, and never two different consumers', () => {
  const consumer = { accounts: [CARD] };
  const presences = (earlier: ResponseEntry[], later: ResponseEntry[]) =>
    changesBetween({ applicants: earlier }, { applicants: later }).applicants.map(({ presence }) => presence);
  const one = { applicantId: '1A', consumerId: 'C1', consumer };
  assert.deepEqual(presences([one], [{ ...one, applicantId: '2A' }]), ['both']);
  assert.deepEqual(presences([one], [{ ...one, consumerId: 'C2' }]), ['left', 'joined']);
  assert.deepEqual(presences([one], [{ applicantId: '1A', consumer }]), ['both'], 'by applicantId where one has no id');
  assert.deepEqual(presences([{ consumer }], [{ consumer }]), ['both'], 'the only entries');
  assert.deepEqual(
    presences([one], [{ applicantId: '1A', consumerId: 'C1' }]),
    ['left'],
    'no file in the later report',
  );
  const nameless = { applicants: [{ consumer }, { consumer }] };
  assert.deepEqual(changesBetween(nameless, nameless).unidentified, { earlier: 2, later: 2 });
});

test('summarizes counts and totals without the consumer’s identity', () => {
  const { summary } = changesBetween(
    reportOf({ accounts: [CARD] }),
    reportOf({
      accounts: [
        { ...CARD, balance: '0.10' },
        { ...CARD, accountNumber: 'XX22', balance: '0.20' },
      ],
    }),
  );
  assert.equal(summary.counts.newAccounts, 1);
  assert.equal(summary.counts.balanceMoves, 1);
  assert.deepEqual(summary.totals.balance, { earlier: '1000', later: '0.3' });
  assert.deepEqual(summary.totals.newAccounts, { balance: '0.2', creditLimit: '5000' });
});

test('refuses invalid thresholds by their path', () => {
  const report: GatewayResponse = { applicants: [] };
  for (const balance of [
    { amount: '-1', percent: '0' },
    { amount: '0', percent: '101' },
    { amount: '1e3', percent: '0' },
  ]) {
    assert.throws(
      () => changesBetween(report, report, { balance }),
      /^InvalidInputError: .*\/balance\/(amount|percent) must/,
    );
  }
});

function compare(earlier: Consumer, later: Consumer, options: Partial<ChangeOptions> = {}): ApplicantChanges {
  const [only] = changesBetween(reportOf(earlier), reportOf(later), options).applicants;
  assert.ok(only);
  return only;
}
