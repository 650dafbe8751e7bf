/** Runs in rare situations, each with a worker and a ledger of its own that it may change. */
import assert from 'node:assert/strict';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { ShareInput } from '../../src/messages/request-share.ts';
import { toLedgerWatchId } from '../../src/model/ledger-watch.ts';
import { sqliteStore } from '../hazards/ledger-store.ts';
import {
  eventsOf,
  pendingAttempt,
  schedulesAttempt,
  until,
  withLedger,
  withoutGatewayWorker,
} from '../hazards/operator-hands.ts';
import {
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  untilStatus,
  update,
} from './journey-harness.ts';
import { besideOwnWorker } from './own-worker-scenario.ts';
import { reportPull, startPull } from './pull-scenarios.ts';
import type { Scenario } from './scenarios.ts';
import { shareInput, startShare, untilShareIs } from './share-scenarios.ts';
import { ON_GATEWAY_QUEUE } from './short-timeouts.ts';

const share = { shareId: 'S1', endUserCode: 'EU999' };
const WORD = { by: 'operator', reason: 'asked the provider' };

/** Changes the worker's profile, as a restart with another configuration would. */
function changeProfile({ config }: Harness, change: Partial<GatewayProfile>): void {
  const profiles = config.profiles as Map<string, GatewayProfile>;
  profiles.set('default', { ...(profiles.get('default') ?? assert.fail()), ...change });
}

/** Starts a journey of one stage that waits for the consent to its share. */
async function waitingJourney(own: Harness, terms: Partial<ShareInput> = {}) {
  const input = journeyInput({ stages: ['PREQUAL'], shares: [{ ...share, ...terms }] });
  const handle = await own.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  return { handle, journeyId: input.journeyId };
}

/** Starts a share by itself, of a pull's report, that waits for consent. */
async function findWaitingShare(own: Harness, terms: object = {}) {
  const pull = reportPull();
  await (await startPull(own, pull)).result();
  const input = shareInput({ pullId: pull.pullId, productCode: 'CR' }, terms);
  const handle = await startShare(own, input);
  await untilShareIs(handle, 'waitingForConsent');
  return { handle, shareId: input.shareId, runKey: `pull:${pull.pullId}` };
}

function grantNow(owner: string, shareId = 'S1'): ConsentMessage {
  return consentMessage(owner, { shareId, applicantId: '1A', decidedAt: new Date().toISOString() });
}

/** Grants the consent while no worker takes the queued attempt, and runs `meanwhile` before a worker does. */
async function grantedInQueue(own: Harness, handle: JourneyHandle, grant: ConsentMessage, meanwhile: () => unknown) {
  await withoutGatewayWorker(own, async () => {
    await update(handle, 'recordConsent', { ...grant, decidedAt: new Date().toISOString() });
    await pendingAttempt(handle, { of: 'submitInquiry' });
    await meanwhile();
  });
}

/** A share is requested that the profile does not allow, and then one that it does. */
const shareNotAllowed = besideOwnWorker('lendingJourney-shareNotAllowed', {}, async (own) => {
  changeProfile(own, { allowed: { SECONDUSE: { endUserCodes: ['EU999'] } } });
  const input = journeyInput({ stages: ['PREQUAL'], sharesOpenFor: 'P1D' });
  const { journeyId } = input;
  const handle = await own.start(input);
  const request = (endUserCode: string) =>
    update(handle, 'requestShare', { journeyId, share: { ...share, endUserCode } });
  await refusalOf(request('EU777'));
  await request('EU999');
  await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
  await handle.result();
  return handle;
});

/** The journey is started again after its profile's customer was corrected. It is held, and then abandoned. */
const anotherNumber = besideOwnWorker('lendingJourney-anotherNumber', {}, async (own) => {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
  const first = await own.start(input);
  await untilStatus(first, ({ state }) => state === 'waitingAtGate');
  await first.terminate();
  changeProfile(own, { customerId: 'CORRECTED1' });
  const handle = await own.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  assert.equal(holds[0]?.failureType, 'AnotherNumber');
  await update(handle, 'resolveInquiry', {
    ...{ journeyId: input.journeyId, decisionId: 'D1', customerTraceNumber: holds[0]?.customerTraceNumber },
    ...{ attempt: holds[0]?.attempts, action: 'abandon', providerSaid: 'notAsked', ...WORD },
  });
  await handle.result();
  return handle;
});

/** An older copy of the ledger is restored, and every claim is refused until an operator accepts the copy. */
const ledgerRestored = besideOwnWorker(
  'lendingJourney-ledgerRestored',
  { LEDGER_WATCH_EVERY_MS: '200', BACKOFF_INITIAL_MS: '200', BACKOFF_MAX_MS: '1000' },
  async (own) => {
    const store = sqliteStore(own.dataDir);
    await own.stopWorker();
    await store.backUp('older');
    await own.startWorker();
    await (await own.start(journeyInput({ stages: ['PREQUAL'] }))).result();
    await untilWatched(own);
    await own.stopWorker();
    await store.restore('older');
    await own.startWorker();
    const handle = await own.start(journeyInput({ stages: ['PREQUAL'] }));
    await untilStatus(handle, ({ waitingFor = '' }) => waitingFor.includes('an older copy'));
    await withLedger(own, (ledger) => ledger.acceptRestore(ledger.identity.ledgerId, WORD));
    await handle.result();
    return handle;
  },
);

/** Inquiries are paused: the journey tries once meanwhile, and continues after they are resumed. */
const paused = besideOwnWorker('lendingJourney-paused', { BACKOFF_INITIAL_MS: '60000' }, async (own) => {
  const isPaused = ({ waitingFor = '' }: { waitingFor?: string }) => waitingFor.includes('paused');
  const say = (what: 'begin' | 'end') =>
    withLedger<unknown>(own, ({ identity: { ledgerId }, pauses }) => pauses[what](ledgerId, {}, WORD));
  await say('begin');
  const handle = await own.start(journeyInput({ stages: ['PREQUAL'] }));
  await untilStatus(handle, isPaused);
  await handle.signal('inquiriesResumed');
  const attempts = async () => (await eventsOf(handle)).filter(schedulesAttempt);
  await until(async () => (await attempts()).length === 2, 'it asks once more');
  await untilStatus(handle, isPaused);
  await say('end');
  await handle.signal('inquiriesResumed');
  await handle.result();
  return handle;
});

/** Waits until the ledger's watch has seen the newest attempt. */
async function untilWatched(own: Harness): Promise<void> {
  const { ledgerId, newest } = await withLedger(own, async (ledger) => ({
    ledgerId: ledger.identity.ledgerId,
    newest: (await ledger.restoreState()).newest,
  }));
  const watch = own.client.workflow.getHandle(toLedgerWatchId(ledgerId, own.config.taskQueue));
  await until(async () => {
    const { memo } = await watch.describe();
    return (memo?.highWaterMark as { position?: number } | undefined)?.position === newest?.position;
  }, 'the watch has not seen the newest attempt');
}

/** Exceeds the time for which a grant counts. */
const TOO_OLD_AFTER_MS = 3_100;
const consentValidFor = 'PT3S';
const untilTooOld = () => new Promise((resolve) => setTimeout(resolve, TOO_OLD_AFTER_MS));

const journeyGrantTooOld = besideOwnWorker('lendingJourney-grantTooOld', ON_GATEWAY_QUEUE, async (own) => {
  const { handle, journeyId } = await waitingJourney(own, { consentValidFor });
  await grantedInQueue(own, handle, grantNow(journeyId), untilTooOld);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await update(handle, 'recordConsent', grantNow(journeyId));
  await handle.result();
  return handle;
});

const shareGrantTooOld = besideOwnWorker('shareReport-grantTooOld', ON_GATEWAY_QUEUE, async (own) => {
  const { handle, shareId } = await findWaitingShare(own, { consentValidFor });
  await grantedInQueue(own, handle, grantNow(`share:${shareId}`, shareId), untilTooOld);
  await untilShareIs(handle, 'waitingForConsent');
  await update(handle, 'recordConsent', grantNow(`share:${shareId}`, shareId));
  await handle.result();
  return handle;
});

function holdReport(own: Harness, runKey: string): Promise<unknown> {
  return withLedger(own, (ledger) => ledger.retention.setLegalHold(runKey, { ...WORD, matter: '2026-17' }));
}

const journeyReportGone = besideOwnWorker('lendingJourney-reportGone', ON_GATEWAY_QUEUE, async (own) => {
  const { handle, journeyId } = await waitingJourney(own);
  await grantedInQueue(own, handle, grantNow(journeyId), () => holdReport(own, journeyId));
  await handle.result();
  return handle;
});

const shareReportGone = besideOwnWorker('shareReport-reportGone', ON_GATEWAY_QUEUE, async (own) => {
  const { handle, shareId, runKey } = await findWaitingShare(own);
  await grantedInQueue(own, handle, grantNow(`share:${shareId}`, shareId), () => holdReport(own, runKey));
  await handle.result();
  return handle;
});

/** The pull is withdrawn while its attempt is queued, and the look-up closes the attempt. */
const closedAttempt = besideOwnWorker('creditReport-withdrawnInQueue', ON_GATEWAY_QUEUE, async (own) => {
  const pull = reportPull();
  return withoutGatewayWorker(own, async () => {
    const handle = await startPull(own, pull);
    await pendingAttempt(handle, { of: 'submitInquiry' });
    await update(handle, 'withdraw', { pullId: pull.pullId, by: 'ops', reason: 'by mistake' });
    await handle.result();
    return handle;
  });
});

/** A journey's share is revoked while its attempt is queued, and the look-up closes the attempt. */
const closedShare = besideOwnWorker('lendingJourney-revokedInQueue', ON_GATEWAY_QUEUE, async (own) => {
  const { handle, journeyId } = await waitingJourney(own);
  const { evidence, ...grant } = grantNow(journeyId);
  await withoutGatewayWorker(own, async () => {
    await update(handle, 'recordConsent', { ...grant, evidence });
    await pendingAttempt(handle, { of: 'submitInquiry' });
    await update(handle, 'recordConsent', { ...grant, decision: 'revoked' });
    await handle.result();
  });
  return handle;
});

export const CORNER_SCENARIOS: readonly Scenario[] = [
  shareNotAllowed,
  anotherNumber,
  ledgerRestored,
  paused,
  journeyGrantTooOld,
  shareGrantTooOld,
  journeyReportGone,
  shareReportGone,
  closedAttempt,
  closedShare,
];
