/** Journeys of every outcome and every failure, and what may go wrong around them. Each is left where it waits. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { runInParallel } from '../../../src/base/in-parallel.ts';
import type { LendingJourneyInput } from '../../../src/messages/inputs/lending-journey.ts';
import type { JourneyStatus } from '../../../src/messages/journey/shapes.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  statusOf,
  update,
  WAIT_LIMIT_MS,
} from '../../support/journey-harness.ts';
import { SCENARIOS } from '../../support/scenarios.ts';
import { ATTEMPT_BUG, CLAIM_BUG_PREFIX } from './bugs.ts';
import { BEHAVIOURS } from './hostile-gateway.ts';
import type { World } from './world.ts';

/** A person who decides may write any text. The ledger keeps it for auditors. */
export const DECIDED = { by: 'Operatrix Quillfeather', reason: 'Pendlebury of the provider said so' };

/**
 * Faults that the sandbox plays (sandbox/faults), by the SSN's last four digits: what neither the scenarios nor the
 * hostile gateway have.
 */
const FAULTS = {
  alone: [
    ...['1408', '4003', '4005', '4008'],
    ...['4013', '4014', '4015', '4016', '4017', '4018', '4019'],
    ...['4022', '4023', '4025', '4029'],
    ...['0406', '0407'],
  ],
  joint: ['4026', '4032'],
  /** Faults of the posting of a share. */
  share: ['9002', '5408'],
} as const;

/** Limits the scenarios at once. Each queries its status every 50 ms. */
const SCENARIOS_AT_ONCE = 10;

/** Both applicants are in what the hostile gateway quotes. */
const JOINT: keyof typeof BEHAVIOURS = '6001';

const share = { shareId: 'S1', endUserCode: 'EU999' };

function oneStage(lastFour: string, overrides: Partial<LendingJourneyInput> = {}): LendingJourneyInput {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))], ...overrides });
}

export const isHeld = ({ state }: JourneyStatus): boolean => state === 'held';
const waitsOrIsOver = ({ state }: JourneyStatus): boolean => state !== 'running';
/** Between two attempts. */
const isWaiting = ({ state, waitingFor }: JourneyStatus): boolean => state !== 'running' || waitingFor !== undefined;

async function startUntil(
  world: World,
  input: LendingJourneyInput,
  isThere: (status: JourneyStatus) => boolean,
): Promise<JourneyHandle> {
  const handle = await world.start(input);
  await until(handle, isThere);
  return handle;
}

/** Asks seldom: with dozens at once, the answers would be most of the work. */
export async function until(
  handle: JourneyHandle,
  isThere: (status: JourneyStatus) => boolean,
): Promise<JourneyStatus> {
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const status = await statusOf(handle);
    if (isThere(status)) return status;
    if (performance.now() > endsAt) throw new Error(`waited in vain; status is ${JSON.stringify(status)}`);
  }
}

/** Journeys of the first worker that are in flight when it is killed, or that continue afterwards. */
export async function playBeforeTheKill(world: World) {
  const moved = await startUntil(
    world,
    journeyInput({ profile: 'moved', stages: ['PREQUAL', 'PREAPP'] }),
    ({ state }) => state === 'waitingAtGate',
  );
  const again = journeyInput({ profile: 'moved', stages: ['PREQUAL', 'PREAPP'] });
  const cutOff = await startUntil(world, again, ({ state }) => state === 'waitingAtGate');
  await cutOff.terminate();
  // Last: it would not be in flight for long.
  const answer = world.gateway.hold('6015');
  const inFlight = await world.start(oneStage('6015', { profile: 'hostile' }));
  await answer.reached;
  return { inFlight, moved, again, release: answer.release };
}

/** Journeys of the second worker whose inquiries the ledger has under the first customer's trace number. */
export function playForAnotherCustomer(world: World, input: LendingJourneyInput): Promise<JourneyHandle> {
  return startUntil(world, input, isHeld);
}

/** In the second worker, all at once. */
export async function playAll(world: World): Promise<JourneyHandle[]> {
  const scenarios = runInParallel(SCENARIOS, SCENARIOS_AT_ONCE, ({ play }) => play(world));
  const others = await Promise.all([
    ...FAULTS.alone.map((lastFour) => startUntil(world, oneStage(lastFour), waitsOrIsOver)),
    ...FAULTS.joint.map((lastFour) =>
      startUntil(
        world,
        oneStage('0001', { applicants: [applicant('1A', newSsn(lastFour)), applicant('2A')] }),
        waitsOrIsOver,
      ),
    ),
    ...FAULTS.share.map((lastFour) => sharing(world, lastFour)),
    ...Object.keys(BEHAVIOURS).map((lastFour) => {
      const applicants = [applicant('1A', newSsn(lastFour)), ...(lastFour === JOINT ? [applicant('2A')] : [])];
      return startUntil(world, oneStage(lastFour, { profile: 'hostile', applicants }), isWaiting);
    }),
    startUntil(world, oneStage(ATTEMPT_BUG), waitsOrIsOver),
    startUntil(world, oneStage('0001', { journeyId: `${CLAIM_BUG_PREFIX}${randomUUID()}` }), waitsOrIsOver),
    startUntil(world, oneStage('0001', { profile: 'unreachable' }), isWaiting),
    startUntil(world, oneStage('0001', { profile: 'untrusted' }), isHeld),
    refusedTokens(world),
    startedAgainOtherwise(world),
  ]);
  return [...(await scenarios), ...others];
}

async function sharing(world: World, lastFour: string): Promise<JourneyHandle> {
  const input = oneStage(lastFour, { shares: [share] });
  const handle = await world.start(input);
  await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A' }));
  await until(handle, isHeld);
  return handle;
}

/** The token service is down, and then refuses in one way after another. An operator decides to try again each time. */
async function refusedTokens(world: World): Promise<JourneyHandle> {
  const handle = await startUntil(world, oneStage('0001', { profile: 'refused' }), isHeld);
  for (const decisionId of ['D1', 'D2', 'D3']) {
    await decide(handle, { action: 'resend', decisionId });
    if (decisionId !== 'D3') await until(handle, isHeld);
  }
  // The token service throttles for longer than the test waits. The run shows why it waits.
  await until(handle, ({ waitingFor }) => waitingFor?.startsWith('waiting 3600 s') === true);
  return handle;
}

/** Another applicant under the same trace number. */
async function startedAgainOtherwise(world: World): Promise<JourneyHandle> {
  const input = oneStage('4002');
  const first = await startUntil(world, input, isHeld);
  await first.terminate();
  return startUntil(world, { ...input, applicants: [applicant('1A', newSsn('0001'))] }, isHeld);
}

async function decide(handle: JourneyHandle, decision: { action: string; decisionId: string }): Promise<void> {
  const { holds } = await until(handle, isHeld);
  await update(handle, 'resolveInquiry', {
    journeyId: handle.workflowId.replace('journey-', ''),
    customerTraceNumber: holds[0]?.customerTraceNumber,
    attempt: holds[0]?.attempts,
    providerSaid: 'notPosted',
    ...DECIDED,
    ...decision,
  });
}

/** The ledger goes away while an answer is on its way, and before another journey's claim. */
export async function playWithoutLedger(world: World): Promise<JourneyHandle[]> {
  const answer = world.gateway.hold('6015');
  const answered = await world.start(oneStage('6015', { profile: 'hostile' }));
  await answer.reached;
  await world.ledger.hide();
  answer.release();
  const waiting = await startUntil(world, oneStage('0001'), isWaiting);
  await world.ledger.bringBack();
  await Promise.all([answered.result(), waiting.result()]);
  return [answered, waiting];
}

/**
 * As if an older copy of the ledger had been put back: it lacks the attempt that the journey has made. It waits until a
 * person accepts the copy, with words that only the ledger may keep, and is held then.
 */
export async function playWithOlderLedger(world: World): Promise<JourneyHandle> {
  const handle = await startUntil(world, oneStage('4002'), isHeld);
  const { holds } = await until(handle, isHeld);
  const ledger = new DatabaseSync(world.ledger.file);
  ledger.exec('DROP TRIGGER attempts_no_delete');
  ledger.prepare('DELETE FROM attempts WHERE customer_trace_number = ?').run(holds[0]?.customerTraceNumber ?? '');
  ledger.close();
  await decide(handle, { action: 'resend', decisionId: 'D1' });
  await until(handle, ({ waitingFor }) => waitingFor?.includes('an older copy') === true);
  const { by, reason } = DECIDED;
  const exitCode = await world.runCommand(['ledger', 'accept-restore', '--by', by, '--reason', reason]);
  if (exitCode !== 0) throw new Error(`the restore was not accepted: exit code ${exitCode}`);
  await until(handle, ({ holds: [hold] }) => hold?.failureType === 'LedgerChanged');
  return handle;
}

/** A journey that waits while inquiries are paused, and continues once they are resumed. */
export async function playWhilePaused(world: World): Promise<JourneyHandle> {
  const say = async (command: string) => {
    const exitCode = await world.runCommand([command, '--by', 'ops', '--reason', 'a test']);
    if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}`);
  };
  await say('pause');
  const handle = await startUntil(world, oneStage('0001'), ({ waitingFor }) => waitingFor?.includes('paused') === true);
  await say('resume');
  await handle.result();
  return handle;
}
