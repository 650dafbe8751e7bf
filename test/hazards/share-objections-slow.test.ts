/** The ledger refuses the claim of a share, also if its attempt was queued long before. End to end. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { askRun } from '../../src/client/connection/run-messages.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { ShareReportInput } from '../../src/messages/inputs/share-report.ts';
import type { RefusedMessage } from '../../src/messages/journey/shapes.ts';
import type { ShareInput } from '../../src/messages/request-share.ts';
import type { ShareReportStatus } from '../../src/messages/share/shapes.ts';
import {
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { lateRefusal, newShareId, shareInput, startShare, untilShareIs } from '../support/share-scenarios.ts';
import { ON_GATEWAY_QUEUE, SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { inquiriesOf, pendingAttempt, until, withLedger, withoutGatewayWorker } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: { ...SHORT_TIMEOUTS, ...ON_GATEWAY_QUEUE } });
});
after(() => harness?.close());

const authorization = { by: 'records', reason: 'only a test' };

/** Ways to make a report one that must no longer be shared. */
const GONE: Record<string, (runKey: string) => Promise<unknown>> = {
  'under a legal hold': (runKey) =>
    withLedger(harness, (ledger) => ledger.retention.setLegalHold(runKey, { ...authorization, matter: '2026-17' })),
  'disposed of': (runKey) =>
    withLedger(harness, async ({ retention }) => {
      assert.equal((await retention.begin(runKey, authorization)).kind, 'done');
      await retention.dispose(runKey, authorization, 0);
    }),
};

/** A journey of one stage that waits for the consent to its one share. */
async function waitingJourney(terms: Partial<ShareInput> = {}) {
  const share = { shareId: newShareId(), endUserCode: 'EU999', ...terms };
  const input: LendingJourneyInput = journeyInput({ stages: ['PREQUAL'], shares: [share] });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  return { handle, shareId: share.shareId, journeyId: input.journeyId };
}

/** A share by itself, of a pull's report, that waits for consent. */
async function findWaitingShare(terms: Partial<ShareReportInput> = {}) {
  const pull = reportPull();
  await (await startPull(harness, pull)).result();
  const input = shareInput({ pullId: pull.pullId, productCode: 'CR' }, terms);
  const handle = await startShare(harness, input);
  await untilShareIs(handle, 'waitingForConsent');
  return { handle, shareId: input.shareId, runKey: `pull:${pull.pullId}`, owner: `share:${input.shareId}` };
}

/** @param owner the journey, or `share:<shareId>` */
function grant(owner: string, shareId: string, overrides: Partial<ConsentMessage> = {}): ConsentMessage {
  return consentMessage(owner, { shareId, applicantId: '1A', decidedAt: new Date().toISOString(), ...overrides });
}

const outcomeOf = async (handle: JourneyHandle) => ((await handle.result()) as unknown as { outcome: string }).outcome;

/** Nothing of the share was claimed, and nothing was posted. */
async function assertNothingSent(runKey: string): Promise<void> {
  const shares = (await inquiriesOf(harness, runKey)).filter(({ productCode }) => productCode === 'SECONDUSE');
  assert.deepEqual(
    shares.flatMap(({ attempts }) => attempts),
    [],
  );
}

describe('a journey’s share whose report', () => {
  test('is put under a legal hold while it waits ends as reportGone', async () => {
    const { handle, shareId, journeyId } = await waitingJourney();
    await GONE['under a legal hold']?.(journeyId);
    await update(handle, 'recordConsent', grant(journeyId, shareId));
    assert.equal((await handle.result()).shares[0]?.state, 'reportGone');
    await assertNothingSent(journeyId);
  });

  // The disposal of a journey abandons its inquiries, the share too.
  for (const [what, end] of [
    ['under a legal hold', 'reportGone'],
    ['disposed of', 'abandoned'],
  ] as const) {
    test(`is ${what} while the attempt is queued ends as ${end}`, async () => {
      const { handle, shareId, journeyId } = await waitingJourney();
      await withoutGatewayWorker(harness, async () => {
        await update(handle, 'recordConsent', grant(journeyId, shareId));
        await pendingAttempt(handle, { of: 'submitInquiry' });
        await GONE[what]?.(journeyId);
      });
      assert.equal((await handle.result()).shares[0]?.state, end);
      await assertNothingSent(journeyId);
    });
  }
});

describe('a share by itself whose report', () => {
  for (const [what, make] of Object.entries(GONE)) {
    test(`is ${what} while the attempt is queued ends as reportGone`, async () => {
      const { handle, shareId, runKey, owner } = await findWaitingShare();
      await withoutGatewayWorker(harness, async () => {
        await update(handle, 'recordConsent', grant(owner, shareId));
        await pendingAttempt(handle, { of: 'submitInquiry' });
        await make(runKey);
      });
      assert.equal(await outcomeOf(handle), 'reportGone');
      await assertNothingSent(owner);
    });
  }
});

/** How long a grant counts; it is queued for longer than that. */
const VALID_FOR_MS = 3_000;
const consentValidFor = `PT${VALID_FOR_MS / 1_000}S`;

async function queueUntilTooOld(handle: JourneyHandle, consent: ConsentMessage): Promise<void> {
  await withoutGatewayWorker(harness, async () => {
    // The grant is dated here, because the worker may have taken long to stop.
    const given = { ...consent, decidedAt: new Date().toISOString() };
    await update(handle, 'recordConsent', given);
    await pendingAttempt(handle, { of: 'submitInquiry' });
    await until(() => Date.now() > Date.parse(given.decidedAt) + VALID_FOR_MS, 'the grant is too old');
  });
}

describe('a grant that becomes too old while the attempt is queued', () => {
  test('makes a journey’s share wait for its applicant again', async () => {
    const { handle, shareId, journeyId } = await waitingJourney({ consentValidFor });
    await queueUntilTooOld(handle, grant(journeyId, shareId));
    const { shares } = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    assert.deepEqual(shares[0]?.waitingFor, ['1A']);
    await assertNothingSent(journeyId);
    await update(handle, 'recordConsent', grant(journeyId, shareId));
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });
});

const SPENT = /another share was posted under this grant: .* under a new consentId/;

test('of two shares with the same id and the same grant one is posted, and the other waits for its applicant', async () => {
  const { handle, shareId, journeyId } = await waitingJourney();
  const granted = grant(journeyId, shareId);
  const { byItself } = await withoutGatewayWorker(harness, async () => {
    await update(handle, 'recordConsent', granted);
    await pendingAttempt(handle, { of: 'submitInquiry' });
    // The journey's grant counts for a share by itself under the same id.
    const byItself = await startShare(harness, shareInput({ journeyId, productCode: 'PREQUAL' }, { shareId }));
    await pendingAttempt(byItself, { of: 'submitInquiry' });
    return { byItself };
  });
  let inJourney = '';
  let alone: ShareReportStatus | undefined;
  const isPosted = () => [inJourney, alone?.state].filter((state) => state === 'posted').length === 1;
  let refused: readonly RefusedMessage[] = [];
  await until(async () => {
    const journey = await untilStatus(handle, () => true);
    inJourney = journey.shares[0]?.state ?? '';
    alone = await askRun<ShareReportStatus>(byItself, 'status');
    refused = [...journey.refusedMessages, ...alone.refusedMessages];
    return isPosted() && refused.length > 0;
  }, 'one is posted, and the other has refused the grant');
  assert.match(refused.at(-1)?.reason ?? '', SPENT);
  if (inJourney === 'posted') {
    assert.equal(alone?.state, 'waitingForConsent');
    assert.deepEqual(alone?.consentsMissing, ['1A']);
    await until(async () => SPENT.test(await lateRefusal(harness, granted)), 'the ledger says that it is spent');
    await update(byItself, 'recordConsent', grant(`share:${shareId}`, shareId));
    assert.equal(await outcomeOf(byItself), 'posted');
  } else {
    const { shares } = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    assert.deepEqual(shares[0]?.waitingFor, ['1A']);
    assert.match(await refusalOf(update(handle, 'recordConsent', granted)), SPENT);
    await update(handle, 'recordConsent', grant(journeyId, shareId));
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  }
});
