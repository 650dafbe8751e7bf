/** The events of each share's end, for a journey's shares and a share by itself, delivered over sockets. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { ShareInput } from '../../src/messages/request-share.ts';
import { webhookEventSchema } from '../../src/messages/webhooks/schemas.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { startWebhookStage, type WebhookStage } from '../support/webhook-scenarios.ts';

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage();
});
after(() => stage?.close());

const WHO = { by: 'platform@example.com', reason: 'another investor was meant' };

/** Returns the data of the share and journey events so far, without the run's id and the environment. */
async function toldOf(runKey: string, count: number): Promise<[type: string, data: object][]> {
  const told = await stage.receiver.accepted('/all', runKey, count);
  return told.flatMap(({ body, event }): [string, object][] => {
    assert.deepEqual(webhookEventSchema.parse(JSON.parse(body)), event);
    if (!event || !/^(share|journey)\./.test(event.type)) return [];
    const { journeyId: _, environment: __, ...data } = event.data as Record<string, unknown>;
    return [[event.type, data]];
  });
}

interface Played {
  title: string;
  terms?: Partial<ShareInput>;
  input?: Partial<LendingJourneyInput>;
  /** The number of events before the share's end, such as the answered stage and the missing consent. */
  before?: number;
  play?(handle: JourneyHandle, journeyId: string): Promise<unknown>;
  outcome: string;
  ended?: string;
}

const refusal = (journeyId: string, decision: 'denied' | 'revoked') => {
  const { evidence: _, ...message } = consentMessage(journeyId, { applicantId: '1A', decision });
  return message;
};

const ENDS: Played[] = [
  {
    title: 'that is denied',
    play: (handle, journeyId) => update(handle, 'recordConsent', refusal(journeyId, 'denied')),
    outcome: 'denied',
  },
  {
    title: 'that is revoked',
    play: (handle, journeyId) => update(handle, 'recordConsent', refusal(journeyId, 'revoked')),
    outcome: 'revoked',
  },
  { title: 'whose wait for consent expires', terms: { awaitConsentFor: 'PT1S' }, outcome: 'expired' },
  {
    title: 'that is withdrawn',
    play: (handle, journeyId) => update(handle, 'withdrawShare', { journeyId, shareId: 'S1', ...WHO }),
    outcome: 'withdrawn',
  },
  {
    title: 'whose journey is withdrawn',
    play: (handle, journeyId) => update(handle, 'withdraw', { journeyId, ...WHO }),
    outcome: 'abandoned',
    ended: 'withdrawn',
  },
  {
    title: 'without a report',
    input: { applicants: [applicant('1A', newSsn('0404'))], onNoRecord: 'continue' },
    before: 1,
    outcome: 'nothingToShare',
  },
];

describe('a share of a journey', { concurrency: 4 }, () => {
  for (const { title, terms = {}, input: more = {}, before: earlier = 2, play, outcome, ended = 'completed' } of ENDS) {
    test(`${title} emits ${outcome}, as does the journey’s end`, async () => {
      const share = { shareId: 'S1', endUserCode: 'EU999', ...terms };
      const input = journeyInput({ stages: ['PREQUAL'], shares: [share], ...more });
      const handle = await stage.harness.start(input);
      if (play) {
        await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
        await play(handle, input.journeyId);
      }
      await handle.result();
      assert.deepEqual(await toldOf(input.journeyId, earlier + 2), [
        ['share.ended', { shareId: 'S1', outcome }],
        ['journey.ended', { outcome: ended, shares: [{ shareId: 'S1', state: outcome }] }],
      ]);
    });
  }

  test('that is revoked after posting emits one event, and the journey’s end says so again', async () => {
    const share = { shareId: 'S1', endUserCode: 'EU999' };
    const input = journeyInput({ stages: ['PREQUAL'], shares: [share], sharesOpenFor: 'P1D' });
    const { journeyId } = input;
    const handle = await stage.harness.start(input);
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await update(handle, 'recordConsent', grant);
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    const { evidence: _, ...rest } = grant;
    await update(handle, 'recordConsent', { ...rest, decision: 'revoked' });
    await update(handle, 'recordConsent', { ...rest, consentId: 'C-late', decision: 'denied' });
    await update(handle, 'withdraw', { journeyId, ...WHO });
    const { shares } = await handle.result();
    const { customerTraceNumber } = shares[0] ?? {};
    const told = await toldOf(journeyId, 6);
    assert.deepEqual(told, [
      ['share.posted', { shareId: 'S1', customerTraceNumber }],
      ['share.ended', { shareId: 'S1', outcome: 'posted', customerTraceNumber }],
      ['share.revokedAfterPosting', { shareId: 'S1', customerTraceNumber }],
      [
        'journey.ended',
        {
          outcome: 'withdrawn',
          shares: [{ shareId: 'S1', state: 'posted', customerTraceNumber, attention: 'revokedAfterPosting' }],
        },
      ],
    ]);
  });
});
