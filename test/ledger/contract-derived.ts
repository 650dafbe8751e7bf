/** Part of the contract suite: a document derived from two reports is sealed, read and destroyed like them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DisposedError, LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { InquiryDescription } from '../../src/model/inquiry.ts';
import { claimOf, outcomeOf, RECORD, readSealedChanges, TRACE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const LATER = 'PCAAAAAAAAAAAAAAAAAAAAAAAA00';
const CHANGES = {
  of: { customerTraceNumber: LATER, attempt: 1 },
  from: { customerTraceNumber: TRACE, attempt: 1 },
};
const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };

async function withReports(ledger: Ledger): Promise<string> {
  for (const [productCode, customerTraceNumber] of [
    ['PREQUAL', TRACE],
    ['PRECLOSE', LATER],
  ] as const) {
    const inquiry: Partial<InquiryDescription> = { productCode, customerTraceNumber };
    await ledger.claim(claimOf(ledger, { inquiry }));
    const outcome = outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD, httpStatus: 200 });
    await ledger.recordOutcome(outcome, `{"report":"${productCode}"}`);
  }
  return ledger.identity.ledgerId;
}

export function derivedTests(opened: Open, backend: LedgerBackend): void {
  test('a derived document is read by its journey, and a second one about the same two reports does not replace it', async (t) => {
    const { ledger, url } = await opened(t);
    const ledgerId = await withReports(ledger);
    assert.equal(await readSealedChanges(ledger, 'J-1'), null);
    assert.equal(await ledger.keepChanges(ledgerId, CHANGES, 'SENTINEL 1'), true);
    assert.equal(await ledger.keepChanges(ledgerId, CHANGES, 'SENTINEL 2'), true);
    const { storedAt, ...found } = (await readSealedChanges(ledger, 'J-1')) ?? assert.fail();
    assert.deepEqual(found, { ...CHANGES.of, body: 'SENTINEL 1' });
    assert.ok(Math.abs(Date.now() - Date.parse(storedAt)) < 600_000);
    assert.equal(await readSealedChanges(ledger, 'J-2'), null);
    const rows = (await backend.execute(url, "SELECT body FROM sealed_bodies WHERE kind = 'changes'")) as {
      body: Uint8Array;
    }[];
    assert.equal(rows.length, 1);
    assert.ok(!Buffer.from(rows[0]?.body ?? []).includes('SENTINEL'));
    await assert.rejects(ledger.keepChanges('another', CHANGES, ''), LedgerChangedError);
  });

  test('reports are read by trace number, in the requested order, and only from the requested ledger', async (t) => {
    const { ledger, url } = await opened(t);
    const ledgerId = await withReports(ledger);
    const missing = 'PCBBBBBBBBBBBBBBBBBBBBBBBB00';
    const read = await ledger.reportsToCompare(ledgerId, [LATER, missing, TRACE]);
    const told = read.map((one) => ('gap' in one ? one.gap : [one.report.customerTraceNumber, one.report.body]));
    assert.deepEqual(told, [[LATER, '{"report":"PRECLOSE"}'], 'noReport', [TRACE, '{"report":"PREQUAL"}']]);
    const [, , earlier] = read;
    assert.ok(earlier && 'report' in earlier);
    assert.deepEqual([...earlier.applicantIds], [['CONSUMER-SENTINEL', '01']], 'whose consumer id it names');
    await assert.rejects(ledger.reportsToCompare('another', [LATER]), LedgerChangedError);
    await backend.execute(
      url,
      `UPDATE sealed_bodies SET algorithm = 'another' WHERE customer_trace_number = '${LATER}'`,
    );
    const [broken, whole] = await ledger.reportsToCompare(ledgerId, [LATER, TRACE]);
    assert.deepEqual(broken, { gap: 'unreadable' });
    assert.ok(whole && 'report' in whole, 'one that cannot be opened hides no other');
  });

  test('a disposal destroys the derived document together with the reports', async (t) => {
    const { ledger, url } = await opened(t);
    const ledgerId = await withReports(ledger);
    await ledger.keepChanges(ledgerId, CHANGES, 'SENTINEL');
    assert.equal((await ledger.retention.begin('J-1', AUTHORIZATION)).kind, 'done');
    assert.equal((await ledger.retention.dispose('J-1', AUTHORIZATION, 0)).kind, 'done');
    await assert.rejects(readSealedChanges(ledger, 'J-1'), DisposedError);
    assert.deepEqual(await ledger.reportsToCompare(ledgerId, [TRACE]), [{ gap: 'disposed' }]);
    assert.equal(await ledger.keepChanges(ledgerId, CHANGES, 'SENTINEL'), false);
    const left = 'count(body) + count(wrapped_key) + count(key_id)';
    const sql = `SELECT ${left} AS n FROM sealed_bodies WHERE kind = 'changes'`;
    const [row] = (await backend.execute(url, sql)) as { n: unknown }[];
    assert.equal(Number(row?.n), 0);
  });
}
