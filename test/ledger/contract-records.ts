/** Part of the contract suite: the lists of decisions, consents and disposals that analysts read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempted, claimOf, consentOf, decisionOf, INQUIRY, outcomeOf, RECORD, SHARE, TRACE } from './fixtures.ts';
import type { Open } from './ledger-backend.ts';

const EVIDENCE = { method: 'web', textVersion: 'v1', capturedAt: '2026-01-02T03:04:05Z', reference: 'DOC-1' };

export function recordTests(opened: Open): void {
  test('decisions have author, action, time, reason and inquiry, and show who marked a late answer as seen', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ provenBy: 'key-1', failureType: 'OutcomeUnknown' }));
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: RECORD });
    await ledger.recordOutcome(outcomeOf(ledger, { attempt: 1, state: 'answered', answer: RECORD }));
    const seen = { customerTraceNumber: TRACE, decisionId: 'D-2', by: 'ops-7', reason: 'asked for a correction' };
    await ledger.recordSeen(ledgerId, seen);

    const [resend, late] = await Array.fromAsync(ledger.decisionsBetween());
    const inquiry = { runKey: 'J-1', customerTraceNumber: TRACE, profile: 'default', productCode: 'PREQUAL' };
    assert.deepEqual(resend, {
      ...inquiry,
      ...{ endUserCode: 'EU1', attempt: 1, decisionId: 'D-1', action: 'resend', by: 'operator@example.com' },
      ...{ reason: 'the provider has no such inquiry', providerSaid: 'notPosted', failureType: 'OutcomeUnknown' },
      ...{ decidedAt: '2026-01-02T03:04:05Z', provenBy: 'key-1', recordedAt: resend?.recordedAt },
    });
    assert.deepEqual(late, {
      ...inquiry,
      ...{ endUserCode: 'EU1', decisionId: 'D-2', action: 'seen', by: 'ops-7', reason: 'asked for a correction' },
      ...{ decidedAt: late?.decidedAt, recordedAt: late?.recordedAt },
    });
    const ids = async (query: object) =>
      (await Array.fromAsync(ledger.decisionsBetween(query))).map(({ decisionId }) => decisionId);
    assert.deepEqual(await ids({ by: 'ops-7' }), ['D-2']);
    assert.deepEqual(await ids({ customerTraceNumber: TRACE, runKey: 'J-1' }), ['D-1', 'D-2']);
    assert.deepEqual(await ids({ runKey: 'J-2' }), []);
    assert.deepEqual(await ids({ before: resend?.recordedAt }), []);
    assert.deepEqual(await ids({ from: resend?.recordedAt }), ['D-1', 'D-2']);
    await assert.rejects(ids({ from: 'yesterday' }), RangeError);
  });

  test('all consents are listed with their proof and the number of attempts that they permitted', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const grant = consentOf({ evidence: EVIDENCE, proof: 'a.b.c' });
    await ledger.recordConsents(ledgerId, [consentOf({ applicantId: '02', consentId: 'C-2', decision: 'denied' })]);
    await attempted(ledger, { inquiry: SHARE, consents: [grant] }, { state: 'answered', answer: RECORD });
    await ledger.consents.keep(ledgerId, consentOf({ journeyId: 'J-9', consentId: 'C-9' }));
    // Consents of the same millisecond have no order.
    const found = (await Array.fromAsync(ledger.consentsBetween())).sort((a, b) =>
      a.consentId < b.consentId ? -1 : 1,
    );
    assert.deepEqual(
      found.map((one) => [one.runKey, one.consentId, one.decision, one.permittedAttempts, one.unmatched]),
      [
        ['J-1', 'C-1', 'granted', 1, undefined],
        ['J-1', 'C-2', 'denied', 0, undefined],
        ['J-9', 'C-9', 'granted', 0, 'journey'],
      ],
    );
    const { journeyId: runKey, secondaryUser, ...said } = grant;
    const { recordedAt } = found[0] ?? assert.fail();
    assert.deepEqual(found[0], { runKey, ...said, ...secondaryUser, hasProof: true, permittedAttempts: 1, recordedAt });
    const standing = async () =>
      await ledger.stands({ runKey, shareId: said.shareId, applicantId: said.applicantId, ...secondaryUser });
    assert.deepEqual(await standing(), { decision: 'granted', since: said.decidedAt, consentId: 'C-1' });
    const revocation = consentOf({ decision: 'revoked', decidedAt: new Date().toISOString() });
    await ledger.recordConsents(ledgerId, [revocation]);
    assert.deepEqual(await standing(), { decision: 'revoked', since: revocation.decidedAt, consentId: 'C-1' });
    assert.deepEqual(await ledger.stands({ runKey, shareId: 'S-9', applicantId: 'none' }), { decision: 'none' });
    assert.equal((await Array.fromAsync(ledger.consentsBetween({ runKey: 'J-9' }))).length, 1);
    assert.equal((await Array.fromAsync(ledger.consentsBetween({ before: '2001-01-01T00:00:00Z' }))).length, 0);
  });

  test('disposals and legal holds are listed in order, and by run', async (t) => {
    const { ledger } = await opened(t);
    const who = { by: 'records-1', reason: 'retention is over' };
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await ledger.retention.setLegalHold('J-1', { ...who, matter: '2026-17' });
    await ledger.retention.releaseLegalHold('J-1', { ...who, matter: '2026-17' });
    await ledger.retention.begin('J-1', who);
    await ledger.retention.dispose('J-1', who, 2);
    const found = await Array.fromAsync(ledger.disposalsBetween());
    assert.deepEqual(
      found.map(({ kind }) => kind),
      ['legalHoldSet', 'legalHoldReleased', 'disposalBegun', 'disposed'],
    );
    assert.deepEqual(found, await Array.fromAsync(ledger.disposalsBetween({ runKey: 'J-1' })));
    assert.deepEqual(await Array.fromAsync(ledger.disposalsBetween({ runKey: 'J-2' })), []);
  });

  test('inquiries are found by run key, by trace number and by number of applicants', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim({ ...claimOf(ledger), applicantIds: ['1A'] });
    const other = { customerTraceNumber: 'PQBBBBBBBBBBBBBBBBBBBBBBBB00', runKey: 'J-2' };
    await ledger.claim({ ...claimOf(ledger, { inquiry: other }), applicantIds: ['1A', '2A'] });
    const owners = async (query: object) =>
      (await Array.fromAsync(ledger.inquiriesBetween(query))).map(({ runKey }) => runKey);
    assert.deepEqual(await owners({ runKey: 'J-2' }), ['J-2']);
    assert.deepEqual(await owners({ customerTraceNumber: TRACE }), ['J-1']);
    assert.deepEqual(await owners({ applicants: '2' }), ['J-2']);
    assert.deepEqual(await owners({ applicants: '1', runKey: 'J-2' }), []);
    assert.deepEqual(
      (await Array.fromAsync(ledger.inquiriesBetween())).map(({ applicants }) => applicants),
      [1, 2],
    );
  });

  test('an inquiry, a share and a decision are found by their exact id', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ decisionId: 'D-9', action: 'abandon' }));
    const planned = { runKey: 'share:S-9', shareId: 'S-9', reportReferenceNumber: 'R-9', reportEndUserCode: 'EU1' };
    await ledger.recordShare(ledgerId, planned);
    const inquiry = { runKey: 'J-1', customerTraceNumber: TRACE };
    assert.deepEqual(await ledger.recordsNamed(TRACE, {}), [{ what: 'inquiry', ...inquiry }]);
    assert.deepEqual(await ledger.recordsNamed('D-9', {}), [{ what: 'decision', ...inquiry }]);
    assert.deepEqual(await ledger.recordsNamed('S-9', {}), [{ what: 'share', runKey: 'share:S-9', shareId: 'S-9' }]);
    for (const other of ['D-', 'd-9', '%', TRACE.slice(0, -1)])
      assert.deepEqual(await ledger.recordsNamed(other, {}), []);
  });

  test('a share is found among many of its name that belong to other end users, and more than 20 are more than a search shows', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    for (let index = 0; index < 25; index++) {
      const share = { runKey: `J-${10 + index}`, shareId: 'INVESTOR', reportReferenceNumber: `R-${index}` };
      await ledger.recordShare(ledgerId, { ...share, reportEndUserCode: index === 24 ? 'EU1' : 'EU2' });
    }
    const mine = await ledger.recordsNamed('INVESTOR', { endUsers: ['EU1'] });
    assert.deepEqual(mine, [{ what: 'share', runKey: 'J-34', shareId: 'INVESTOR' }]);
    assert.equal((await ledger.recordsNamed('INVESTOR', {})).length, 21);
  });
}
