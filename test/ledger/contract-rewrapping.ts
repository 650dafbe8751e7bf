/** Part of the contract suite: data keys are rewrapped, and reports are not changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { SealBrokenError, UnknownKeyError } from '../../src/protection/errors.ts';
import { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { attempted, openRotated, RECORD, readSealedReport, rotateRing } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

/** Exceeds one batch. */
const REPORTS = 120;

function without(ring: KeyRing, id: string): KeyRing {
  return new KeyRing(ring.keys.filter((key) => key.id !== id));
}

async function storeReports(ledger: Ledger, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const customerTraceNumber = `PQAAAAAAAAAAAAAAAAAAAA${String(index).padStart(4, '0')}00`;
    const inquiry = { customerTraceNumber, runKey: `J-${index}` };
    const claim = { inquiry, request: 'a request' };
    const verdict = await attempted(ledger, claim, { state: 'unknown' });
    assert.equal(verdict.kind, 'claimed');
    const record = { ledgerId: ledger.identity.ledgerId, customerTraceNumber, attempt: 1, state: 'answered' } as const;
    await ledger.recordOutcome({ ...record, answer: RECORD }, `{"report":${index}}`);
  }
}

export function rewrappingTests(opened: Open, backend: LedgerBackend): void {
  test('after rewrapping the previous key is no longer needed, and reports, references and digests are unchanged', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await storeReports(ledger, REPORTS);
    const select = 'SELECT customer_trace_number, body FROM sealed_bodies ORDER BY customer_trace_number';
    const bodies = await backend.execute(url, select);
    const after = rotateRing(ring);
    const rotatedLedger = await openRotated(t, url, after);
    const expected = { keyId: 'k-ledger-2', reports: REPORTS, secret: true, unreadable: [] };
    assert.deepEqual(await rotatedLedger.rewrapDataKeys(), expected);
    assert.deepEqual(await rotatedLedger.rewrapDataKeys(), { ...expected, reports: 0, secret: false });
    assert.deepEqual(await backend.execute(url, select), bodies, 'no report was encrypted again');

    await assert.rejects(openRotated(t, url, ring), (error) => {
      return error instanceof UnknownKeyError && error.keyId === 'k-ledger-2';
    });
    const alone = await openRotated(t, url, without(after, 'k-ledger'));
    for (const index of [0, 60, REPORTS - 1]) {
      assert.equal((await readSealedReport(alone, `J-${index}`, 'PREQUAL'))?.body, `{"report":${index}}`);
    }
    assert.equal(alone.digest('x'), ledger.digest('x'));
    const [inquiry] = await alone.inquiriesOf('J-0');
    assert.deepEqual(inquiry?.attempts[0]?.answer, RECORD);
  });

  test('reports can be written and read during the rewrapping', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await storeReports(ledger, 60);
    const rotatedLedger = await openRotated(t, url, rotateRing(ring));
    const inquiry = { runKey: 'J-new' };
    const [result] = await Promise.all([
      rotatedLedger.rewrapDataKeys(),
      attempted(ledger, { inquiry }, { state: 'unknown' }),
      readSealedReport(ledger, 'J-1', 'PREQUAL').catch((error: unknown) => assert.ok(error instanceof UnknownKeyError)),
    ]);
    assert.equal(result.reports, 60);
    assert.equal((await readSealedReport(rotatedLedger, 'J-59', 'PREQUAL'))?.body, '{"report":59}');
  });

  test('a program with the former ring seals under the former key after the rewrapping, and the next one moves that', async (t) => {
    const { url, ring, ledger } = await opened(t);
    const after = rotateRing(ring);
    const rotatedLedger = await openRotated(t, url, after);
    assert.equal((await rotatedLedger.rewrapDataKeys()).reports, 0);
    await storeReports(ledger, 1);
    const alone = await openRotated(t, url, without(after, 'k-ledger'));
    await assert.rejects(readSealedReport(alone, 'J-0', 'PREQUAL'), UnknownKeyError);
    assert.equal((await rotatedLedger.rewrapDataKeys()).reports, 1);
    assert.equal((await readSealedReport(alone, 'J-0', 'PREQUAL'))?.body, '{"report":0}');
  });

  test('rewrapping does not restore a report whose data key was destroyed', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await storeReports(ledger, 2);
    await backend.execute(
      url,
      "UPDATE sealed_bodies SET wrapped_key = NULL, key_id = NULL WHERE body IS NOT NULL AND customer_trace_number LIKE '%000000'",
    );
    const rotatedLedger = await openRotated(t, url, rotateRing(ring));
    assert.equal((await rotatedLedger.rewrapDataKeys()).reports, 1);
    const left = await backend.execute(url, 'SELECT attempt FROM sealed_bodies WHERE wrapped_key IS NULL');
    assert.equal(left.length, 1);
  });

  test('a report under a missing key is counted and left unchanged, and does not stop the rewrapping', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await storeReports(ledger, 3);
    await backend.execute(url, "UPDATE sealed_bodies SET key_id = 'k-gone' WHERE customer_trace_number LIKE '%000000'");
    const rotatedLedger = await openRotated(t, url, rotateRing(ring));
    const result = await rotatedLedger.rewrapDataKeys();
    assert.equal(result.reports, 2);
    assert.deepEqual(result.unreadable, [{ keyId: 'k-gone', reports: 1 }]);
  });

  test('rewrapping fails on a wrapped key that was moved to another report', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await storeReports(ledger, 2);
    await backend.execute(
      url,
      `UPDATE sealed_bodies SET wrapped_key = (SELECT r.wrapped_key FROM sealed_bodies r WHERE r.customer_trace_number LIKE '%000100')
       WHERE customer_trace_number LIKE '%000000'`,
    );
    const rotatedLedger = await openRotated(t, url, rotateRing(ring));
    await assert.rejects(rotatedLedger.rewrapDataKeys(), SealBrokenError);
  });
}
