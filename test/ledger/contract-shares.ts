/** Part of the contract suite: shares with their report and their consents, and the list of shares. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import type { AuditedShare, SharesQuery } from '../../src/ledger/audit/audited.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ConsentsQuery } from '../../src/ledger/records.ts';
import type { Answer, InquiryDescription } from '../../src/model/inquiry.ts';
import { readAttention } from '../support/open-inquiries.ts';
import { attempted, claimOf, consentOf, decisionOf, NO_RECORD, outcomeOf, RECORD, SHARE, TRACE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const SHARE_TRACE = SHARE.customerTraceNumber ?? '';
/** A share by itself of the report in `RECORD`. */
const BY_ITSELF: Partial<InquiryDescription> = {
  ...SHARE,
  customerTraceNumber: 'SUBBBBBBBBBBBBBBBBBBBBBBBB00',
  workflowType: 'shareReport',
  runKey: 'share:S-9',
  shareId: 'S-9',
};
const QUERY: ConsentsQuery = {
  runKey: 'share:S-9',
  shareId: 'S-9',
  reportReferenceNumber: 'REF-1',
};
const POSTED: Answer = {
  kind: 'outcome',
  outcome: 'record',
  reference: { reportReferenceNumber: 'SHARED-1', requestedAt: '2026-01-02T03:04:05.000Z', applicants: [] },
};

async function shares(ledger: Ledger, query: SharesQuery = {}): Promise<AuditedShare[]> {
  const found: AuditedShare[] = [];
  for await (const one of ledger.sharesBetween(query)) found.push(one);
  return found;
}

const rowOf = (reportReferenceNumber: string) => ({
  runKey: 'share:S-9',
  shareId: 'S-9',
  reportReferenceNumber,
  reportEndUserCode: 'EU1',
});

export function shareTests(opened: Open, backend: LedgerBackend): void {
  test('a reference number leads to its inquiry, also when an operator accepted it or its answer came late', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    const referred = async (number: string) =>
      (await ledger.inquiriesReferredTo(number)).map(({ inquiry, reference }) => [
        inquiry.customerTraceNumber,
        reference?.reportReferenceNumber ?? null,
      ]);
    const named = (number: string): Answer => ({
      kind: 'outcome',
      outcome: 'record',
      reference: { reportReferenceNumber: number, requestedAt: '2026-01-02T03:04:05.000Z', applicants: [] },
    });
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await attempted(ledger, { inquiry: { customerTraceNumber: 'B' } }, { state: 'answered', answer: NO_RECORD });
    await attempted(ledger, { inquiry: { customerTraceNumber: 'C' } }, { state: 'unknown' });
    const accept = decisionOf({ customerTraceNumber: 'C', action: 'accept', answer: named('ACCEPTED') });
    await ledger.recordDecision(ledgerId, claimOf(ledger, { inquiry: { customerTraceNumber: 'C' } }).inquiry, accept);
    const late = outcomeOf(ledger, { customerTraceNumber: 'C', state: 'answered', answer: named('LATE') });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.deepEqual(await referred('REF-1'), [[TRACE, 'REF-1']]);
    assert.deepEqual(await referred('ACCEPTED'), [['C', 'ACCEPTED']]);
    assert.deepEqual(await referred('LATE'), [['C', 'LATE']]);
    assert.deepEqual(await referred('REF-2'), []);
    const [row] = (await backend.execute(url, 'SELECT * FROM report_references')) as Record<string, unknown>[];
    assert.doesNotMatch(JSON.stringify(row), /REF|ACCEPTED|LATE/);
  });

  test('a disposed report is still found by its reference number, which is no longer stored', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const authorization = { by: 'records', reason: 'kept long enough' };
    await ledger.retention.begin('J-1', authorization);
    assert.equal((await ledger.retention.dispose('J-1', authorization, 0)).kind, 'done');
    const [found] = await ledger.inquiriesReferredTo('REF-1');
    assert.equal(found?.reference, null);
    assert.ok(found?.inquiry.disposedAt);
  });

  test('a share id belongs to one report, and is refused for another', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    assert.equal(await ledger.recordShare(ledgerId, rowOf('REF-1')), true);
    assert.equal(await ledger.recordShare(ledgerId, rowOf('REF-1')), true);
    assert.equal(await ledger.recordShare(ledgerId, rowOf('REF-2')), false);
  });

  test('the consents for sharing a report come from its owner, from the share, and from its other shares', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await ledger.recordShare(ledgerId, { ...rowOf('REF-1'), runKey: 'share:S-8', shareId: 'S-8' });
    await ledger.recordShare(ledgerId, { ...rowOf('REF-2'), runKey: 'share:S-7', shareId: 'S-7' });
    const said = [
      consentOf({ journeyId: 'share:S-9', shareId: 'S-9', consentId: 'OWN', receivedAt: '2026-01-05T00:00:00Z' }),
      consentOf({ shareId: 'S-9', consentId: 'OWNER', receivedAt: '2026-01-04T00:00:00Z', proof: 'a.b.c' }),
      consentOf({ consentId: 'OTHER-SHARE', decision: 'revoked', receivedAt: '2026-01-03T00:00:00Z' }),
      consentOf({ journeyId: 'share:S-8', shareId: 'S-8', consentId: 'OTHER', decision: 'denied' }),
      consentOf({ journeyId: 'share:S-7', shareId: 'S-7', consentId: 'OTHER-REPORT', decision: 'denied' }),
      consentOf({ journeyId: 'J-2', consentId: 'STRANGER' }),
    ];
    await ledger.recordConsents(ledgerId, said);
    const told = async () => {
      const { owners, stored } = await ledger.shareFacts(QUERY);
      return [owners, stored.map(({ consent }) => consent.consentId).sort()];
    };
    assert.deepEqual(
      await told(),
      [['share:S-9'], ['OTHER', 'OWN']],
      'whose report it is, the ledger does not know yet',
    );
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    assert.deepEqual(await told(), [
      ['share:S-9', 'J-1'],
      ['OTHER', 'OTHER-SHARE', 'OWN', 'OWNER'],
    ]);
    const { stored } = await ledger.shareFacts(QUERY);
    assert.deepEqual(stored.find(({ consent }) => consent.consentId === 'OWNER')?.consent, said[1]);
  });

  test('a refusal to another share of its report stands for a share by itself, also without a run', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const [own, denied] = [
      consentOf({ journeyId: 'share:S-9', shareId: 'S-9' }),
      consentOf({ consentId: 'C-2', decision: 'denied', decidedAt: '2026-01-02T04:00:00Z' }),
    ];
    await ledger.recordConsents(ledgerId, [own, denied]);
    const { applicantId, secondaryUser } = own;
    const stands = () => ledger.stands({ runKey: 'share:S-9', shareId: 'S-9', applicantId, ...secondaryUser });
    assert.equal((await stands()).decision, 'granted', 'the ledger does not know whose report it is');
    await ledger.recordShare(ledgerId, rowOf('REF-1'));
    assert.equal((await stands()).decision, 'denied');
  });

  test('a grant names the run that posted another share under it, and a late refusal flags a posted share', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const grant = consentOf({ shareId: 'S-9' });
    const ofJourney = { ...SHARE, shareId: 'S-9' };
    await attempted(ledger, { inquiry: ofJourney, consents: [grant] }, { state: 'notSent' });
    assert.equal((await ledger.shareFacts(QUERY)).stored[0]?.usedBy, undefined);
    const again = { inquiry: ofJourney, attempt: 2, consents: [grant] };
    await attempted(ledger, again, { attempt: 2, state: 'answered', answer: POSTED });
    assert.equal((await ledger.shareFacts(QUERY)).stored[0]?.usedBy, 'J-1');

    const other = consentOf({ shareId: 'S-9', applicantId: '02' });
    const claim = { inquiry: BY_ITSELF, consents: [other], sharedReference: 'REF-1' };
    await attempted(ledger, claim, { state: 'answered', answer: POSTED });
    const own = (await ledger.shareFacts(QUERY)).stored.find(({ consent }) => consent.applicantId === '02');
    assert.equal(own?.usedBy, undefined);
    assert.equal(await ledger.flagPostedShares(ledgerId, { ...other, decision: 'revoked' }), 1);
    assert.deepEqual(await readAttention(ledger, BY_ITSELF.customerTraceNumber), ['revokedAfterPosting']);
  });

  test('a refusal to a share by itself flags it under a grant to its report’s journey, and the other way round', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const [own, ofJourney] = [{ journeyId: 'share:S-9', shareId: 'S-9' }, { shareId: 'S-9' }];
    const grants = [consentOf({ ...own, applicantId: '01' }), consentOf({ ...ofJourney, applicantId: '02' })];
    const claim = { inquiry: BY_ITSELF, consents: grants, sharedReference: 'REF-1' };
    await attempted(ledger, claim, { state: 'answered', answer: POSTED });
    const flag = (change: Partial<ConsentRecord>) =>
      ledger.flagPostedShares(ledgerId, consentOf({ consentId: 'C-9', decision: 'denied', ...change }));
    assert.equal(await flag({ ...ofJourney, journeyId: 'J-2', applicantId: '01' }), 0, 'another journey’s share');
    assert.equal(await flag({ ...own, applicantId: '03' }), 0);
    assert.equal(await flag({ ...ofJourney, applicantId: '01' }), 1);
    assert.equal(await flag({ ...own, applicantId: '02' }), 1);
    assert.deepEqual(await readAttention(ledger, BY_ITSELF.customerTraceNumber), ['revokedAfterPosting']);
  });

  test('a share that was accepted as not posted counts as not posted until a late answer arrives', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const grant = consentOf({ shareId: 'S-9' });
    const claim = { inquiry: { ...SHARE, shareId: 'S-9' }, consents: [grant] };
    const strange: Answer = { kind: 'returnCodeUnknown', returnCode: 'Pending' };
    await attempted(ledger, claim, { state: 'answered', answer: strange, failureType: 'ReturnCodeUnknown' });
    const usedBy = async () => (await ledger.shareFacts(QUERY)).stored[0]?.usedBy;
    const listed = async () => (await shares(ledger)).map(({ posted }) => posted);
    assert.deepEqual([await usedBy(), await listed()], ['J-1', ['yes']]);
    const accept = decisionOf({
      customerTraceNumber: SHARE_TRACE,
      action: 'accept',
      failureType: 'ReturnCodeUnknown',
      providerSaid: 'notPosted',
      answer: NO_RECORD,
    });
    const { inquiry } = claimOf(ledger, claim);
    assert.equal((await ledger.recordDecision(ledgerId, inquiry, accept)).kind, 'recorded');
    assert.deepEqual([await usedBy(), await listed()], [undefined, []]);
    assert.equal(await ledger.flagPostedShares(ledgerId, { ...grant, decision: 'revoked' }), 0);
    const late = outcomeOf(ledger, { customerTraceNumber: SHARE_TRACE, state: 'answered', answer: POSTED });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.deepEqual([await usedBy(), await listed()], ['J-1', ['yes']]);
    assert.equal(await ledger.flagPostedShares(ledgerId, { ...grant, decision: 'revoked' }), 1);
  });

  test('the list of shares has the report, the sender, the receiver, the time and the consents of each share', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const evidence = { method: 'web', textVersion: 'v1', capturedAt: '2026-01-02T03:04:05Z', reference: 'doc-1' };
    const grant = consentOf({ evidence });
    const shared = { inquiry: SHARE, consents: [grant], sharedReference: 'REF-1' };
    await attempted(ledger, shared, { state: 'answered', answer: POSTED });
    await ledger.recordShare(ledger.identity.ledgerId, rowOf('GIVEN'));
    const given = { inquiry: { ...BY_ITSELF, endUserCode: 'EU3' }, sharedReference: 'GIVEN' };
    await attempted(ledger, given, { state: 'unknown' });
    const unsent = { ...BY_ITSELF, customerTraceNumber: 'SUC', shareId: 'S-8', runKey: 'share:S-8' };
    await attempted(ledger, { inquiry: unsent, sharedReference: 'REF-1' }, { state: 'notSent' });

    const [first, second, ...more] = await shares(ledger);
    assert.deepEqual(more, []);
    assert.equal(first?.customerTraceNumber, SHARE_TRACE);
    assert.deepEqual(first?.report, {
      customerTraceNumber: TRACE,
      runKey: 'J-1',
      productCode: 'PREQUAL',
      endUserCode: 'EU1',
    });
    assert.deepEqual([first?.sharedBy, first?.endUserCode, first?.posted], ['EU1', 'EU2', 'yes']);
    const { journeyId, shareId, applicantId, consentId, decidedAt } = grant;
    assert.deepEqual(first?.consents, [{ runKey: journeyId, shareId, applicantId, consentId, decidedAt, evidence }]);
    assert.deepEqual([second?.report, second?.sharedBy, second?.posted], [undefined, 'EU1', 'unknown']);

    const traces = async (query: SharesQuery) =>
      (await shares(ledger, query)).map(({ customerTraceNumber }) => customerTraceNumber);
    const ownTrace = BY_ITSELF.customerTraceNumber ?? '';
    assert.deepEqual(await traces({ endUser: 'EU1' }), [SHARE_TRACE, ownTrace]);
    assert.deepEqual(await traces({ endUser: 'EU3' }), [ownTrace]);
    assert.deepEqual(await traces({ report: 'REF-1' }), [SHARE_TRACE]);
    assert.deepEqual(await traces({ report: TRACE }), [SHARE_TRACE]);
    assert.deepEqual(await traces({ report: 'GIVEN' }), [ownTrace]);
    assert.deepEqual(await traces({ runKey: 'J-1' }), [SHARE_TRACE]);
    assert.deepEqual(await traces({ runKey: 'share:S-9' }), [ownTrace]);
    assert.deepEqual(await traces({ before: '2020-01-01T00:00:00Z' }), []);
  });
}
