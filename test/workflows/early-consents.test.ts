/**
 * Consents that arrive before their journey, or name an unknown journey or share. A new run receives the former, the
 * list of unmatched consents shows the latter, and none is lost.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type CreditJourneys, InvalidInputError } from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { compareWithTemporal } from '../../src/operator/compare-with-temporal.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';
import { sharesPosted } from '../support/share-scenarios.ts';

let harness: Harness;
let journeys: CreditJourneys;
let ledger: Ledger;
before(async () => {
  harness = await startHarness();
  ({ journeys, ledger } = await connectWithLedger(harness));
});
after(async () => {
  await journeys?.close();
  await harness?.close();
});

const share = { shareId: 'S1', endUserCode: 'EU999' };

function inputOf(overrides: Partial<LendingJourneyInput> = {}): LendingJourneyInput {
  return journeyInput({ stages: ['PREQUAL'], shares: [share], ...overrides });
}

function tell({ journeyId, ...message }: ConsentMessage) {
  return journeys.get(journeyId).recordConsent(message);
}

async function unmatchedOf(journeyId: string): Promise<string[]> {
  const all = await Array.fromAsync(ledger.unmatchedBetween());
  return all.filter((one) => one.runKey === journeyId).map((one) => `${one.consentId} ${one.unmatched}`);
}

/** In this state the run has received the consents from before its start. */
function isWaiting({ state }: { state: string }): boolean {
  return state === 'waitingForConsent';
}

async function isCompared(journeyId: string): Promise<boolean> {
  const { runs } = await compareWithTemporal(harness.client, ledger, new Date(0).toISOString());
  return runs.some(({ runKey }) => runKey === journeyId);
}

describe('a consent that comes before its journey', { concurrency: 4 }, () => {
  test('is kept, answered as unmatched, and permits the share once the journey is started', async () => {
    const input = inputOf();
    const { journeyId } = input;
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const { decidedAt: since, consentId } = grant;
    assert.deepEqual(await tell(grant), {
      ...{ accepted: true, late: true, recorded: true },
      ...{ duplicate: false, postedSharesFlagged: 0, unmatched: 'journey' },
      stands: { decision: 'granted', since, consentId, changed: true },
    });
    assert.deepEqual(await unmatchedOf(journeyId), [`${grant.consentId} journey`]);
    const handle = await harness.start(input);
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
    assert.deepEqual(await unmatchedOf(journeyId), []);
  });

  test('ends the share if it is a denial, also in a journey that is started again', async () => {
    const input = inputOf();
    await tell(consentMessage(input.journeyId, { applicantId: '1A', decision: 'denied' }));
    const first = await harness.start({ ...input, sharesOpenFor: 'P1D' });
    await untilStatus(first, ({ shares }) => shares[0]?.state === 'denied');
    await first.terminate();
    const second = await harness.start(input);
    assert.equal((await second.result()).shares[0]?.state, 'denied');
    assert.equal(await sharesPosted(harness, second), 0);
  });

  test('does not count for a second start, whose applicants may be others, after a first start received it', async () => {
    const input = inputOf({ applicants: [applicant('1A'), applicant('2A')] });
    const { journeyId } = input;
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    await tell(grant);
    const first = await harness.start(input);
    await untilStatus(first, ({ shares }) => shares[0]?.waitingFor.join() === '2A');
    await first.terminate();
    const second = await harness.start(input);
    const { shares } = await untilStatus(second, isWaiting);
    assert.deepEqual(shares[0]?.waitingFor, ['1A', '2A']);
    await second.terminate();
  });

  test('permits nothing and is shown if it names an unknown applicant or another secondary user', async () => {
    const input = inputOf();
    const { journeyId } = input;
    const wrong = [
      consentMessage(journeyId, { applicantId: '9A' }),
      consentMessage(journeyId, { applicantId: '1A', secondaryUser: { endUserCode: 'EU1' } }),
    ];
    for (const message of wrong) await tell(message);
    const handle = await harness.start(input);
    const { refusedMessages, shares } = await untilStatus(handle, isWaiting);
    assert.deepEqual(shares[0]?.waitingFor, ['1A']);
    assert.deepEqual(
      refusedMessages.map(({ consentId, reason }) => [consentId, reason.split(':')[0]]),
      wrong.slice(1).map(({ consentId }) => [consentId, 'the grant is not for this share and its secondary user']),
    );
    assert.deepEqual(await unmatchedOf(journeyId), [`${wrong[0]?.consentId} applicant`]);
    await handle.terminate();
  });

  test('reaches a run that is started while the consent is being recorded', async () => {
    const input = inputOf();
    const handle = await harness.start(input);
    await untilStatus(handle, isWaiting);
    // The caller found no run, and a run was started before the ledger had the consent.
    const consent = consentMessage(input.journeyId, { applicantId: '1A' });
    await harness.client.workflow.execute('recordLateConsent', {
      workflowId: `late-consent-${randomUUID()}`,
      taskQueue: harness.config.taskQueue,
      args: [{ consent }],
    });
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });
});

describe('a consent that matches nothing', { concurrency: 4 }, () => {
  test('says after the journey’s end whether share or applicant is unknown, and is listed until acknowledged', async () => {
    const input = inputOf();
    const { journeyId } = input;
    const handle = await harness.start(input);
    await tell(consentMessage(journeyId, { applicantId: '1A' }));
    await handle.result();
    const denied = { decision: 'denied' as const };
    const misspelt = await tell(consentMessage(journeyId, { applicantId: '1A', shareId: 'S-TYPO', ...denied }));
    assert.equal(misspelt.late && misspelt.recorded && misspelt.unmatched, 'share');
    const stranger = await tell(consentMessage(journeyId, { applicantId: '7A', ...denied }));
    assert.equal(stranger.late && stranger.recorded && stranger.unmatched, 'applicant');
    const right = await tell(consentMessage(journeyId, { applicantId: '1A', ...denied }));
    assert.equal(right.late && right.recorded && right.unmatched, undefined);
    assert.equal((await unmatchedOf(journeyId)).length, 2);
    const { ledgerId } = ledger.identity;
    assert.equal(await ledger.consents.markSeen(ledgerId, { runKey: journeyId, by: 'ops', reason: 'misspelt' }), 2);
    assert.deepEqual(await unmatchedOf(journeyId), []);
  });

  test('is compared with Temporal until a person has seen it', async () => {
    const { journeyId } = inputOf();
    await tell(consentMessage(journeyId, { applicantId: '1A' }));
    assert.ok(await isCompared(journeyId), 'its run may be lost');
    await ledger.consents.markSeen(ledger.identity.ledgerId, { runKey: journeyId, by: 'ops', reason: 'misspelt' });
    assert.ok(!(await isCompared(journeyId)));
  });

  test('to a share by itself matches no share, and is compared with Temporal until a person has seen it', async () => {
    const shareId = `S-${randomUUID()}`;
    const runKey = `share:${shareId}`;
    const given = consentMessage(runKey, { applicantId: '1A', shareId, consentId: 'C-1' });
    const answer = await journeys.run(`share:${shareId}`).send('recordConsent', given);
    assert.equal((answer as { unmatched?: string }).unmatched, 'share');
    assert.deepEqual(await unmatchedOf(runKey), ['C-1 share']);
    assert.ok(await isCompared(runKey), 'its run may be lost');
    await ledger.consents.markSeen(ledger.identity.ledgerId, { runKey, by: 'ops', reason: 'misspelt' });
    assert.ok(!(await isCompared(runKey)));
  });

  test('that a lost run has received is compared with Temporal before it is listed', async () => {
    const { journeyId } = inputOf();
    const consent = { ...consentMessage(journeyId, { applicantId: '1A' }), receivedAt: new Date().toISOString() };
    const received = { firstRunId: randomUUID(), shareIds: [], faultyGrants: [] };
    await ledger.recordConsents(ledger.identity.ledgerId, [consent], received);
    assert.deepEqual(await unmatchedOf(journeyId), []);
    assert.ok(await isCompared(journeyId));
  });

  test('is answered as unmatched by a running journey, and matches once its share is requested', async () => {
    const { journeyId, ...input } = inputOf({ shares: [], sharesOpenFor: 'P1D' });
    const handle = await harness.start({ journeyId, ...input });
    await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const early = await update(handle, 'recordConsent', grant);
    assert.deepEqual([early.recorded, early.unmatched], [true, 'share']);
    await update(handle, 'requestShare', { journeyId, share });
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    const again = await update(handle, 'recordConsent', grant);
    assert.deepEqual([again.duplicate, again.unmatched], [true, undefined]);
    await handle.terminate();
  });

  test('is refused as a late consent if it is invalid or dated in the future, and the caller learns why', async () => {
    const { journeyId } = inputOf();
    const wrong = { ...consentMessage(journeyId, { applicantId: '1A' }), decision: 'revoke' } as unknown;
    await assert.rejects(tell(wrong as ConsentMessage), InvalidInputError);
    const decidedAt = new Date(Date.now() + 365 * 86_400_000).toISOString();
    await assert.rejects(tell(consentMessage(journeyId, { applicantId: '1A', decidedAt })), {
      refusalCause: 'inFuture',
    });
    assert.deepEqual(await unmatchedOf(journeyId), []);
  });
});
