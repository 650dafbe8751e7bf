import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApplicantChanges, ReportChanges } from '../../src/changes/changes-between.ts';
import { changesBetween } from '../../src/changes/changes-between.ts';
import type { GatewayResponse } from '../../src/gateway/responses.ts';
import type { ChangeCounts } from '../../src/messages/journey/change-summary.ts';
import { anyReport, reordered, reportOf } from './report-worlds.ts';

const options = fc.record({
  balance: fc.record({ amount: fc.constantFrom('0', '50', '150.25'), percent: fc.constantFrom('0', '10', '99.9') }),
  closedStatusCodes: fc.constantFrom(['13', '61'], []),
});

test('finds no change between a report and itself with its lists in another order', () => {
  fc.assert(
    fc.property(anyReport, fc.nat(), (report, seed) => {
      const { applicants, summary } = changesBetween(report, reordered(report, seed));
      for (const one of applicants) assert.equal(changesIn(one), 0);
      const { balance, creditLimit } = summary.totals;
      assert.equal(balance.earlier, balance.later);
      assert.equal(creditLimit.earlier, creditLimit.later);
    }),
    { numRuns: 200 },
  );
});

test('counts and adds up the inverse when the reports are swapped', () => {
  fc.assert(
    fc.property(anyReport, anyReport, options, (one, other, given) => {
      assert.deepEqual(changesBetween(other, one, given).summary, inverse(changesBetween(one, other, given).summary));
    }),
    { numRuns: 300 },
  );
});

test('finds the same changes in every order of applicants, names, addresses and accounts', () => {
  fc.assert(
    fc.property(anyReport, anyReport, fc.nat(), fc.nat(), (one, other, seed, another) => {
      assert.deepEqual(changesBetween(reordered(one, seed), reordered(other, another)), changesBetween(one, other));
    }),
    { numRuns: 300 },
  );
});

test('counts every tradeline once: paired, new or vanished', () => {
  fc.assert(
    fc.property(anyReport, anyReport, (one, other) => {
      const { newAccounts, vanishedAccounts } = changesBetween(one, other).summary.counts;
      assert.equal(sharedAccounts(other, one) - newAccounts, sharedAccounts(one, other) - vanishedAccounts);
    }),
    { numRuns: 200 },
  );
});

test('never throws because of a report’s content', () => {
  fc.assert(
    fc.property(fc.array(hostileEntry), fc.array(hostileEntry), (one, other) => {
      const [earlier, later] = [one, other].map((applicants) => ({ applicants }) as unknown as GatewayResponse);
      if (earlier && later) changesBetween(earlier, later);
    }),
    { numRuns: 200 },
  );
});

test('compares ten thousand tradelines, with one shared key or one key each', () => {
  const size = 10_000;
  for (const numberOf of [() => 'XX11', (index: number) => `XX${index}`]) {
    const report = (add: number) =>
      reportOf({
        names: Array.from({ length: size }, (_, index) => ({ first: `N${index}`, refId: index + 1 })),
        accounts: Array.from({ length: size }, (_, index) => ({
          contributor: 'BANK A',
          accountNumber: numberOf(index),
          balance: String(index + add),
          accountCrossReference: { consumerNameRefId: index + 1 },
        })),
      });
    const { counts } = changesBetween(report(0), report(5000)).summary;
    // Under one key, half of the tradelines match a counterpart with the same balance.
    assert.ok([5000, 10_000].includes(counts.balanceMoves));
    assert.equal(counts.newAccounts + counts.vanishedAccounts, 0);
    const empty = changesBetween(reportOf({ accounts: [] }), report(0));
    assert.equal(empty.summary.counts.newAccounts, size);
  }
});

const hostileValue = fc.oneof(fc.jsonValue(), fc.constantFrom('__proto__', 'constructor', '\u0000', '9'.repeat(5000)));
const hostileEntry = fc.record(
  {
    applicantId: hostileValue,
    consumerId: hostileValue,
    consumer: fc.oneof(
      hostileValue,
      fc.record({
        names: hostileValue,
        addresses: fc.array(hostileValue),
        accounts: fc.array(
          fc.oneof(hostileValue, fc.record({ balance: hostileValue, accountCrossReference: hostileValue })),
        ),
      }),
    ),
  },
  { requiredKeys: [] },
);

function changesIn(one: ApplicantChanges): number {
  return (
    one.newAccounts.length +
    one.vanishedAccounts.length +
    one.changedAccounts.length +
    one.newNames.length +
    one.vanishedNames.length +
    one.newAddresses.length +
    one.vanishedAddresses.length
  );
}

/** Accounts of the applicants that both reports have. */
function sharedAccounts(report: GatewayResponse, other: GatewayResponse): number {
  const ids = new Set(other.applicants.map(({ consumerId }) => consumerId));
  const shared = report.applicants.filter(({ consumerId }) => ids.has(consumerId));
  return shared.reduce((sum, { consumer }) => sum + (consumer?.accounts?.length ?? 0), 0);
}

function inverse({ counts, totals }: ReportChanges['summary']): ReportChanges['summary'] {
  return {
    counts: inverseCounts(counts),
    totals: {
      balance: { earlier: totals.balance.later, later: totals.balance.earlier },
      creditLimit: { earlier: totals.creditLimit.later, later: totals.creditLimit.earlier },
      newAccounts: totals.vanishedAccounts,
      vanishedAccounts: totals.newAccounts,
    },
  };
}

function inverseCounts(counts: ChangeCounts): ChangeCounts {
  return {
    ...counts,
    applicantsJoined: counts.applicantsLeft,
    applicantsLeft: counts.applicantsJoined,
    newAccounts: counts.vanishedAccounts,
    vanishedAccounts: counts.newAccounts,
    closedAccounts: counts.reopenedAccounts,
    reopenedAccounts: counts.closedAccounts,
    newNames: counts.vanishedNames,
    vanishedNames: counts.newNames,
    newAddresses: counts.vanishedAddresses,
    vanishedAddresses: counts.newAddresses,
  };
}
