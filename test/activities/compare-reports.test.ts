import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { compareReports } from '../../src/activities/compare-reports.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { claimOf, keyRing, outcomeOf, RECORD, readSealedChanges } from '../ledger/fixtures.ts';

const EARLIER = { productCode: 'PREAPP', customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA00' } as const;
const LATER = { productCode: 'PRECLOSE', customerTraceNumber: 'PCAAAAAAAAAAAAAAAAAAAAAAAA00' } as const;

/** A report as in the interface (2.4), in which no field names the applicant. */
function reportWith(balance: string, consumerId = 'CONSUMER-SENTINEL'): string {
  const account = { contributor: 'EXAMPLE BANK', accountNumber: 'XXXX1234', opened: '2019-05-01', balance };
  const entry = { consumerId, consumer: { accounts: [account] } };
  return JSON.stringify({ returnCode: 'Record', applicants: [entry] });
}

async function world(t: TestContext, reports: { earlier?: string; later?: string }) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-compare-'));
  const url = `file:${join(directory, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
  t.after(async () => {
    await ledger.close();
    await rm(directory, { recursive: true, force: true });
  });
  for (const [inquiry, report] of [
    [EARLIER, reports.earlier],
    [LATER, reports.later],
  ] as const) {
    await ledger.claim(claimOf(ledger, { inquiry }));
    const { customerTraceNumber } = inquiry;
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD }), report);
  }
  const profiles = new Map([['default', { changes: { balance: { amount: '100', percent: '0' } } }]]);
  const dependencies = { ledger, config: { profiles } } as unknown as ActivityDependencies;
  const compare = (ledgerId = ledger.identity.ledgerId) =>
    compareReports(dependencies, { profile: 'default', ledgerId }, { earlier: EARLIER, later: LATER });
  return { ledger, compare };
}

test('compareReports applies the profile’s thresholds, returns counts only, and seals the changes by applicant', async (t) => {
  const { ledger, compare } = await world(t, { earlier: reportWith('1000'), later: reportWith('1099.99') });
  const small = await compare();
  assert.ok('counts' in small);
  assert.deepEqual([small.counts.balanceMoves, small.totals.balance.later], [0, '1099.99']);
  assert.deepEqual(await compare(), small, 'a repetition comes to the same');
  const { applicants, options } = JSON.parse((await readSealedChanges(ledger, 'J-1'))?.body ?? '');
  assert.deepEqual([applicants[0].applicantId, options.balance.amount], ['01', '100']);
});

test('compareReports returns a missing or unreadable report as unavailable, and seals nothing', async (t) => {
  for (const [reports, unavailable] of [
    [{ later: reportWith('1') }, 'noReport'],
    [{ earlier: reportWith('1'), later: 'SENTINEL' }, 'unreadable'],
  ] as const) {
    const { ledger, compare } = await world(t, reports);
    assert.deepEqual(await compare(), { comparedWith: 'PREAPP', unavailable });
    assert.equal(await readSealedChanges(ledger, 'J-1'), null);
  }
});

test('compareReports does not count changes if no consumer has a file in both reports, and seals who they are', async (t) => {
  const { ledger, compare } = await world(t, { earlier: reportWith('1'), later: reportWith('9000', 'ANOTHER') });
  assert.deepEqual(await compare(), { comparedWith: 'PREAPP', unavailable: 'notCompared' });
  const { applicants } = JSON.parse((await readSealedChanges(ledger, 'J-1'))?.body ?? '');
  assert.deepEqual(
    applicants.map(({ presence }: { presence: string }) => presence),
    ['joined', 'left'],
  );
});

test('compareReports reads nothing from a ledger that is not the run’s', async (t) => {
  const { compare } = await world(t, { earlier: reportWith('1'), later: reportWith('2') });
  await assert.rejects(compare('another'), LedgerChangedError);
});
