/** Runs that emit events to endpoints that answer, that do not answer, and that answer 410. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { PortfolioStatus } from '../../src/messages/portfolio/shapes.ts';
import type { PullResult } from '../../src/messages/pull/shapes.ts';
import {
  toWebhookDeliveryId,
  type WebhookDeliveryResult,
  type WebhookDeliveryStatus,
} from '../../src/messages/webhooks/delivery.ts';
import { toRunKey, toWorkflowId } from '../../src/model/run-key.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from './journey-harness.ts';
import { csvText, writePortfolio } from './portfolio-files.ts';
import { decideFirstHold, reportPull, startPull } from './pull-scenarios.ts';
import { consentToShare, shareInput, startShare, untilShareIs } from './share-scenarios.ts';
import { untilQuery } from './until-query.ts';
import { newWebhookSecret, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface WebhookStage {
  harness: Harness;
  receiver: WebhookReceiver;
  directory: string;
  /** The variables for programs with the same endpoints. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/**
 * Profile `default`: `all`, and `ends`, which takes only journey.ended. Profile `mixed`: `steady`, `hangs`, `gone`, and
 * `inner`, whose address the worker refuses. Each name is a path of the receiver. It answers 204 unless a test says
 * otherwise.
 */
export async function startWebhookStage({ giveUpAfter = 'PT4S' } = {}): Promise<WebhookStage> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-webhooks-'));
  const secret = newWebhookSecret();
  const receiver = await startWebhookReceiver(secret);
  const [secretFile, file] = [join(directory, 'secret'), join(directory, 'profiles.json')];
  await writeFile(secretFile, `${secret}\n`);
  const endpoint = (name: string, more: object = {}) => ({
    name,
    url: `${receiver.url}/${name}`,
    secretFiles: [secretFile],
    allowPrivateAddresses: true,
    ...more,
  });
  const profiles = {
    default: { webhooks: [endpoint('all'), endpoint('ends', { events: ['journey.ended'] })] },
    mixed: {
      environment: 'sandbox',
      customerId: 'SANDBOX0001',
      ssnMismatch: 'flag',
      webhooks: [
        endpoint('steady'),
        endpoint('hangs'),
        endpoint('gone'),
        endpoint('inner', { allowPrivateAddresses: false }),
      ],
    },
  };
  await writeFile(file, JSON.stringify({ profiles }));
  // Shorter than the first retry's wait, so a failed event is given up unless its endpoint asks for an earlier retry.
  const env = { GATEWAY_PROFILES_FILE: file, WEBHOOK_GIVE_UP_AFTER: giveUpAfter, PORTFOLIO_DIR: directory };
  const harness = await startHarness({ env });
  return {
    harness,
    receiver,
    directory,
    env,
    async close() {
      await harness.close();
      await receiver.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type Delivery = WorkflowHandle<() => Promise<WebhookDeliveryResult>>;

export function deliveryOf({ harness }: WebhookStage, runKey: string): Delivery {
  return harness.client.workflow.getHandle(toWebhookDeliveryId(toWorkflowId(runKey))) as Delivery;
}

/** Polls the delivery run until its status is as wanted. */
export function untilDelivery(
  delivery: Delivery,
  isWanted: (status: WebhookDeliveryStatus) => boolean,
): Promise<WebhookDeliveryStatus> {
  return untilQuery(delivery, isWanted, { query: 'webhookStatus' });
}

/** Asks the delivery run to send its failed events again. */
export function resendAll(delivery: Delivery) {
  return delivery.executeUpdate<{ events: number }, [object]>('resendWebhooks', { args: [{}] });
}

/** The events of a journey of two stages and a share. */
export const ALL_OF_IT = [
  'stage.answered',
  'gate.reached',
  'stage.answered',
  'consent.missing',
  'share.posted',
  'share.ended',
  'journey.ended',
];

/** Plays that journey. `personal` lists values that no event may have. */
export async function playFully({ harness }: WebhookStage) {
  const ssn = newSsn();
  const input = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    applicants: [applicant('1A', ssn)],
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ waitingFor }) => waitingFor === 'PREAPP');
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
  await handle.result();
  const { stages, shares } = await statusOf(handle);
  const references = [...stages, ...shares].map(({ reportReferenceNumber = '' }) => reportReferenceNumber);
  return { handle, journeyId, personal: [ssn, 'Casey', 'Sample-', '@example.com', 'Springfield', ...references] };
}

/** Plays a journey of `mixed` whose hold an operator ends: inquiry.held, hold.resolved, journey.ended. */
export async function playHeld({ harness }: WebhookStage): Promise<{ handle: JourneyHandle; journeyId: string }> {
  const input = journeyInput({ stages: ['PREQUAL'], profile: 'mixed', applicants: [applicant('1A', newSsn('4002'))] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  await update(handle, 'resolveInquiry', {
    journeyId,
    decisionId: 'D1',
    customerTraceNumber: holds[0]?.customerTraceNumber,
    attempt: 1,
    action: 'abandon',
    by: 'operator',
    reason: 'asked the provider',
    providerSaid: 'notPosted',
  });
  await handle.result();
  return { handle, journeyId };
}

/** The events of a pull of the profile `mixed` that was held and sent again. */
export const ALL_OF_A_PULL = ['inquiry.held', 'hold.resolved', 'pull.answered', 'pull.ended'];

export async function playPull({ harness }: WebhookStage) {
  const input = reportPull('4001', { profile: 'mixed' });
  const handle = await startPull(harness, input);
  await decideFirstHold(handle, input.pullId, { action: 'resend' });
  const { reference } = (await handle.result()) as unknown as PullResult;
  const personal = [input.applicants[0]?.ssn ?? '', reference?.reportReferenceNumber ?? ''];
  return { handle, runKey: toRunKey('pull', input.pullId), pullId: input.pullId, personal };
}

/** The events of a share by itself. */
export const ALL_OF_A_SHARE = ['consent.missing', 'share.posted', 'share.ended'];

/** Plays a share of such a pull's report. */
export async function playShare({ harness }: WebhookStage, pullId: string) {
  const input = shareInput({ pullId, productCode: 'CR' }, { profile: 'mixed' });
  const { shareId } = input;
  const handle = await startShare(harness, input);
  await untilShareIs(handle, 'waitingForConsent');
  await handle.executeUpdate<unknown, [object]>('recordConsent', { args: [consentToShare(shareId, 'granted')] });
  await handle.result();
  return { handle, runKey: toRunKey('share', shareId), shareId };
}

/** The events of a review that had a row on hold. Answered rows emit none. */
export const ALL_OF_A_REVIEW = ['inquiry.held', 'hold.resolved', 'portfolio.ended'];

/** @param whileHeld runs before the decision, and returns the run that the decision goes to */
export async function playReview(
  { harness, directory }: WebhookStage,
  whileHeld: (handle: JourneyHandle) => Promise<JourneyHandle> = async (handle) => handle,
) {
  const reviewId = `R-${randomUUID().slice(0, 13)}`;
  const file = await writePortfolio(
    directory,
    `${reviewId}.csv`,
    csvText(3, (index) => (index === 1 ? '4001' : '0001')),
    'mixed/EU123',
  );
  const begun = (await harness.client.workflow.start('portfolioReview', {
    workflowId: toWorkflowId(toRunKey('portfolio', reviewId)),
    taskQueue: harness.config.taskQueue,
    args: [{ reviewId, profile: 'mixed', endUserCode: 'EU123', permissiblePurposeCode: '01', file }],
  })) as unknown as JourneyHandle;
  await untilReview(begun, 'held');
  const handle = await whileHeld(begun);
  const { holds } = await untilReview(handle, 'held');
  const { customerTraceNumber, attempts: attempt } = holds[0] ?? {};
  const decision = { decisionId: 'D1', customerTraceNumber, attempt, action: 'resend', providerSaid: 'notPosted' };
  const message = { reviewId, ...decision, by: 'operator', reason: 'asked' };
  await handle.executeUpdate<unknown, [object]>('resolveInquiry', { args: [message] });
  await handle.result();
  return { handle, runKey: toRunKey('portfolio', reviewId), reviewId };
}

export function untilReview(handle: JourneyHandle, state: PortfolioStatus['state']): Promise<PortfolioStatus> {
  return untilQuery<PortfolioStatus>(handle, (status) => status.state === state);
}

/** Returns whether every event has been delivered or given up. */
export const nothingWaits = ({ endpoints }: WebhookDeliveryStatus) => endpoints.every(({ waiting }) => waiting === 0);

export interface WebhookScenario {
  /** `<workflow>-<what happens>`: the name of its recorded history. */
  name: string;
  play(stage: WebhookStage): Promise<WorkflowHandle>;
}

/** Scenarios that play on a stage of this file. */
export const WEBHOOK_SCENARIOS: WebhookScenario[] = [
  { name: 'lendingJourney-webhooks', play: async (stage) => (await playFully(stage)).handle },
  { name: 'lendingJourney-webhooksHeld', play: async (stage) => (await playHeld(stage)).handle },
  { name: 'portfolioReview-webhooks', play: async (stage) => (await playReview(stage)).handle },
  { name: 'creditReport-webhooks', play: async (stage) => (await playPull(stage)).handle },
  {
    name: 'shareReport-webhooks',
    play: async (stage) => (await playShare(stage, (await playPull(stage)).pullId)).handle,
  },
  {
    name: 'webhookDelivery-delivered',
    async play(stage) {
      const { journeyId } = await playFully(stage);
      await stage.receiver.accepted('/all', journeyId, ALL_OF_IT.length);
      const delivery = deliveryOf(stage, journeyId);
      await delivery.result();
      return delivery;
    },
  },
  {
    name: 'webhookDelivery-givenUp',
    async play(stage) {
      stage.receiver.answer('/hangs', 503);
      stage.receiver.answer('/gone', 410);
      const delivery = deliveryOf(stage, (await playHeld(stage)).journeyId);
      await untilDelivery(delivery, nothingWaits);
      return delivery;
    },
  },
  {
    name: 'webhookDelivery-resent',
    async play(stage) {
      stage.receiver.answer('/hangs', 503);
      stage.receiver.answer('/gone', 410);
      const delivery = deliveryOf(stage, (await playHeld(stage)).journeyId);
      await untilDelivery(delivery, nothingWaits);
      for (const path of ['/hangs', '/gone']) stage.receiver.answer(path, 204);
      await resendAll(delivery);
      await untilDelivery(delivery, nothingWaits);
      return delivery;
    },
  },
];
