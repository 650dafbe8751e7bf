/** A running journey finds another ledger than it began with: an empty one, a foreign one, or an older copy. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { consentToShare, shareInput, startShare, untilShareIs } from '../support/share-scenarios.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { runsSlowParts } from '../support/slow-parts.ts';
import { type LedgerStore, postgresStore, sqliteStore } from './ledger-store.ts';
import { decisionAbout, inquiriesOf, withLedger } from './operator-hands.ts';

let directory: string;
let postgres: PostgresServer | undefined;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-ledgers-'));
});
after(async () => {
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

const ENGINES: Record<string, () => Promise<LedgerStore>> = {
  SQLite: async () => sqliteStore(directory),
  PostgreSQL: async () => {
    postgres = await startPostgres();
    return postgresStore(postgres, 'hazards');
  },
};

const share = { shareId: 'S1', endUserCode: 'EU999' };

for (const [engine, openStore] of Object.entries(ENGINES)) {
  if (engine === 'PostgreSQL' && !runsSlowParts) continue;
  describe(`on ${engine}, a journey`, () => {
    let store: LedgerStore;
    let harness: Harness;
    before(async () => {
      store = await openStore();
      harness = await startHarness({ env: { ...SHORT_TIMEOUTS, BACKOFF_MAX_MS: '1000', LEDGER_URL: store.url } });
    });
    after(async () => {
      await harness?.close();
      await store?.close();
    });

    async function whileStopped(work: () => Promise<void>): Promise<void> {
      await harness.stopWorker();
      await work();
      await harness.startWorker();
    }

    async function received(handles: readonly JourneyHandle[]): Promise<number[]> {
      return Promise.all(handles.map(async (handle) => (await harness.received(handle)).length));
    }

    /** Journeys that wait: at a gate, for a decision about a lost answer, and for a consent. */
    async function waitingJourneys() {
      const atGate = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
      const lost = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4001'))] });
      const sharing = journeyInput({ stages: ['PREQUAL'], shares: [share] });
      const handles = await Promise.all([atGate, lost, sharing].map((input) => harness.start(input)));
      const [gate, hold, consent] = handles as [JourneyHandle, JourneyHandle, JourneyHandle];
      await untilStatus(gate, ({ state }) => state === 'waitingAtGate');
      await untilStatus(hold, ({ state }) => state === 'held');
      await untilStatus(consent, ({ state }) => state === 'waitingForConsent');
      return { handles, gate, hold, consent };
    }

    /** Tries to continue each of them, which none may do on this ledger. */
    async function goOnInVain({ handles, gate, hold, consent }: Awaited<ReturnType<typeof waitingJourneys>>) {
      const before = await received(handles);
      const journeyIdOf = ({ workflowId }: JourneyHandle) => workflowId.replace('journey-', '');
      await update(gate, 'advance', { journeyId: journeyIdOf(gate), to: 'PREAPP' });
      await update(hold, 'resolveInquiry', decisionAbout(await untilStatus(hold, ({ state }) => state === 'held')));
      const grant = consentMessage(journeyIdOf(consent), { applicantId: '1A' });
      assert.equal((await update(consent, 'recordConsent', grant)).recorded, false);
      const { state } = await untilStatus(consent, ({ refusedMessagesTotal }) => refusedMessagesTotal > 0);
      assert.equal(state, 'waitingForConsent');
      for (const handle of [gate, hold]) {
        const { holds } = await untilStatus(handle, ({ holds: [first] }) => first?.failureType === 'LedgerChanged');
        assert.deepEqual(holds[0]?.allowedActions, ['resend', 'abandon']);
      }
      assert.deepEqual(await received(handles), before);
    }

    /** On the right ledger again, a `resend` means to continue. A lost answer needs its own decision there. */
    async function goOn({ gate, hold, consent }: Awaited<ReturnType<typeof waitingJourneys>>) {
      for (const handle of [gate, hold]) {
        const status = await untilStatus(handle, ({ state }) => state === 'held');
        await update(handle, 'resolveInquiry', decisionAbout(status, { decisionId: 'D8', providerSaid: 'unknown' }));
      }
      assert.equal((await gate.result()).outcome, 'completed');
      assert.equal((await consent.result()).shares[0]?.state, 'posted');
      const isLost = ({ holds: [first] }: { holds: { failureType: string }[] }) =>
        first?.failureType === 'OutcomeUnknown';
      const status = await untilStatus(hold, isLost);
      assert.equal((await harness.received(hold)).length, 1);
      await update(hold, 'resolveInquiry', decisionAbout(status, { decisionId: 'D9' }));
      assert.equal((await hold.result()).stages[0]?.state, 'record');
      assert.deepEqual(await received([gate, hold, consent]), [2, 2, 2]);
    }

    test('that finds an empty ledger is held, and answers an abandon with recorded: false', async () => {
      const waiting = await waitingJourneys();
      await whileStopped(async () => {
        await store.backUp('own');
        await store.empty();
      });
      await goOnInVain(waiting);
      const status = await untilStatus(waiting.hold, ({ state }) => state === 'held');
      const giveUp = decisionAbout(status, { decisionId: 'D7', action: 'abandon', providerSaid: 'unknown' });
      const answer = await update(waiting.hold, 'resolveInquiry', giveUp);
      assert.equal((answer as { recorded?: boolean }).recorded, false);
      await whileStopped(() => store.restore('own'));
    });

    test('that finds a foreign ledger is held, and writes nothing to it', async () => {
      const waiting = await waitingJourneys();
      await whileStopped(async () => {
        await store.backUp('own');
        await store.empty();
      });
      const others = journeyInput({ stages: ['PREQUAL'] });
      await (await harness.start(others)).result();
      await goOnInVain(waiting);
      for (const { workflowId } of waiting.handles) {
        assert.deepEqual(await inquiriesOf(harness, workflowId.replace('journey-', '')), []);
      }
      assert.equal((await inquiriesOf(harness, others.journeyId)).length, 1);
      await whileStopped(() => store.restore('own'));
      await goOn(waiting);
    });

    /** Acts as an operator who has asked the provider. */
    function acceptRestore(): Promise<void> {
      const acceptance = { by: 'ops', reason: 'the disk was lost' };
      return withLedger(harness, async (ledger) => {
        await ledger.acceptRestore(ledger.identity.ledgerId, acceptance);
      });
    }

    test('that finds an older copy of its ledger waits for an operator, and continues on the right ledger', async () => {
      await whileStopped(() => store.backUp('older'));
      const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4001'))] });
      const handle = await harness.start(input);
      const lost = await untilStatus(handle, ({ state }) => state === 'held');
      await whileStopped(async () => {
        await store.backUp('own');
        await store.restore('older');
      });
      assert.deepEqual(await inquiriesOf(harness, input.journeyId), []);
      await update(handle, 'resolveInquiry', decisionAbout(lost));
      const isWaiting = ({ waitingFor = '' }: { waitingFor?: string }) => waitingFor.includes('an older copy');
      await untilStatus(handle, isWaiting);
      // Once the ledger knows that it is an older copy, no run sends, not even one that began on this copy.
      const other = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
      await untilStatus(other, isWaiting);
      assert.deepEqual(await received([handle, other]), [1, 0]);
      await acceptRestore();
      assert.equal((await other.result()).outcome, 'completed');
      const changed = await untilStatus(handle, ({ holds: [first] }) => first?.failureType === 'LedgerChanged');
      assert.deepEqual(await received([handle, other]), [1, 1]);

      await whileStopped(() => store.restore('own'));
      // This ledger lacks the attempts that were sent on the copy.
      await acceptRestore();
      await update(handle, 'resolveInquiry', decisionAbout(changed, { decisionId: 'D8' }));
      // The first decision was written into the ledger that is gone.
      const again = await untilStatus(handle, ({ holds: [first] }) => first?.failureType === 'OutcomeUnknown');
      assert.equal((await harness.received(handle)).length, 1);
      await update(handle, 'resolveInquiry', decisionAbout(again, { decisionId: 'D9' }));
      assert.equal((await handle.result()).stages[0]?.state, 'record');
      assert.equal((await harness.received(handle)).length, 2);
    });

    test('whose second attempt follows one that an accepted copy lacks is sent by the resend of its hold', async () => {
      await whileStopped(() => store.backUp('older'));
      const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4001'))] });
      const handle = await harness.start(input);
      const lost = await untilStatus(handle, ({ state }) => state === 'held');
      await whileStopped(() => store.restore('older'));
      await acceptRestore();
      await update(handle, 'resolveInquiry', decisionAbout(lost));
      const changed = await untilStatus(handle, ({ holds: [first] }) => first?.failureType === 'LedgerChanged');
      assert.equal((await harness.received(handle)).length, 1);
      await update(handle, 'resolveInquiry', decisionAbout(changed, { decisionId: 'D2', providerSaid: 'notAsked' }));
      assert.equal((await handle.result()).stages[0]?.state, 'record');
      assert.equal((await harness.received(handle)).length, 2);
    });

    test('whose report an older copy lacks is shared once its own ledger is back, and no consent is lost on the copy', async () => {
      await whileStopped(() => store.backUp('older'));
      const { journeyId, ...input } = journeyInput({ stages: ['PREQUAL'] });
      await (await harness.start({ journeyId, ...input })).result();
      const sharing = shareInput({ journeyId, productCode: 'PREQUAL' });
      const handle = await startShare(harness, sharing);
      await untilShareIs(handle, 'waitingForConsent');
      await whileStopped(async () => {
        await store.backUp('own');
        await store.restore('older');
      });
      const grant = consentToShare(sharing.shareId, 'granted');
      assert.equal((await update(handle, 'recordConsent', grant)).recorded, false);
      await whileStopped(() => store.restore('own'));
      assert.equal(((await handle.result()) as { outcome: string }).outcome, 'posted');
      assert.equal(
        (await withLedger(harness, (ledger) => Array.fromAsync(ledger.consentsBetween()))).filter(
          ({ consentId }) => consentId === grant.consentId,
        ).length,
        1,
      );
    });

    test('that is given up on a copy which is known as older is given up in its own ledger too', async () => {
      await whileStopped(() => store.backUp('older'));
      const handle = await harness.start(
        journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] }),
      );
      const held = await untilStatus(handle, ({ state }) => state === 'held');
      const newest = await withLedger(harness, async (ledger) => (await ledger.restoreState()).newest);
      await whileStopped(async () => {
        await store.backUp('own');
        await store.restore('older');
      });
      await withLedger(harness, (ledger) => ledger.watch(ledger.identity.ledgerId, newest));
      const giveUp = decisionAbout(held, { action: 'abandon', providerSaid: 'unknown' });
      assert.equal((await update(handle, 'resolveInquiry', giveUp)).recorded, false);
      await whileStopped(() => store.restore('own'));
      await handle.result();
      const [inquiry] = await inquiriesOf(harness, held.journeyId);
      assert.deepEqual(
        inquiry?.decisions.map(({ action }) => action),
        ['abandon'],
      );
    });

    test('that is withdrawn on a copy which is known as older is withdrawn in its own ledger too', async () => {
      await whileStopped(() => store.backUp('older'));
      const { journeyId, ...input } = journeyInput();
      const handle = await harness.start({ journeyId, ...input });
      await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
      const newest = await withLedger(harness, async (ledger) => (await ledger.restoreState()).newest);
      await whileStopped(async () => {
        await store.backUp('own');
        await store.restore('older');
      });
      await withLedger(harness, (ledger) => ledger.watch(ledger.identity.ledgerId, newest));
      const withdrawal = { journeyId, by: 'ops', reason: 'test' };
      assert.equal((await update(handle, 'withdraw', withdrawal)).recorded, false);
      await whileStopped(() => store.restore('own'));
      assert.equal(((await handle.result()) as { outcome: string }).outcome, 'withdrawn');
      const decisions = await withLedger(harness, (ledger) => Array.fromAsync(ledger.decisionsBetween()));
      assert.deepEqual(
        decisions.filter(({ runKey }) => runKey === journeyId).map(({ action }) => action),
        ['withdraw'],
      );
    });

    test('that finds an empty ledger refuses to accept an answer, and stays on hold until its own ledger is back', async () => {
      const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] });
      const handle = await harness.start(input);
      const lost = await untilStatus(handle, ({ state }) => state === 'held');
      await whileStopped(async () => {
        await store.backUp('own');
        await store.empty();
      });
      const accept = { action: 'accept', outcome: 'noRecord', providerSaid: 'posted' };
      const refusal = await refusalOf(update(handle, 'resolveInquiry', decisionAbout(lost, accept)));
      assert.match(refusal, /the ledger is not the one that the run has used/);
      const { holds } = await statusOf(handle);
      assert.equal(holds[0]?.failureType, 'OutcomeUnknown');
      assert.match(holds[0].refusedDecision?.reason ?? '', /the ledger is not the one that the run has used/);
      await whileStopped(() => store.restore('own'));
      await update(handle, 'resolveInquiry', decisionAbout(lost, accept));
      assert.equal((await handle.result()).outcome, 'stopped');
      assert.equal((await harness.received(handle)).length, 1);
    });
  });
}

test('a share whose wait for consent ends while another ledger answers expires', async (t) => {
  const store = sqliteStore(await mkdtemp(join(directory, 'expired-')));
  const harness = await startHarness({ env: { ...SHORT_TIMEOUTS, BACKOFF_MAX_MS: '1000', LEDGER_URL: store.url } });
  t.after(() => harness.close());
  const input = journeyInput({ stages: ['PREQUAL'], shares: [{ ...share, awaitConsentFor: 'PT5S' }] });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await harness.stopWorker();
  await store.empty();
  await harness.startWorker();
  await handle.signal('lookUpConsents');
  assert.equal((await handle.result()).shares[0]?.state, 'expired');
});
