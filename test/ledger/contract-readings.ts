/** Part of the contract suite: sealed bodies of refusals, and the record of who read sealed content. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { DisposedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import type { Reader } from '../../src/ledger/reports/reports.ts';
import { OtherEndUserError } from '../../src/model/credit-journey-error.ts';
import { SealBrokenError } from '../../src/protection/errors.ts';
import {
  claimOf,
  decisionOf,
  INQUIRY,
  openRotated,
  outcomeOf,
  RECORD,
  readSealedReport,
  rotateRing,
  TRACE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const BODY = '{"errorMessage":"SENTINEL 900110001"}';
const REFUSED: Partial<OutcomeRecord> = { state: 'refused', failureType: 'RequestRefused', httpStatus: 422 };
const ATTEMPT = { customerTraceNumber: TRACE, attempt: 1 };
const OPERATOR: Reader = { by: 'ops-1', via: 'ledger' };
const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };

async function record(ledger: Ledger, outcome: Partial<OutcomeRecord>, text = BODY): Promise<string> {
  const sealed = await ledger.sealRefusal(ATTEMPT, { text, isWhole: true });
  return ledger.recordOutcome(outcomeOf(ledger, outcome), undefined, sealed);
}

async function withReport(ledger: Ledger): Promise<void> {
  await ledger.claim(claimOf(ledger));
  await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{"report":1}');
}

function accesses(ledger: Ledger, query: object = {}) {
  return Array.fromAsync(ledger.accessesBetween(query));
}

/** Waits for the next millisecond, since rows of the same millisecond have no order. */
function nextMillisecond(): Promise<void> {
  return setTimeout(2);
}

export function readingTests(opened: Open, backend: LedgerBackend): void {
  test('the body of a refusal is stored sealed with its outcome, and the attempt says that it exists', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    await ledger.claim(claimOf(ledger));
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.refusalKept, undefined);
    assert.equal(await record(ledger, REFUSED), 'recorded');
    assert.equal(await record(ledger, REFUSED, 'another body'), 'already');
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.refusalKept, true);
    assert.equal((await ledger.inquiry(TRACE))?.attempts[0]?.refusalKept, true);
    const verdict = await ledger.claim(claimOf(ledger, { attempt: 2 }));
    assert.ok(verdict.kind === 'latest' && verdict.latest.refusalKept);
    const { storedAt, ...found } = (await ledger.readRefusal(ATTEMPT, OPERATOR)) ?? assert.fail();
    assert.deepEqual(found, { ...ATTEMPT, productCode: 'PREQUAL', httpStatus: 422, isWhole: true, body: BODY });
    assert.ok(Math.abs(Date.now() - Date.parse(storedAt)) < 600_000);
    const rows = (await backend.execute(url, 'SELECT body FROM sealed_bodies')) as { body: Uint8Array }[];
    assert.equal(rows.length, 1);
    assert.ok(!Buffer.from(rows[0]?.body ?? []).includes('SENTINEL'));
    assert.equal(await ledger.readRefusal({ ...ATTEMPT, attempt: 2 }, OPERATOR), null);
    assert.equal(await ledger.readReport({ runKey: 'J-1', productCode: 'PREQUAL' }, OPERATOR), null);
  });

  test('an outcome can be recorded without a body, and a body that arrives late is kept beside it', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await ledger.claim(claimOf(ledger));
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'unknown', httpStatus: 503 })), 'recorded');
    assert.equal(await ledger.readRefusal(ATTEMPT, OPERATOR), null);
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'resend' }));
    assert.equal((await ledger.claim(claimOf(ledger, { attempt: 2 }))).kind, 'claimed');
    assert.equal(await record(ledger, REFUSED), 'late');
    assert.equal((await ledger.readRefusal(ATTEMPT, OPERATOR))?.body, BODY);
    const [first] = (await ledger.inquiry(TRACE))?.attempts ?? [];
    assert.deepEqual([first?.state, first?.refusalKept], ['unknown', undefined], 'not of the outcome that stands');
  });

  test('a disposal destroys the body of a refusal as it does a report', async (t) => {
    const { ledger, url } = await opened(t);
    await ledger.claim(claimOf(ledger));
    await record(ledger, { ...REFUSED });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({ action: 'abandon' }));
    await ledger.retention.begin('J-1', AUTHORIZATION);
    assert.equal((await ledger.retention.dispose('J-1', AUTHORIZATION, 0)).kind, 'done');
    await assert.rejects(ledger.readRefusal(ATTEMPT, OPERATOR), DisposedError);
    const sql = 'SELECT count(body) + count(wrapped_key) + count(key_id) AS n FROM sealed_bodies';
    const [row] = (await backend.execute(url, sql)) as { n: unknown }[];
    assert.equal(Number(row?.n), 0);
    assert.equal(await record(ledger, REFUSED), 'already');
    await assert.rejects(ledger.readRefusal(ATTEMPT, OPERATOR), DisposedError);
    assert.deepEqual(await accesses(ledger), []);
    await assert.rejects(backend.execute(url, 'DELETE FROM sealed_bodies'));
  });

  test('the data key of a refusal is rewrapped like that of a report, and cannot open a report', async (t) => {
    const { ledger, url, ring } = await opened(t);
    await ledger.claim(claimOf(ledger));
    await record(ledger, REFUSED);
    const rotated = await openRotated(t, url, rotateRing(ring));
    assert.equal((await rotated.rewrapDataKeys()).reports, 1);
    assert.equal((await rotated.readRefusal(ATTEMPT, OPERATOR))?.body, BODY);
    await backend.execute(url, "UPDATE sealed_bodies SET kind = 'report'");
    await backend.execute(url, "UPDATE attempts SET state = 'accepted'");
    await assert.rejects(readSealedReport(rotated, 'J-1', 'PREQUAL'), SealBrokenError);
  });

  test('each reading is recorded with its reader, time, report, end user and purpose', async (t) => {
    const { ledger, url } = await opened(t);
    await withReport(ledger);
    const wanted = { runKey: 'J-1', productCode: 'PREQUAL' } as const;
    assert.equal((await ledger.readReport(wanted, OPERATOR))?.body, '{"report":1}');
    const service: Reader = { by: 'svc', via: 'api', isRedacted: true };
    await nextMillisecond();
    await ledger.readReport({ ...wanted, customerTraceNumber: TRACE }, service);
    const again = { ...OPERATOR, purpose: 'adverse action letter', endUser: 'EU1' };
    await nextMillisecond();
    assert.equal((await ledger.readReport(wanted, again))?.body, '{"report":1}');
    assert.equal(await ledger.readReport({ ...wanted, productCode: 'PREAPP' }, OPERATOR), null);
    const found = await accesses(ledger);
    const of = { ...ATTEMPT, kind: 'report', runKey: 'J-1', productCode: 'PREQUAL', endUserCode: 'EU1' };
    assert.deepEqual(
      found.map(({ accessId: _id, recordedAt: _at, ...one }) => one),
      [
        { ...of, by: 'ops-1', via: 'ledger', redacted: false },
        { ...of, by: 'svc', via: 'api', redacted: true },
        { ...of, by: 'ops-1', via: 'ledger', purpose: 'adverse action letter', redacted: false },
      ],
    );
    assert.equal((await accesses(ledger, { by: 'svc' })).length, 1);
    assert.equal((await accesses(ledger, { runKey: 'J-2' })).length, 0);
    assert.equal(
      (await accesses(ledger, { customerTraceNumber: TRACE, before: found[2]?.recordedAt })).length <= 2,
      true,
    );
    for (const sql of ['DELETE FROM report_accesses', "UPDATE report_accesses SET by = 'nobody'"]) {
      await assert.rejects(backend.execute(url, sql), sql);
    }
  });

  test('a report is served only to the end user that it was pulled for', async (t) => {
    const { ledger } = await opened(t);
    await withReport(ledger);
    const wanted = { runKey: 'J-1', productCode: 'PREQUAL' } as const;
    const other = { ...OPERATOR, purpose: 'another lender asks', endUser: 'EU2' };
    await assert.rejects(ledger.readReport(wanted, other), OtherEndUserError);
    assert.deepEqual(await accesses(ledger), [], 'nothing was given out');
    await ledger.readReport(wanted, { ...other, endUser: 'EU1' });
    assert.equal((await accesses(ledger)).length, 1);
  });

  test('a disposed report cannot be read, and its earlier readings stay recorded', async (t) => {
    const { ledger } = await opened(t);
    await withReport(ledger);
    const wanted = { runKey: 'J-1', productCode: 'PREQUAL' } as const;
    await ledger.readReport(wanted, OPERATOR);
    await ledger.retention.begin('J-1', AUTHORIZATION);
    await ledger.retention.dispose('J-1', AUTHORIZATION, 0);
    await assert.rejects(ledger.readReport(wanted, OPERATOR), DisposedError);
    assert.equal((await accesses(ledger)).length, 1);
  });
}
