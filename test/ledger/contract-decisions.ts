/** Part of the contract suite: decisions and consents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import type { DecisionRecord } from '../../src/ledger/records.ts';
import { openInquiries, readAttention } from '../support/open-inquiries.ts';
import {
  asJson,
  attempted,
  claimAs,
  consentOf,
  decisionOf,
  INQUIRY,
  latestState,
  NO_RECORD,
  outcomeOf,
  RECORD,
  readSealedReport,
  SHARE,
  TRACE,
  UNKNOWN_CODE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

/** Makes an attempt overdue at once, so that no test waits for a clock. */
const OVERDUE = { answerWithinMs: 0 };

export function decisionTests(opened: Open, backend: LedgerBackend): void {
  test('a resend is refused while, by the database clock, the first request may still arrive', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    const verdict = await claimAs(ledger, { resendAfterMs: 60_000 });
    const resendFrom = verdict.kind === 'claimed' ? (verdict.resendFrom ?? '') : '';
    const claimedAt = verdict.kind === 'claimed' ? verdict.claimedAt : '';
    // Two readings of the database's clock, in one statement.
    const apart = Date.parse(resendFrom) - Date.parse(claimedAt) - 60_000;
    assert.ok(apart >= 0 && apart < 100, `${apart} ms`);
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'unknown' }));
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendFrom, resendFrom);
    assert.equal((await openInquiries(ledger))[0]?.attempts[0]?.resendFrom, resendFrom);
    // The ledger has opened this row itself, without a run.
    assert.equal((await ledger.tasks.open({ limit: 1 })).rows[0]?.resendFrom, resendFrom);
    const resend = decisionOf({ action: 'resend' });
    const early = await ledger.recordDecision(ledgerId, INQUIRY, resend);
    assert.deepEqual(early, {
      kind: 'refused',
      cause: 'notNow',
      reason: `the first request may still arrive: resend is accepted from ${resendFrom} on`,
    });
    assert.equal(latestState(await claimAs(ledger, { attempt: 2 })), 'unknown', 'it permits nothing');
    await backend.execute(url, 'UPDATE attempts SET resend_from = resend_from - 60000');
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, resend), { kind: 'recorded' });
    assert.equal((await claimAs(ledger, { attempt: 2 })).kind, 'claimed');
  });

  test('a repeat is recorded once, before its claim, and permits no further attempt', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const repeat = decisionOf({
      decisionId: 'repeat-PREQUAL-2',
      attempt: 0,
      action: 'repeat',
      providerSaid: 'notAsked',
    });
    for (const reason of [repeat.reason, 'another']) {
      assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, { ...repeat, reason }), { kind: 'recorded' });
    }
    assert.deepEqual(await openInquiries(ledger), []);
    await attempted(ledger, {}, { state: 'unknown' });
    assert.equal(latestState(await claimAs(ledger, { attempt: 2 })), 'unknown');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(asJson(inquiry?.decisions), [repeat]);
  });

  test('the ledger keeps and returns the id of the key that signed a decision', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    const proven = decisionOf({ decisionId: 'D-1', provenBy: 'decisions-1' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, proven), { kind: 'recorded' });
    await attempted(ledger, { attempt: 2 }, { state: 'unknown' });
    const unproven = decisionOf({ decisionId: 'D-2', attempt: 2, action: 'abandon' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, unproven), { kind: 'recorded' });
    // The same decision under a newer key is the same decision.
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, { ...proven, provenBy: 'decisions-2' }), {
      kind: 'recorded',
    });
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(asJson(inquiry?.decisions), [proven, unproven]);
    const audited: (string | undefined)[] = [];
    for await (const { permittedBy, decision } of ledger.inquiriesBetween({})) {
      audited.push(permittedBy?.provenBy, decision?.provenBy);
    }
    assert.deepEqual(audited, [undefined, 'decisions-1', 'decisions-1', undefined]);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
  });

  test('a second resend of one attempt is overtaken, both before and after the first is spent', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    const decide = (decisionId: string) => ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ decisionId }));
    assert.equal((await decide('D-1')).kind, 'recorded');
    const overtaken = await decide('D-2');
    assert.ok(overtaken.kind === 'overtaken' && overtaken.latest.state === 'unknown');
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const later = await decide('D-3');
    assert.ok(later.kind === 'overtaken' && later.latest.attempt === 2 && later.latest.state === 'answered');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(asJson(inquiry?.decisions), [decisionOf({})]);
    const permitted = await backend.execute(url, 'SELECT permitted_by FROM attempts ORDER BY attempt');
    assert.deepEqual(
      permitted.map((row) => (row as { permitted_by: unknown }).permitted_by),
      [null, 'D-1'],
    );
  });

  test('a decision id that was used with other content is refused with the paths that differ, and nothing is written', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    const first = decisionOf({});
    const decide = (change: Partial<DecisionRecord>) =>
      ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ ...first, ...change }));
    const refused = (...paths: string[]) => ({
      kind: 'refused',
      cause: 'differs',
      reason: `/decisionId was used before with other content: ${paths.join(', ')} ${paths.length > 1 ? 'differ' : 'differs'}`,
      paths,
    });
    assert.deepEqual(await decide({}), { kind: 'recorded' });
    assert.deepEqual(await decide({ decidedAt: '2026-03-01T00:00:00.000Z' }), { kind: 'recorded' }, 'said again');
    assert.deepEqual(await decide({ action: 'abandon' }), refused('/action'));
    assert.deepEqual(await decide({ attempt: 2, by: 'another' }), refused('/attempt', '/by'));
    await attempted(ledger, { attempt: 2 }, { state: 'unknown' });
    const accept = { decisionId: 'D-2', attempt: 2, action: 'accept', providerSaid: 'posted', answer: RECORD } as const;
    assert.deepEqual(await decide(accept), { kind: 'recorded' });
    assert.deepEqual(await decide(accept), { kind: 'recorded' });
    assert.deepEqual(await decide({ ...accept, answer: NO_RECORD }), refused('/outcome', '/reference'));
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(
      inquiry?.decisions.map(({ decisionId, action }) => [decisionId, action]),
      [
        ['D-1', 'resend'],
        ['D-2', 'accept'],
      ],
    );
  });

  test('exactly one of several concurrent resends is recorded', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    await attempted(ledger, {}, { state: 'unknown' });
    const verdicts = await Promise.all(
      Array.from({ length: 6 }, (_, index) => {
        const decision = decisionOf({ decisionId: `D-${index}` });
        return (index % 2 === 0 ? ledger : other).recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
      }),
    );
    assert.equal(verdicts.filter(({ kind }) => kind === 'recorded').length, 1);
  });

  test('each resend before any claim is kept, and none permits a further attempt', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    for (const decisionId of ['D-1', 'D-2']) {
      const decision = decisionOf({ decisionId, failureType: 'TokenUnavailable' });
      assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, decision)).kind, 'recorded');
    }
    assert.equal(await ledger.lookUp(ledgerId, TRACE), null);
    assert.equal((await attempted(ledger, {}, { state: 'unknown' })).kind, 'claimed');
    assert.equal(latestState(await claimAs(ledger, { attempt: 2 })), 'unknown');
    assert.deepEqual(await claimAs(ledger, { request: 'other' }), { kind: 'requestDiffers' });
  });

  test('accept gives an unknown outcome the answer that the operator entered', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger, OVERDUE);
    const decision = decisionOf({ action: 'accept', providerSaid: 'posted', answer: RECORD });
    assert.deepEqual(await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision), { kind: 'recorded' });
    const verdict = await claimAs(ledger, { attempt: 2 });
    assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'accepted');
    assert.deepEqual(verdict.latest.answer, RECORD);
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.deepEqual(inquiry?.decisions, [decision]);
    const late = outcomeOf(ledger, { state: 'answered', answer: NO_RECORD });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.deepEqual((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.answer, RECORD);
  });

  test('accept settles a doubtful answer and makes its report readable', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger);
    const doubtful = outcomeOf(ledger, { state: 'answered', answer: UNKNOWN_CODE, failureType: 'ReturnCodeUnknown' });
    assert.equal(await ledger.recordOutcome(doubtful, '{"returnCode":"Maybe"}'), 'recorded');
    assert.equal(await readSealedReport(ledger, 'J-1', 'PREQUAL'), null);
    const decision = decisionOf({ action: 'accept', answer: NO_RECORD });
    assert.equal((await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision)).kind, 'recorded');
    assert.equal(await ledger.recordOutcome(doubtful), 'already');
    assert.equal((await readSealedReport(ledger, 'J-1', 'PREQUAL'))?.body, '{"returnCode":"Maybe"}');
  });

  test('abandon closes an inquiry permanently, before or after its first claim', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    const fresh = { ...INQUIRY, customerTraceNumber: 'PQFRESH' };
    for (const inquiry of [INQUIRY, fresh]) {
      const { customerTraceNumber } = inquiry;
      const decision = decisionOf({ action: 'abandon', customerTraceNumber });
      assert.equal((await ledger.recordDecision(ledgerId, inquiry, decision)).kind, 'recorded');
      assert.equal((await ledger.lookUp(ledgerId, customerTraceNumber))?.state, 'abandoned');
      const attempt = inquiry === fresh ? 1 : 2;
      assert.equal(latestState(await claimAs(ledger, { inquiry, attempt })), 'abandoned');
    }
    const late = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'abandoned');
  });

  test('an amendment is kept and does not change the inquiry that it amends', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'refused' });
    const decision = decisionOf({ action: 'amend', answer: RECORD });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
    assert.equal(latestState(await claimAs(ledger, { attempt: 2 })), 'refused');
    assert.equal((await backend.execute(url, 'SELECT * FROM decisions')).length, 1);
    const amended = { customerTraceNumber: 'PQAMENDED', ordinal: 1, amends: TRACE };
    await claimAs(ledger, { inquiry: amended, request: 'amended' });
    const numbers = (await ledger.inquiriesOf('J-1')).map((view) => [view.customerTraceNumber, view.amends]);
    assert.deepEqual(numbers, [
      [TRACE, undefined],
      ['PQAMENDED', TRACE],
    ]);
  });
}

export function consentTests(opened: Open, backend: LedgerBackend): void {
  test('a consent that is recorded again is stored once', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    const evidence = { method: 'web', textVersion: '7', capturedAt: '2026-01-02T03:04:05Z', reference: 'E-1' };
    const consents = [consentOf({ evidence }), consentOf({ decision: 'revoked' })];
    await ledger.recordConsents(ledgerId, consents);
    await ledger.recordConsents(ledgerId, [...consents, consentOf({ consentId: 'C-2' })]);
    assert.equal((await backend.execute(url, 'SELECT * FROM consents')).length, 3);
    await ledger.recordConsents(ledgerId, []);
  });

  test('a repeated consent is known; one with other content under the same key is reported by the paths that differ', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    const evidence = { method: 'web', textVersion: '7', capturedAt: '2026-01-02T03:04:05Z', reference: 'E-1' };
    const grant = consentOf({ evidence });
    const told = async (consent: ConsentRecord) => (await ledger.recordConsents(ledgerId, [consent]))[0];
    assert.deepEqual(await told(grant), { kind: 'recorded' });
    assert.deepEqual(await told(grant), { kind: 'recorded' }, 'an activity that is repeated');
    const later = { ...grant, receivedAt: '2026-02-01T00:00:00.000Z' };
    assert.deepEqual(await told({ ...later, proof: 'a.b.c' }), { kind: 'known', paths: [] });
    const other = { ...later, evidence: { ...evidence, reference: 'E-2' }, secondaryUser: { endUser: 'A Bank' } };
    const { paths } = (await told(other)) as { paths: string[] };
    assert.deepEqual(paths.toSorted(), ['/evidence/reference', '/secondaryUser/endUser', '/secondaryUser/endUserCode']);
    assert.equal((await backend.execute(url, 'SELECT * FROM consents')).length, 1);
  });

  test('a late revocation flags only the posted shares that it concerns', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const posted = { state: 'answered', answer: { ...RECORD } } as const;
    await attempted(ledger, { inquiry: SHARE, consents: [consentOf()] }, posted);
    const notPosted = { ...SHARE, customerTraceNumber: 'SUNOTPOSTED', shareId: 'S2' };
    await attempted(ledger, { inquiry: notPosted, consents: [consentOf({ shareId: 'S2' })] }, { state: 'notSent' });

    const flags = (change: Parameters<typeof consentOf>[0]) =>
      ledger.flagPostedShares(ledgerId, consentOf({ decision: 'revoked', ...change }));
    assert.equal(await flags({ decision: 'granted' }), 0);
    assert.equal(await flags({ applicantId: '02' }), 0);
    assert.equal(await flags({ shareId: 'S2' }), 0);
    assert.equal(await flags({ secondaryUser: { endUserCode: 'EU9' } }), 0);
    await ledger.recordConsents(ledgerId, [consentOf({ consentId: 'C-OTHER' })]);
    assert.equal(await flags({ consentId: 'C-OTHER' }), 0, 'the grant that it revokes permitted nothing');
    assert.deepEqual(await readAttention(ledger, SHARE.customerTraceNumber), []);

    assert.equal(await flags({ consentId: 'C-NEVER-SEEN' }), 1, 'an unknown id revokes every grant');
    assert.equal(await flags({}), 1);
    assert.equal(await flags({ decision: 'denied', consentId: 'C-9' }), 1);
    assert.deepEqual(await readAttention(ledger, SHARE.customerTraceNumber), ['revokedAfterPosting']);
  });

  test('a refusal that arrives while its share is in flight flags the share once it may have been posted', async (t) => {
    const outcomes = [
      ['posted', { state: 'answered', answer: RECORD }, true],
      ['unknown', { state: 'unknown' }, true],
      ['not sent', { state: 'notSent' }, false],
    ] as const;
    for (const [name, outcome, isFlagged] of outcomes) {
      const { ledger, ledgerId } = await opened(t);
      const { customerTraceNumber = '' } = SHARE;
      await claimAs(ledger, { inquiry: SHARE, consents: [consentOf()] });
      const revoked = consentOf({ decision: 'revoked' });
      await ledger.recordConsents(ledgerId, [revoked]);
      assert.equal(await ledger.flagPostedShares(ledgerId, revoked), 0, name);
      await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, ...outcome }));
      assert.equal((await readAttention(ledger, customerTraceNumber)).includes('revokedAfterPosting'), isFlagged, name);
    }
  });

  test('a denial flags an overdue share at once, and never one that was granted again after the denial', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await claimAs(ledger, { inquiry: SHARE, consents: [consentOf()], answerWithinMs: 0 });
    const later = consentOf({ decision: 'denied', consentId: 'C-9' });
    await ledger.recordConsents(ledgerId, [later]);
    assert.equal(await ledger.flagPostedShares(ledgerId, { ...later, decidedAt: '2026-01-01T00:00:00Z' }), 0);
    assert.equal(await ledger.flagPostedShares(ledgerId, later), 1);
  });
}
