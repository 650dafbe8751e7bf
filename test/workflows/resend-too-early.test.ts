/** A resend of an unknown outcome is refused while the first request may still arrive, and says until when. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../src/client/connection/errors.ts';
import type { CreditJourneys, HoldStatus, JourneyHandle } from '../../src/client.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, type Harness, journeyInput, newSsn, startHarness } from '../support/journey-harness.ts';

const RESEND_AFTER_MS = 8_000;

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness({ env: { RESEND_AFTER: `PT${RESEND_AFTER_MS / 1_000}S` } });
  journeys = await connectTo(harness);
});
after(async () => {
  await journeys?.close();
  await harness?.close();
});

async function untilHeld(journey: JourneyHandle): Promise<HoldStatus> {
  for await (const { holds } of journey.watch()) if (holds[0]) return holds[0];
  throw new Error('it was never held');
}

test('a resend of an unknown outcome is refused while its request may still arrive, and accepted afterwards', async () => {
  const claimedAfterMs = Date.now();
  // The sandbox answers 503 after the posting.
  const journey = await journeys.start(
    journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('2503'))] }),
  );
  const hold = await untilHeld(journey);
  const { customerTraceNumber, attempts: attempt, resendFrom = assert.fail('it says nothing') } = hold;
  assert.ok(Date.parse(resendFrom) >= claimedAfterMs + RESEND_AFTER_MS, resendFrom);
  const decision = { customerTraceNumber, attempt, action: 'resend', by: 'ops', reason: 'asked' } as const;
  const early = await journey
    .resolveInquiry({ ...decision, decisionId: 'D1', providerSaid: 'notPosted' })
    .catch((error: unknown) => error);
  assert.ok(hasCode(early, 'updateRefused'), String(early));
  assert.equal(early.reason, `the first request may still arrive: resend is accepted from ${resendFrom} on`);
  await delay(Date.parse(resendFrom) - Date.now() + 1_000);
  await journey.resolveInquiry({ ...decision, decisionId: 'D1', providerSaid: 'notPosted' });
  for await (const { stages } of journey.watch()) if (stages[0]?.attempts === 2) break;
  await journey.withdraw({ by: 'ops', reason: 'test' }).catch(() => {});
});
