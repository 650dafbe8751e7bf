/** Part of the contract suite: the ledger keeps, finds and lists consents that no run received or could match. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsentRecord, GrantFault } from '../../src/consent/consent-record.ts';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Receiver, Start } from '../../src/ledger/shares/shares.ts';
import { attempted, claimAs, consentOf, RECORD, SHARE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const OPS = { by: 'ops@example.com', reason: 'asked the consent system' };

function keep(ledger: Ledger, change: Partial<ConsentRecord> = {}) {
  return ledger.consents.keep(ledger.identity.ledgerId, consentOf(change));
}

function adopt(ledger: Ledger, firstRunId: string, change: Partial<Start> = {}): Promise<void> {
  const run = { runKey: 'J-1', firstRunId, shareIds: ['S1'], applicantIds: ['01'], ...change };
  return ledger.consents.adopt(ledger.identity.ledgerId, run);
}

/** The consents to S1 that count for a start, after it has adopted those that no start has. */
async function countedBy(ledger: Ledger, firstRunId: string, change: Partial<Start> = {}): Promise<string[]> {
  await adopt(ledger, firstRunId, change);
  const { stored } = await ledger.shareFacts({ runKey: change.runKey ?? 'J-1', shareId: 'S1' });
  return stored
    .filter(({ consent, starts = [] }) => consent.decision !== 'granted' || starts.includes(firstRunId))
    .map(({ consent }) => `${consent.consentId} ${consent.decision}`)
    .sort();
}

async function received(
  ledger: Ledger,
  { consents = [], ...change }: Partial<Receiver> & { consents?: readonly ConsentRecord[] },
): Promise<void> {
  const receiver = { firstRunId: 'run-1', shareIds: ['S1'], ...change };
  await ledger.recordConsents(ledger.identity.ledgerId, consents, receiver);
}

async function listed(ledger: Ledger): Promise<string[]> {
  return (await Array.fromAsync(ledger.unmatchedBetween())).map(
    ({ consentId, unmatched }) => `${consentId} ${unmatched}`,
  );
}

const DENIED = { consentId: 'C-NO', decision: 'denied' } as const;

export function keptConsentTests(opened: Open, backend: LedgerBackend): void {
  test('a consent that no run received is kept, and listed, oldest first, with its unknown journey, share or applicant', async (t) => {
    const { ledger } = await opened(t);
    assert.equal((await ledger.startFacts('J-1')).hasConsents, false);
    assert.deepEqual(await keep(ledger), { verdict: { kind: 'recorded' }, unmatched: 'journey' });
    assert.equal((await ledger.startFacts('J-1')).hasConsents, true, 'a start has something to hear');
    assert.equal((await ledger.startFacts('J-2')).hasConsents, false);
    const report = { answer: RECORD, state: 'answered' } as const;
    await attempted(ledger, { applicantIds: ['01'] }, report);
    const share = { ...SHARE, runKey: 'J-1' };
    await attempted(
      ledger,
      { inquiry: share, applicantIds: ['01'], consents: [consentOf({ consentId: 'C-2' })] },
      report,
    );
    const typo = await keep(ledger, { ...DENIED, consentId: 'C-3', shareId: 'S-TYPO' });
    assert.deepEqual(typo, { verdict: { kind: 'recorded' }, unmatched: 'share' });
    await sleep(2); // Within one millisecond they have no order of time.
    const stranger = await keep(ledger, { ...DENIED, consentId: 'C-4', applicantId: '09' });
    assert.equal(stranger.unmatched, 'applicant');
    assert.deepEqual(await keep(ledger, { ...DENIED, consentId: 'C-5' }), {
      verdict: { kind: 'recorded' },
      unmatched: undefined,
    });
    assert.deepEqual(await listed(ledger), ['C-1 journey', 'C-3 share', 'C-4 applicant']);
    const [oldest] = await Array.fromAsync(ledger.unmatchedBetween());
    assert.ok(oldest && !Number.isNaN(Date.parse(oldest.since)));
  });

  test('a consent that is kept twice is known and listed once, and the verdict names the paths that differ', async (t) => {
    const { ledger } = await opened(t);
    await keep(ledger);
    const again = await keep(ledger, { receivedAt: '2026-01-02T04:00:00Z' });
    assert.deepEqual(again.verdict, { kind: 'known', paths: [] });
    const other = await keep(ledger, { decidedAt: '2026-01-02T03:00:00Z', receivedAt: '2026-01-02T04:00:00Z' });
    assert.deepEqual(other.verdict, { kind: 'known', paths: ['/decidedAt'] });
    assert.deepEqual(await listed(ledger), ['C-1 journey']);
    await assert.rejects(ledger.consents.keep('ledger-of-others', consentOf()), LedgerChangedError);
  });

  test('a denial that is repeated without a time is known, unless a grant was recorded in between', async (t) => {
    const { ledger } = await opened(t);
    const again = { decidedAt: '2026-01-02T05:00:00Z', receivedAt: '2026-01-02T05:00:00Z', decidedNow: true } as const;
    await keep(ledger, DENIED);
    assert.deepEqual((await keep(ledger, { ...DENIED, ...again })).verdict, { kind: 'known', paths: [] });
    const { ledgerId } = ledger.identity;
    await ledger.recordConsents(ledgerId, [consentOf({ consentId: 'C-2', receivedAt: '2026-01-02T04:00:00Z' })]);
    assert.deepEqual((await keep(ledger, { ...DENIED, ...again })).verdict, { kind: 'known', paths: ['/decidedAt'] });
  });

  test('a denial that is repeated without a time is known unless a grant came in between, also in one transaction', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const at = (hour: number) => {
      const instant = `2026-01-02T0${hour}:00:00Z`;
      return { decidedAt: instant, receivedAt: instant, decidedNow: true as const };
    };
    const denials = [4, 5, 7].map((hour) => consentOf({ ...DENIED, ...at(hour) }));
    const grants = [consentOf({ consentId: 'C-2', ...at(6) }), consentOf({ applicantId: '02', ...at(4) })];
    const verdicts = [
      { kind: 'recorded' },
      { kind: 'known', paths: [] },
      { kind: 'known', paths: ['/decidedAt'] },
      { kind: 'recorded' },
      { kind: 'recorded' },
    ];
    assert.deepEqual(await ledger.recordConsents(ledgerId, [...denials, ...grants]), verdicts);
    assert.deepEqual(await ledger.recordConsents(ledgerId, [...denials, ...grants]), verdicts, 'when it is repeated');
  });

  test('a grant that is kept again and no longer counts says why: by its run’s fault, or by a refusal', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const grants = ['C-1', 'C-2', 'C-3', 'C-4'].map((consentId) => consentOf({ consentId }));
    await ledger.recordConsents(ledgerId, grants, { firstRunId: 'run-1', shareIds: ['S1'] });
    const again = async (consentId: string) => {
      const sent = consentOf({ consentId, receivedAt: '2026-01-02T09:00:00Z' });
      const [verdict] = await ledger.recordConsents(ledgerId, [sent]);
      return verdict?.kind === 'known' && verdict.paths.length === 0 ? verdict.fault : assert.fail();
    };
    assert.equal(await again('C-1'), undefined);
    const faulty = (consentId: string, fault: GrantFault) => ({ ...consentOf({ consentId }), fault });
    // The second is not in this ledger.
    await received(ledger, {
      faultyGrants: [faulty('C-1', 'tooOld'), faulty('C-NONE', 'spent'), faulty('C-2', 'missing')],
    });
    await received(ledger, { faultyGrants: [faulty('C-1', 'otherPerson')] });
    assert.deepEqual(
      [await again('C-1'), await again('C-2'), await again('C-3')],
      ['otherPerson', 'missing', undefined],
    );
    assert.deepEqual(await listed(ledger), []);
    assert.deepEqual(await countedBy(ledger, 'run-2'), [], 'no other start counts it');
    // The grant counts, since a share was posted under it.
    const consents = [consentOf({ consentId: 'C-4' })];
    const share = { ...SHARE, runKey: 'J-1' };
    await attempted(ledger, { inquiry: share, applicantIds: ['01'], consents }, { answer: RECORD, state: 'answered' });
    await received(ledger, { faultyGrants: [faulty('C-4', 'tooOld')] });
    await ledger.recordConsents(ledgerId, [consentOf({ ...DENIED, receivedAt: '2026-01-02T08:00:00Z' })]);
    assert.deepEqual([await again('C-3'), await again('C-4')], ['refused', undefined]);
    await received(ledger, { faultyGrants: [faulty('C-4', 'spent')] });
    assert.equal(await again('C-4'), 'spent', 'another share, of the same id, was');
  });

  test('a start always finds refusals, and finds grants only if no other start has received them', async (t) => {
    const { ledger } = await opened(t);
    await keep(ledger);
    await keep(ledger, { ...DENIED, receivedAt: '2026-01-02T03:05:00Z' });
    assert.deepEqual(await countedBy(ledger, 'run-1'), ['C-1 granted', 'C-NO denied']);
    // The same start asks again: its first answer was lost.
    assert.deepEqual(await countedBy(ledger, 'run-1'), ['C-1 granted', 'C-NO denied']);
    assert.deepEqual(await countedBy(ledger, 'run-2'), ['C-NO denied']);
    // The next start also finds the refusals that an earlier run received.
    const { ledgerId } = ledger.identity;
    const own = [
      consentOf({ consentId: 'C-7', receivedAt: '2026-01-02T03:06:00Z' }),
      consentOf({ consentId: 'C-7', decision: 'revoked', receivedAt: '2026-01-02T03:07:00Z' }),
    ];
    await ledger.recordConsents(ledgerId, own, { firstRunId: 'run-2', shareIds: ['S1'] });
    assert.deepEqual(await countedBy(ledger, 'run-2'), ['C-7 granted', 'C-7 revoked', 'C-NO denied']);
    assert.deepEqual(await countedBy(ledger, 'run-3'), ['C-7 revoked', 'C-NO denied']);
    // A start that is sent the same grant counts it.
    await received(ledger, { firstRunId: 'run-3', consents: own.slice(0, 1) });
    assert.deepEqual(await countedBy(ledger, 'run-3'), ['C-7 granted', 'C-7 revoked', 'C-NO denied']);
  });

  test('a kept consent leaves the list as soon as a start knows its journey, share and applicant', async (t) => {
    const { ledger } = await opened(t);
    await keep(ledger);
    await keep(ledger, { consentId: 'C-2', shareId: 'S2' });
    await keep(ledger, { consentId: 'C-3', applicantId: '09' });
    await countedBy(ledger, 'run-1');
    // Kept within one millisecond they have no order of time.
    assert.deepEqual((await listed(ledger)).sort(), ['C-2 share', 'C-3 applicant']);
    await adopt(ledger, 'run-1', { shareIds: ['S1', 'S2'] });
    assert.deepEqual(await listed(ledger), ['C-3 applicant']);
  });

  test('a consent that was kept after the start, and that the run then receives, leaves the list and belongs to that run', async (t) => {
    const { ledger } = await opened(t);
    assert.deepEqual(await countedBy(ledger, 'run-1'), []);
    await keep(ledger);
    await keep(ledger, { consentId: 'C-2', shareId: 'S2' });
    await received(ledger, {
      consents: [consentOf(), consentOf({ consentId: 'C-2', shareId: 'S2' })],
    });
    assert.deepEqual(await listed(ledger), ['C-2 share']);
    assert.deepEqual(await countedBy(ledger, 'run-2'), []);
  });

  test('a consent whose share the run does not know is listed after an hour, unless the share is requested by then', async (t) => {
    const { ledger, url } = await opened(t);
    for (const shareId of ['S8', 'S9']) {
      const consents = [consentOf({ consentId: `C-${shareId}`, shareId })];
      await received(ledger, { consents });
    }
    assert.deepEqual(await listed(ledger), []);
    await adopt(ledger, 'run-1', { shareIds: ['S8'] });
    await backend.execute(url, 'UPDATE consents SET listed_from = listed_from - 3600001');
    assert.deepEqual(await listed(ledger), ['C-S9 share']);
  });

  test('a reader’s profiles and end users filter out consents of other runs, but no consent of an unknown run', async (t) => {
    const { ledger } = await opened(t);
    const report = { answer: RECORD, state: 'answered' } as const;
    for (const [runKey, endUserCode, profile] of [
      ['J-1', 'EU123', 'default'],
      ['J-2', 'EU456', 'default'],
      ['J-3', 'EU123', 'other'],
    ] as const) {
      const customerTraceNumber = `CRAAAAAAAAAAAAAAAAAAAAAA${runKey.slice(2)}00`;
      await attempted(
        ledger,
        { inquiry: { runKey, endUserCode, profile, customerTraceNumber }, applicantIds: ['01'] },
        { ...report, customerTraceNumber },
      );
    }
    // The journey of a share is not made for the share's secondary user.
    await attempted(
      ledger,
      { inquiry: { ...SHARE, runKey: 'J-1' }, applicantIds: ['01'], consents: [consentOf()] },
      report,
    );
    for (const journeyId of ['J-1', 'J-2', 'J-3', 'J-4']) {
      await keep(ledger, { ...DENIED, journeyId, shareId: 'S-TYPO' });
      await sleep(2);
    }
    const list = async (reach: { profiles?: string[]; endUsers?: string[] }) => {
      const found = await Array.fromAsync(ledger.unmatchedBetween(reach));
      return found.map(({ runKey }) => runKey).join();
    };
    assert.equal(await list({}), 'J-1,J-2,J-3,J-4');
    assert.equal(await list({ endUsers: ['EU123'] }), 'J-1,J-3,J-4');
    assert.equal(await list({ endUsers: ['EU123'], profiles: ['default'] }), 'J-1,J-4');
    assert.equal(await list({ endUsers: ['EU123', 'EU456'], profiles: ['default', 'more'] }), 'J-1,J-2,J-4');
    assert.equal(await list({ endUsers: [], profiles: [] }), 'J-4');
  });

  test('an operator who marks one journey’s consents as seen removes only those from the list', async (t) => {
    const { ledger } = await opened(t);
    await keep(ledger);
    await keep(ledger, { journeyId: 'J-2' });
    const { ledgerId } = ledger.identity;
    assert.equal(await ledger.consents.markSeen(ledgerId, { runKey: 'J-1', ...OPS }), 1);
    assert.equal(await ledger.consents.markSeen(ledgerId, { runKey: 'J-1', ...OPS }), 0);
    assert.equal((await Array.fromAsync(ledger.unmatchedBetween())).map(({ runKey }) => runKey).join(), 'J-2');
    // A start still finds the consent.
    assert.deepEqual(await countedBy(ledger, 'run-1'), ['C-1 granted']);
  });

  test('a kept consent outlasts the disposal of its journey, and one that arrives after the disposal is kept too', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, { applicantIds: ['01'] }, { state: 'answered', answer: RECORD });
    await keep(ledger, { shareId: 'S-TYPO' });
    assert.equal((await ledger.retention.begin('J-1', OPS)).kind, 'done');
    assert.equal((await ledger.retention.dispose('J-1', OPS, 0)).kind, 'done');
    await keep(ledger, { ...DENIED, shareId: 'S-TYPO' });
    assert.deepEqual(await listed(ledger), ['C-1 share', 'C-NO share']);
    assert.deepEqual((await ledger.verifyChain({})).findings, []);
  });

  test('a consent that is kept while two starts ask reaches at most one of them, and is never lost', async (t) => {
    const { ledger, again } = await opened(t);
    const [second, third] = await Promise.all([again(), again()]);
    for (let round = 0; round < 8; round++) {
      const runKey = `J-ROUND-${round}`;
      const [, ...heard] = await Promise.all([
        keep(ledger, { journeyId: runKey }),
        countedBy(second, 'run-1', { runKey }),
        countedBy(third, 'run-2', { runKey }),
      ]);
      const later = await countedBy(ledger, 'run-3', { runKey });
      assert.deepEqual([...heard, later].flat(), ['C-1 granted'], runKey);
    }
  });

  test('a refusal that was kept before the claim prevents the share from being claimed', async (t) => {
    const { ledger } = await opened(t);
    await keep(ledger, { ...DENIED, decidedAt: '2026-01-02T04:00:00Z', receivedAt: '2026-01-02T04:00:00Z' });
    const verdict = await claimAs(ledger, { inquiry: SHARE, applicantIds: ['01'] });
    assert.equal(verdict.kind, 'notPermitted');
  });
}
