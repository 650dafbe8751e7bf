/** A storm's copies of the HTTP API use the ledger as in a deployment: with a role that cannot claim. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LedgerUnavailableError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { attempted, claimOf, decisionOf, keyRing, TRACE } from '../ledger/fixtures.ts';
import { startLedgerHouse } from './ledger-house.ts';

test('on PostgreSQL a storm’s API copies decide with their own role, cannot claim, and fail on a full disk', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-house-'));
  const house = await startLedgerHouse('PostgreSQL', directory);
  t.after(async () => {
    await house.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const opening = { environment: 'sandbox', keyRing: keyRing() } as const;
  const ledger = await openLedger({ ...opening, url: house.ownUrl, create: true });
  t.after(() => ledger.close());
  await house.furnish();
  assert.equal(new URL(house.apiUrl).username, 'ledger_api');
  assert.equal(new URL(house.apiUrl).port, new URL(house.workersUrl).port);
  const api = await openLedger({ ...opening, url: house.apiUrl, create: false });
  t.after(() => api.close());
  await attempted(ledger, {}, { state: 'unknown' });
  assert.equal((await api.tasks.open({ limit: 1 })).rows.length, 1);
  await assert.rejects(api.claim(claimOf(ledger, { inquiry: { customerTraceNumber: `${TRACE.slice(0, -2)}10` } })));
  const row = await api.inquiry(TRACE);
  assert.ok(row);
  const decide = () => api.recordDecision(ledger.identity.ledgerId, row, decisionOf({ customerTraceNumber: TRACE }));
  const full = house.full(1_500, () => {});
  await new Promise((resolve) => setTimeout(resolve, 500));
  await assert.rejects(decide(), LedgerUnavailableError);
  assert.ok((await full) >= 1, 'the refused write is counted');
  await decide();
});
