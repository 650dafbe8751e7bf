/** The ledger records each consent before the run answers the message, also when the run is terminated afterwards. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { activityCommands, pendingAttempt } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  untilStatus,
  update,
  WAIT_LIMIT_MS,
} from '../support/journey-harness.ts';
import { lockLedger, openLedgerOf } from '../support/ledger-access.ts';
import { lateRefusal } from '../support/share-scenarios.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

const share = { shareId: 'S1', endUserCode: 'EU999' };

async function startShared(overrides: Partial<LendingJourneyInput> = {}) {
  const input = journeyInput({ stages: ['PREQUAL'], shares: [share], ...overrides });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ shares }) => shares[0]?.state === 'awaitingConsent' && shares[0].waitingFor.length > 0);
  return { handle, journeyId: input.journeyId };
}

function database(): DatabaseSync {
  return new DatabaseSync(harness.config.ledger.url.slice('file:'.length));
}

/** Reads a run's consents from the ledger as `<consentId> <decision>`, in the order of their arrival. */
function recorded(runKey: string): string[] {
  using reading = database();
  const rows = reading
    .prepare('SELECT consent_id, decision FROM consents WHERE journey_id = ? ORDER BY rowid')
    .all(runKey);
  return rows.map(({ consent_id, decision }) => `${consent_id} ${decision}`);
}

async function runUntilRecorded(runKey: string, count: number): Promise<string[]> {
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const found = recorded(runKey);
    if (found.length >= count) return found;
    if (performance.now() > endsAt) throw new Error(`waited in vain; the ledger has ${found}`);
    await setTimeout(50);
  }
}

function refusal(journeyId: string, overrides: Partial<ConsentMessage> = {}): ConsentMessage {
  return consentMessage(journeyId, { applicantId: '1A', decision: 'denied', ...overrides });
}

describe('a consent that a run receives', () => {
  test('is in the ledger when an update is answered', async () => {
    const { handle, journeyId } = await startShared({ applicants: [applicant('1A'), applicant('2A')] });
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const answer = await update(handle, 'recordConsent', grant);
    assert.equal(answer.recorded, true);
    assert.deepEqual(recorded(journeyId), [`${grant.consentId} granted`]);
    const again = await update(handle, 'recordConsent', grant);
    assert.deepEqual([again.duplicate, again.recorded], [true, true]);
    await handle.terminate();
  });

  test('is in the ledger soon after a signal, although the run is terminated', async () => {
    const applicants = [applicant('1A'), applicant('2A')];
    const { handle, journeyId } = await startShared({ applicants, sharesOpenFor: 'P1D' });
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const { evidence: _, ...rest } = grant;
    await handle.signal('consent', { ...rest, decision: 'revoked' });
    await handle.signal('consent', { ...grant, applicantId: '2A' });
    await runUntilRecorded(journeyId, 2);
    await handle.terminate();
  });

  test('is in the ledger although the run’s input is invalid, if it is a denial', async () => {
    const input = journeyInput({ shares: [share], endUserCode: '' });
    const handle = await harness.start(input);
    const told = [refusal(input.journeyId), consentMessage(input.journeyId, { applicantId: '1A' })];
    await harness.stopWorker();
    const other = journeyInput({ shares: [share], endUserCode: '' });
    const held = await harness.start(other);
    for (const message of told) await held.signal('consent', { ...message, journeyId: other.journeyId });
    await harness.startWorker();
    await assert.rejects(held.result());
    await assert.rejects(handle.result());
    assert.deepEqual(recorded(other.journeyId), [`${told[0]?.consentId} denied`]);
  });

  test('is recorded although an operator fails the activity that records it', async () => {
    const { handle, journeyId } = await startShared({ applicants: [applicant('1A'), applicant('2A')] });
    const denial = refusal(journeyId);
    const unlock = lockLedger(harness);
    try {
      await handle.signal('consent', denial);
      const { activityId } = await pendingAttempt(handle, { of: 'recordConsents', started: true });
      await activityCommands(harness, handle, activityId).fail();
    } finally {
      unlock();
    }
    assert.equal((await handle.result()).shares[0]?.state, 'denied');
    assert.deepEqual(recorded(journeyId), [`${denial.consentId} denied`]);
  });

  test('is answered within 5 s without the ledger: ten at once block no withdrawal, and are recorded later', async () => {
    const { handle, journeyId } = await startShared({ applicants: [applicant('1A'), applicant('2A')] });
    const messages = Array.from({ length: 10 }, (_, index) =>
      consentMessage(journeyId, { applicantId: '2A', consentId: `C-${index}` }),
    );
    const unlock = lockLedger(harness);
    let withdrawn: UpdateAnswer;
    let answers: UpdateAnswer[];
    try {
      const waiting = Promise.all(messages.map((message) => update(handle, 'recordConsent', message)));
      [answers, withdrawn] = await Promise.all([
        waiting,
        update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' }),
      ]);
      const again = await update(handle, 'recordConsent', messages[0] as ConsentMessage);
      assert.deepEqual([again.duplicate, again.recorded], [true, false]);
      // The same message with its members in another order.
      const turned = Object.fromEntries(Object.entries(messages[0] as ConsentMessage).reverse()) as ConsentMessage;
      assert.equal((await update(handle, 'recordConsent', turned)).duplicate, true);
    } finally {
      unlock();
    }
    assert.deepEqual(new Set(answers.map(({ recorded }) => recorded)), new Set([false]));
    assert.equal(withdrawn.accepted, true);
    assert.equal((await handle.result()).outcome, 'withdrawn');
    assert.equal(recorded(journeyId).length, 10);
  });

  test('reaches the ledger after the denials and revocations, in order of arrival', async () => {
    const { handle, journeyId } = await startShared({ applicants: [applicant('1A'), applicant('2A')] });
    const unlock = lockLedger(harness);
    try {
      const first = refusal(journeyId, { applicantId: '2A', consentId: 'R-1' });
      assert.equal((await update(handle, 'recordConsent', first)).recorded, false);
      await handle.signal('consent', refusal(journeyId, { applicantId: '2A', consentId: 'R-2' }));
      for (const consentId of ['G-1', 'G-2']) {
        await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A', consentId }));
      }
      await handle.query('status');
    } finally {
      unlock();
    }
    await handle.result();
    const order = recorded(journeyId).map((name) => name.slice(0, 3));
    assert.deepEqual(order, ['R-1', 'R-2', 'G-1', 'G-2']);
  });

  test('permits its share if it came in time, although the wait ends before the ledger has it', async () => {
    const { handle, journeyId } = await startShared({ shares: [{ ...share, awaitConsentFor: 'PT4S' }] });
    await untilStatus(handle, ({ shares }) => shares[0]?.until !== undefined);
    const unlock = lockLedger(harness);
    try {
      const grant = consentMessage(journeyId, { applicantId: '1A' });
      assert.equal((await update(handle, 'recordConsent', grant)).recorded, false);
    } finally {
      unlock();
    }
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });

  describe('after a restore of the ledger, which has fewer entries than the run has seen,', () => {
    test('permits its share', async () => {
      const { handle, journeyId } = await startShared({ applicants: [applicant('1A'), applicant('2A')] });
      const early = consentMessage(journeyId, { applicantId: '2A' });
      assert.equal((await update(handle, 'recordConsent', early)).recorded, true);
      await restoreOlderCopy(async () => {
        assert.equal((await update(handle, 'recordConsent', early)).duplicate, true);
      });
      const last = consentMessage(journeyId, { applicantId: '1A' });
      const { recorded, stands } = await update(handle, 'recordConsent', last);
      assert.deepEqual([recorded, stands?.decision], [true, 'granted']);
      assert.equal((await handle.result()).shares[0]?.state, 'posted');
    });

    test('flags the posted share that it revokes', async () => {
      const { handle, journeyId } = await startShared({ sharesOpenFor: 'P1D' });
      const grant = consentMessage(journeyId, { applicantId: '1A' });
      await update(handle, 'recordConsent', grant);
      await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
      await restoreOlderCopy(async () => {
        assert.equal((await update(handle, 'recordConsent', grant)).duplicate, true);
      });
      await update(handle, 'recordConsent', refusal(journeyId, { consentId: grant.consentId, decision: 'revoked' }));
      await untilStatus(handle, ({ shares }) => shares[0]?.attention === 'revokedAfterPosting');
      await handle.terminate();
    });
  });
});

/** Replaces the ledger by a copy that lacks several consents, and accepts the loss. The run sees the consents before. */
async function restoreOlderCopy(see: () => Promise<void>): Promise<void> {
  const file = harness.config.ledger.url.slice('file:'.length);
  {
    using copied = database();
    copied.exec(`VACUUM INTO '${file}-older'`);
  }
  for (let index = 0; index < 3; index++) await lateRefusal(harness, refusal(`T-${randomUUID().slice(0, 13)}`));
  await see();
  await harness.stopWorker();
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  renameSync(`${file}-older`, file);
  const ledger = await openLedgerOf(harness);
  const acceptance = { by: 'ops@example.com', reason: 'the disk was lost' };
  await ledger.acceptRestore(ledger.identity.ledgerId, acceptance);
  await ledger.close();
  await harness.startWorker();
}
