/** Part of the contract suite: decisions about runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditedDecision } from '../../src/ledger/audit/audited.ts';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { RunDecision } from '../../src/ledger/records.ts';
import { attempted, claimAs, type claimOf, consentOf, decisionOf, INQUIRY, RECORD, SHARE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const WHO = {
  runKey: 'J-1',
  by: 'underwriting',
  reason: 'the appraisal is late',
  decidedAt: '2026-01-02T03:04:05.000Z',
};
const UNTIL = '2026-03-01T00:00:00.000Z';
const EXTENDED: RunDecision = { ...WHO, decisionId: 'extend-PREAPP', action: 'extend', stage: 'PREAPP', until: UNTIL };
const OF_SHARE: RunDecision = { ...WHO, decisionId: 'extend-S1', action: 'extend', shareId: 'S1', until: UNTIL };
const SKIPPED: RunDecision = { ...WHO, decisionId: 'skip-PREAPP', action: 'skip', stage: 'PREAPP' };
const ACCEPTED: RunDecision = {
  ...{ ...WHO, runKey: 'J-2', decisionId: 'acceptAge-PRECLOSE', action: 'acceptAge' },
};

const WITHDRAWN: RunDecision = { ...WHO, decisionId: 'withdraw', action: 'withdraw' };

async function listed(ledger: Ledger, query: object = {}): Promise<Omit<AuditedDecision, 'recordedAt'>[]> {
  const found: Omit<AuditedDecision, 'recordedAt'>[] = [];
  for await (const { recordedAt, ...one } of ledger.decisionsBetween(query)) {
    assert.ok(Date.parse(recordedAt) > 0);
    found.push(one);
  }
  return found;
}

export function runDecisionTests(opened: Open, backend: LedgerBackend): void {
  const write = (ledger: Ledger, ...decisions: RunDecision[]) =>
    ledger.recordRunDecisions(ledger.identity.ledgerId, decisions);

  test('decisions about runs are listed with those about inquiries, and found by run key, author and time', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({}));
    for (const one of [EXTENDED, OF_SHARE, SKIPPED, ACCEPTED]) await write(ledger, one);
    const all = await listed(ledger);
    assert.deepEqual(all.map(({ action }) => action).sort(), ['acceptAge', 'extend', 'extend', 'resend', 'skip']);
    const { stage: _, ...extended } = EXTENDED;
    const found = all.find(({ decisionId }) => decisionId === EXTENDED.decisionId);
    assert.deepEqual(found, { ...extended, productCode: 'PREAPP' });
    assert.deepEqual(await listed(ledger, { runKey: 'J-2' }), [ACCEPTED]);
    assert.deepEqual((await listed(ledger, { runKey: 'J-1', by: WHO.by })).length, 3);
    const ofInquiry = await listed(ledger, { customerTraceNumber: INQUIRY.customerTraceNumber });
    assert.deepEqual(
      ofInquiry.map(({ action }) => action),
      ['resend'],
    );
    assert.deepEqual(await listed(ledger, { before: '2001-01-01T00:00:00Z' }), []);
  });

  test('a decision that several writers record repeatedly is one row and one entry of the chain', async (t) => {
    const { ledger, again, url } = await opened(t);
    const other = await again();
    const later = { ...EXTENDED, decidedAt: '2026-01-03T00:00:00.000Z' };
    await Promise.all([write(ledger, EXTENDED, SKIPPED), write(other, EXTENDED), write(ledger, later)]);
    await write(other, SKIPPED);
    const { entries, findings } = await ledger.verifyChain();
    assert.deepEqual([entries, findings], [2, []]);
    assert.equal((await listed(ledger)).length, 2);
    for (const change of ["UPDATE orders SET reason = 'x'", 'DELETE FROM orders']) {
      await assert.rejects(backend.execute(url, change), /kept as they are/);
    }
    await assert.rejects(ledger.recordRunDecisions('another-ledger', [SKIPPED]), LedgerChangedError);
  });

  test('no claim for a withdrawn run succeeds, under any number or handle; an earlier attempt is still reported', async (t) => {
    const { ledger, again } = await opened(t);
    const outcome = async (change: Parameters<typeof claimOf>[1]) => (await claimAs(ledger, change)).kind;
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await write(await again(), WITHDRAWN);
    const preapp = { customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA00', productCode: 'PREAPP' } as const;
    const verdict = await claimAs(ledger, { inquiry: preapp });
    assert.deepEqual(verdict, { kind: 'withdrawn', by: WHO.by, reason: WHO.reason });
    assert.equal(await ledger.inquiry(preapp.customerTraceNumber), null, 'nothing of a refused claim is kept');
    assert.equal(await outcome({ inquiry: preapp, run: { workflowId: 'journey-J-1', runId: 'run-2' } }), 'withdrawn');
    assert.equal(await outcome({ inquiry: SHARE, consents: [consentOf()] }), 'withdrawn');
    assert.equal(await outcome({}), 'latest');
    const other = { ...preapp, customerTraceNumber: 'PABBBBBBBBBBBBBBBBBBBBBBBB00', runKey: 'J-2' };
    assert.equal(await outcome({ inquiry: other }), 'claimed');
    await write(ledger, { ...WITHDRAWN, by: 'another' });
    const again2 = await claimAs(ledger, { inquiry: preapp });
    assert.ok(again2.kind === 'withdrawn' && again2.by === WHO.by, 'the first stands');
  });

  test('the withdrawal of a review covers each of its rows, and no other review', async (t) => {
    const { ledger } = await opened(t);
    await write(ledger, { ...WITHDRAWN, runKey: 'portfolio:R-1' });
    const claimed = async (runKey: string, customerTraceNumber: string) => {
      const inquiry = { runKey, customerTraceNumber, productCode: 'ACCTRVW' } as const;
      return (await claimAs(ledger, { inquiry })).kind;
    };
    assert.equal(await claimed('portfolio:R-1/A-1', 'AVAAAAAAAAAAAAAAAAAAAAAAAA00'), 'withdrawn');
    assert.equal(await claimed('portfolio:R-12/A-1', 'AVBBBBBBBBBBBBBBBBBBBBBBBB00'), 'claimed');
  });

  test('each claim that is concurrent with a withdrawal is either committed before it or refused', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    // Repeated, since not every withdrawal meets a claim between its reads and its commit.
    for (let round = 0; round < 8; round++) {
      const runKey = `J-${round}`;
      const claims = Array.from({ length: 20 }, async (_, index) => {
        const inquiry = { runKey, customerTraceNumber: `PQ${round}X${index}` };
        return (await claimAs(ledger, { inquiry })).kind;
      });
      await write(other, { ...WITHDRAWN, runKey });
      const committed = (await other.inquiriesOf(runKey)).filter(({ attempts }) => attempts.length > 0).length;
      const kinds = await Promise.all(claims);
      assert.equal(kinds.filter((kind) => kind === 'claimed').length, committed);
      assert.ok(kinds.every((kind) => kind === 'claimed' || kind === 'withdrawn'));
    }
  });

  test('a decision with the same id and other content is kept beside the first, since a reset run receives it again', async (t) => {
    const { ledger } = await opened(t);
    const other = { ...ACCEPTED, reason: 'nothing has changed' };
    for (const one of [ACCEPTED, other, ACCEPTED, other]) await write(ledger, one);
    const reasons = (await listed(ledger)).map(({ reason }) => reason);
    assert.deepEqual(reasons.sort(), [other.reason, ACCEPTED.reason]);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
  });

  test('decisions about runs outlast a disposal, as decisions about inquiries do', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await write(ledger, SKIPPED);
    const who = { by: 'records-1', reason: 'retention is over' };
    await ledger.retention.begin('J-1', who);
    await ledger.retention.dispose('J-1', who, 0);
    assert.equal((await listed(ledger, { runKey: 'J-1' })).length, 1);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
  });
}
