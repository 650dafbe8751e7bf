/** Part of the contract suite: shares that name fewer than their report's applicants, and the choices of one share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ledger } from '../../src/ledger/port.ts';
import type { ClaimRequest, OutcomeRecord } from '../../src/ledger/records.ts';
import type { AuditedShare } from '../../src/ledger/share-audit.ts';
import type { InquiryDescription } from '../../src/model/inquiry.ts';
import { claimOf, consentOf, decisionOf, latestState, outcomeOf, RECORD, SHARE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const IDS = ['01', '02'];
const CONFIRMATION = { reference: 'letter 88', at: '2026-01-02' };

/** The number of the choice that names these, with the ordinal that says who is left out. */
function choice(named: readonly string[]): Partial<InquiryDescription> {
  const ordinal = IDS.reduce((bits, id, index) => (named.includes(id) ? bits : bits + 2 ** index), 0);
  return { ...SHARE, ordinal, customerTraceNumber: `SUAAAAAAAAAAAAAAAAAAAAAAAA0${ordinal}` };
}

/** A claim that brings the grants of those whom it names. */
function claimFor(ledger: Ledger, named: readonly string[], change: Partial<ClaimRequest> = {}): ClaimRequest {
  const leftOut = IDS.filter((id) => !named.includes(id));
  return claimOf(ledger, {
    inquiry: choice(named),
    request: `for ${named.join()}`,
    applicantIds: named,
    consents: named.map((applicantId) => consentOf({ applicantId, consentId: `C-${applicantId}` })),
    ...(leftOut.length > 0 ? { subset: { leftOut, confirmation: CONFIRMATION } } : {}),
    ...change,
  } as Parameters<typeof claimOf>[1]);
}

async function claimed(ledger: Ledger, named: readonly string[], change: Partial<ClaimRequest> = {}): Promise<string> {
  return latestState(await ledger.claim(claimFor(ledger, named, change)));
}

async function ended(ledger: Ledger, named: readonly string[], change: Partial<OutcomeRecord>): Promise<void> {
  const { customerTraceNumber = '' } = choice(named);
  await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, ...change }));
}

async function shares(ledger: Ledger): Promise<AuditedShare[]> {
  const found: AuditedShare[] = [];
  for await (const one of ledger.sharesBetween({})) found.push(one);
  return found;
}

export function subsetTests(opened: Open, backend: LedgerBackend): void {
  test('whom a share leaves out, and the provider’s word for it, are kept with its attempt and never changed', async (t) => {
    const { ledger, url } = await opened(t);
    assert.equal(await claimed(ledger, ['02']), 'claimed');
    await ended(ledger, ['02'], { state: 'answered', answer: RECORD });
    const [one, ...more] = await shares(ledger);
    assert.deepEqual(more, []);
    assert.deepEqual(one?.subset, { leftOut: ['01'], confirmation: CONFIRMATION });
    assert.deepEqual(
      one?.consents.map(({ applicantId }) => applicantId),
      ['02'],
    );
    await assert.rejects(backend.execute(url, "UPDATE subset_shares SET left_out = '[]'"));
    await assert.rejects(backend.execute(url, 'DELETE FROM subset_shares'));
  });

  test('of a share for all nothing is kept about those whom it leaves out', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await claimed(ledger, IDS), 'claimed');
    assert.equal((await shares(ledger))[0]?.subset, undefined);
  });

  test('a claim brings the grants of those whom its request names, and of nobody else', async (t) => {
    const { ledger } = await opened(t);
    const grants = IDS.map((applicantId) => consentOf({ applicantId, consentId: `C-${applicantId}` }));
    assert.equal(await claimed(ledger, IDS, { consents: grants.slice(0, 1) }), 'notPermitted');
    assert.equal(await claimed(ledger, ['01'], { consents: grants }), 'notPermitted');
    assert.equal(await claimed(ledger, ['01'], { consents: grants.slice(1) }), 'notPermitted');
    assert.equal(await claimed(ledger, ['01'], { consents: grants.slice(0, 1) }), 'claimed');
  });

  test('who has refused it is not named, and those who are left may be', async (t) => {
    const { ledger } = await opened(t);
    await ledger.recordConsents(ledger.identity.ledgerId, [
      consentOf({ applicantId: '02', consentId: 'C-02', decision: 'revoked', receivedAt: '2026-01-03T00:00:00Z' }),
    ]);
    assert.equal(await claimed(ledger, IDS), 'notPermitted');
    assert.equal(await claimed(ledger, ['02']), 'notPermitted');
    assert.equal(await claimed(ledger, ['01']), 'claimed');
  });

  for (const [state, expected] of [
    ['notSent', 'claimed'],
    ['notProcessed', 'claimed'],
    ['unknown', 'anotherNumber'],
    ['refused', 'anotherNumber'],
    ['untrusted', 'anotherNumber'],
  ] as const) {
    test(`after an attempt that is ${state}, another choice is ${expected}`, async (t) => {
      const { ledger } = await opened(t);
      assert.equal(await claimed(ledger, IDS), 'claimed');
      await ended(ledger, IDS, { state });
      assert.equal(await claimed(ledger, ['01']), expected);
    });
  }

  test('while a choice is on the wire or answered no other is claimed, in either direction', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await claimed(ledger, ['01']), 'claimed');
    assert.equal(await claimed(ledger, IDS), 'anotherNumber');
    assert.equal(await claimed(ledger, ['02']), 'anotherNumber');
    await ended(ledger, ['01'], { state: 'answered', answer: RECORD });
    const verdict = await ledger.claim(claimFor(ledger, IDS));
    assert.deepEqual(verdict, { kind: 'anotherNumber', customerTraceNumber: choice(['01']).customerTraceNumber });
    assert.equal(await claimed(ledger, ['01']), 'answered', 'and its own is reported');
    assert.equal(
      await ledger.inquiry(choice(IDS).customerTraceNumber ?? ''),
      null,
      'nothing of a refused claim is kept',
    );
  });

  test('a choice that was claimed and not sent is not claimed again once another one was sent', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await claimed(ledger, IDS), 'claimed');
    await ended(ledger, IDS, { state: 'notSent' });
    assert.equal(await claimed(ledger, ['01']), 'claimed');
    await ended(ledger, ['01'], { state: 'unknown' });
    assert.equal(await claimed(ledger, IDS, { attempt: 2 }), 'anotherNumber');
    // A person permits it beside the other: once.
    const { inquiry } = claimFor(ledger, IDS);
    const { customerTraceNumber } = inquiry;
    const resend = decisionOf({ customerTraceNumber, attempt: 2, failureType: 'AnotherNumber' });
    assert.deepEqual(await ledger.recordDecision(ledger.identity.ledgerId, inquiry, resend), { kind: 'recorded' });
    assert.equal(await claimed(ledger, IDS, { attempt: 2 }), 'claimed');
    await ended(ledger, IDS, { attempt: 2, state: 'notSent' });
    assert.equal(await claimed(ledger, IDS, { attempt: 3 }), 'anotherNumber');
  });

  test('of two choices that are claimed at once one is', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    const kinds = await Promise.all([claimed(ledger, ['01']), claimed(other, ['02']), claimed(ledger, IDS)]);
    assert.deepEqual(kinds.sort(), ['anotherNumber', 'anotherNumber', 'claimed']);
  });

  test('another share of the same report is its own', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await claimed(ledger, ['01']), 'claimed');
    const inquiry = { ...choice(IDS), shareId: 'S2', customerTraceNumber: 'SUBBBBBBBBBBBBBBBBBBBBBBBB00' };
    const consents = IDS.map((applicantId) => consentOf({ applicantId, consentId: `D-${applicantId}`, shareId: 'S2' }));
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { inquiry, consents, applicantIds: IDS }))), 'claimed');
  });
}
