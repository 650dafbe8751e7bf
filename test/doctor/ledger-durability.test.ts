import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DoctorContext } from '../../src/doctor/checks/context.ts';
import { ledgerDurabilityCheck } from '../../src/doctor/checks/ledger-checks.ts';
import type { Durability } from '../../src/ledger/sql/inspect-ledger.ts';

const GOOD: Durability = { isFlushed: true, waitsForStandby: true, isStandby: false };

const cases: [string, Partial<Durability>, string][] = [
  ['commits that wait for a standby', {}, 'pass'],
  ['SQLite, which has none', { waitsForStandby: null }, 'pass'],
  ['no synchronous standby', { waitsForStandby: false }, 'warn'],
  ['a server that flushes nothing', { isFlushed: false }, 'fail'],
  ['a standby in the primary’s place', { isStandby: true }, 'fail'],
];

for (const [what, change, status] of cases) {
  test(`${what}: ${status}`, async () => {
    const context = { ledger: async () => ({ durability: { ...GOOD, ...change } }) } as unknown as DoctorContext;
    assert.equal((await ledgerDurabilityCheck.run(context, new AbortController().signal)).status, status);
  });
}
