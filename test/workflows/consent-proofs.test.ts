/** Consents that need a proof, sent as real signals and updates, and counted at the gateway. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { proved } from '../support/consent-proofs.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { sharesPosted } from '../support/share-scenarios.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ proving: true });
});
after(() => harness?.close());

const share = { shareId: 'S1', endUserCode: 'EU999' };

async function startShared(overrides: Partial<LendingJourneyInput> = {}) {
  const input = journeyInput({ profile: 'proving', stages: ['PREQUAL'], shares: [share], ...overrides });
  const handle = await harness.start(input);
  return { handle, journeyId: input.journeyId, grant: consentMessage(input.journeyId, { applicantId: '1A' }) };
}

function revocationOf({ evidence: _, ...grant }: ConsentMessage): ConsentMessage {
  return { ...grant, decision: 'revoked' };
}

/** Reads the stored proofs of a journey from the ledger's table. */
function proofsIn(journeyId: string): unknown[] {
  const database = new DatabaseSync(harness.config.ledger.url.slice('file:'.length), { readOnly: true });
  try {
    const rows = database.prepare('SELECT proof FROM consents WHERE journey_id = ? ORDER BY decision').all(journeyId);
    return rows.map(({ proof }) => proof);
  } finally {
    database.close();
  }
}

const past = Math.floor(Date.now() / 1000) - 3_600;

describe('consent in a namespace where a grant needs a proof', { concurrency: 6 }, () => {
  test('permits the posting with a valid proof, which the ledger keeps', async () => {
    const { handle, journeyId, grant } = await startShared();
    const message = await proved(grant);
    assert.equal((await update(handle, 'recordConsent', message)).duplicate, false);
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
    assert.equal(await sharesPosted(harness, handle), 1);
    assert.deepEqual(proofsIn(journeyId), [message.proof]);
  });

  test('is refused without a proof also in an update with the start, before the run knows that it needs one', async () => {
    const input = journeyInput({ profile: 'proving', stages: ['PREQUAL'], shares: [share] });
    const { journeyId } = input;
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const handle = await harness.client.workflow.signalWithStart('lendingJourney', {
      workflowId: `journey-${journeyId}`,
      taskQueue: harness.config.taskQueue,
      args: [input],
      signal: 'consent',
      signalArgs: [grant],
    });
    const { refusedMessages, shares } = await untilStatus(
      handle as unknown as JourneyHandle,
      ({ refusedMessagesTotal, state }) => refusedMessagesTotal === 1 && state === 'waitingForConsent',
    );
    assert.equal(refusedMessages[0]?.reason, 'the proof is refused: missing');
    assert.deepEqual(shares[0]?.waitingFor, ['1A']);
    assert.deepEqual(proofsIn(journeyId), []);
    await handle.terminate();
  });

  test('is refused without a proof and with an invalid one, and the same grant counts with a valid proof', async () => {
    const { handle, journeyId, grant } = await startShared();
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    const record = (message: ConsentMessage) => update(handle, 'recordConsent', message);
    const elsewhere = { ...grant, journeyId: 'J-OTHER' };
    const cases: [string, ConsentMessage][] = [
      ['missing', grant],
      ['differs', await proved(grant, { consent: elsewhere })],
      ['differs', { ...(await proved(grant)), decidedAt: '2026-01-01T00:00:00Z' }],
      ['expired', await proved(grant, { expiresAt: past })],
      ['malformed', { ...grant, proof: 'a.b.c' }],
    ];
    for (const [reason, message] of cases) {
      assert.equal(await refusalOf(record(message)), `the proof is refused: ${reason}`);
    }
    assert.match(await refusalOf(record({ ...grant, proof: 'no proof' })), /^\/proof must be a compact JWS/);
    const status = await statusOf(handle);
    assert.deepEqual(status.shares[0]?.waitingFor, ['1A']);
    const good = await proved(grant);
    await record(good);
    await handle.result();
    assert.equal(await sharesPosted(harness, handle), 1);
    assert.deepEqual(proofsIn(journeyId), [good.proof]);
  });

  test('counts once if signals with an invalid and a valid proof arrive together and twice', async () => {
    const { handle, grant } = await startShared({ sharesOpenFor: 'P1D' });
    const [wrong, right] = [await proved(grant, { expiresAt: past }), await proved(grant)];
    await Promise.all([wrong, right, wrong, right].map((message) => handle.signal('consent', message)));
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    const { refusedMessages } = await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal > 0);
    assert.deepEqual(new Set(refusedMessages.map(({ reason }) => reason)), new Set(['the proof is refused: expired']));
    assert.equal(refusedMessages[0]?.consentId, grant.consentId);
    await handle.terminate();
    assert.equal(await sharesPosted(harness, handle), 1);
  });

  test('counts as a revocation without a proof, and with an invalid one, which is not kept', async () => {
    for (const prove of [
      async (message: ConsentMessage) => message,
      (message: ConsentMessage) => proved(message, { expiresAt: past }),
    ]) {
      const { handle, journeyId, grant } = await startShared({ applicants: [applicant('1A'), applicant('2A')] });
      const good = await proved(grant);
      await update(handle, 'recordConsent', good);
      await update(handle, 'recordConsent', await prove(revocationOf(grant)));
      assert.equal((await handle.result()).shares[0]?.state, 'revoked');
      assert.equal(await sharesPosted(harness, handle), 0);
      assert.deepEqual(proofsIn(journeyId), [good.proof, null]);
    }
  });

  test('needs a proof also if it is a grant for a journey that has ended', async () => {
    const { handle, journeyId, grant } = await startShared({ shares: [] });
    await handle.result();
    const late = (message: ConsentMessage, id: string) =>
      harness.client.workflow.execute('recordLateConsent', {
        workflowId: `late-consent-${journeyId}-${id}`,
        taskQueue: harness.config.taskQueue,
        args: [{ consent: message }],
      });
    assert.deepEqual(await late(grant, '1'), {
      cause: 'unproven',
      problems: [{ path: '/proof', rule: 'is refused: missing' }],
    });
    const answers = [await late(await proved(grant), '2'), await late(revocationOf(grant), '3')];
    assert.deepEqual(
      answers.map(({ duplicate, unmatched, stands }) => [duplicate, unmatched, stands.decision]),
      [
        [false, 'share', 'granted'],
        [false, 'share', 'revoked'],
      ],
    );
  });
});

describe('a namespace that needs no proofs', () => {
  test('accepts a grant without a proof, and refuses one with an invalid proof', async () => {
    const { handle, grant } = await startShared({ profile: 'default' });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    const bad = await proved(grant, { expiresAt: past });
    assert.equal(await refusalOf(update(handle, 'recordConsent', bad)), 'the proof is refused: expired');
    await update(handle, 'recordConsent', grant);
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });
});

test('a run ends only after every proof was checked, however long the keys are unreadable', async () => {
  const file = harness.config.consentKeysFile ?? '';
  const keys = await readFile(file);
  const { handle, journeyId, grant } = await startShared();
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await writeFile(file, '{');
  const good = await proved(grant);
  await handle.signal('consent', good);
  await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
  assert.equal((await handle.describe()).status.name, 'RUNNING');
  await writeFile(file, keys);
  assert.equal((await handle.result()).outcome, 'withdrawn');
  assert.deepEqual(proofsIn(journeyId), [good.proof]);
});

test('a grant whose keys are unreadable goes to the ledger again after a wait, not with each further message', async () => {
  const file = harness.config.consentKeysFile ?? '';
  const keys = await readFile(file);
  const { handle, journeyId, grant } = await startShared();
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await writeFile(file, '{');
  const sent = ['C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'C7', 'C8'];
  try {
    for (const [index, consentId] of sent.entries()) {
      await handle.signal('consent', await proved({ ...grant, consentId }));
      while ((await countRecorded(handle)).activities <= index) await setTimeout(20);
    }
    // Each message would bring all earlier ones along: 36. One wait of 2 s, and one of 4 s, may be over meanwhile.
    const { consents } = await countRecorded(handle);
    assert.ok(consents >= 8 && consents < 24, `${consents}`);
  } finally {
    await writeFile(file, keys);
  }
  assert.equal((await handle.result()).shares[0]?.state, 'posted');
  assert.equal(proofsIn(journeyId).length, 8);
});

/** Counts the activities that record consents, and the consents that they were given, by their summaries. */
async function countRecorded(handle: JourneyHandle): Promise<{ activities: number; consents: number }> {
  const { events } = await handle.fetchHistory();
  const counts = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled, userMetadata }) => {
    if (scheduled?.activityType?.name !== 'recordConsents') return [];
    const summary = Buffer.from(userMetadata?.summary?.data ?? '').toString();
    return [Number(/recording (\d+) consents/.exec(summary)?.[1] ?? 1)];
  });
  return { activities: counts.length, consents: counts.reduce((sum, count) => sum + count, 0) };
}
