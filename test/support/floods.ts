/** Floods of messages, and the hand-overs to new runs that they lead to. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { WorkflowHandle } from '@temporalio/client';
import { isAtRunLimit, isTaskFailure } from '../../src/client/connection/errors.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  statusOf,
  untilStatus,
  update,
  WAIT_LIMIT_MS,
} from './journey-harness.ts';
import { untilTaken } from './patiently.ts';

/** The lowest setting that the configuration accepts: a run continues as new after a hundred messages. */
export const HANDS_OVER_SOON = { HAND_OVER_AFTER_EVENTS: '100' };

const AT_ONCE = 100;
/** A slow machine takes minutes for a flood, in which a message waits for the next run. */
const FLOOD_LIMIT_MS = 10 * 60_000;

/** Sends `count` signals that the run refuses and counts in `status`. */
export async function floodWithNonsense(handle: WorkflowHandle, count: number): Promise<void> {
  await inBatches(count, () => taken(() => handle.signal('requestWithdrawal', {})));
}

/**
 * Limits for a run with as many messages as Temporal accepts. If signals never stop, the server lets the run continue
 * as new only then. A run that continues as new may also fail the workflow task of a message.
 */
function taken<T>(send: () => Promise<T>): Promise<T> {
  return untilTaken(send, (error) => isAtRunLimit(error) || isTaskFailure(error), FLOOD_LIMIT_MS);
}

async function inBatches(count: number, send: (index: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    await Promise.all(indexes.map(send));
  }
}

/** Makes the open run continue as new once, and returns the run ids before and after. */
export async function handsOver(handle: WorkflowHandle): Promise<{ before: string; after: string }> {
  const { runId: before } = await handle.describe();
  await floodWithNonsense(handle, 110);
  return { before, after: await untilNextRun(handle, before) };
}

/** Resolves with the id of the next run once it is the latest. */
export async function untilNextRun(handle: WorkflowHandle, before: string): Promise<string> {
  for (;;) {
    const { runId, status } = await handle.describe();
    if (runId !== before) return runId;
    if (status.name !== 'RUNNING') throw new Error(`the run ended as ${status.name} without handing over`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Sends signals without effect until the history is so large that the server suggests continue-as-new. */
export async function outgrow(
  handle: WorkflowHandle,
  signalName = 'requestWithdrawal',
  messageOf: (padding: string) => object = (padding) => ({ padding }),
): Promise<void> {
  const { runId } = await handle.describe();
  for (let times = 0; times < 4; times++) await handle.signal(signalName, messageOf('x'.repeat(1_500_000)));
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  while ((await handle.describe()).runId === runId) {
    if (performance.now() > endsAt) throw new Error('waited in vain for the next run');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Flood {
  harness: Harness;
  /** The number of consent signals, half of them grants. */
  consents: number;
  /** The number of invalid signals. */
  signals: number;
}

/**
 * Floods a journey whose only inquiry is held, and asserts that a revocation and a decision are processed. Nothing
 * is shared, and nothing is sent twice. The ledger has each denial and revocation. It has each grant that the run has not
 * counted as refused.
 */
export async function floodedJourney({ harness, consents, signals }: Flood): Promise<void> {
  const { handle, journeyId } = await heldJourney(harness);
  const first = await latestRunOf(harness, handle);
  await inBatches(consents, (index) => {
    const said = { applicantId: '1A', consentId: `C${index}`, ...(index % 2 ? {} : { decision: 'denied' as const }) };
    return taken(() => handle.signal('consent', consentMessage(journeyId, said)));
  });
  await floodWithNonsense(handle, signals);
  const revocation = consentMessage(journeyId, { applicantId: '1A', decision: 'revoked' });
  await taken(() => update(handle, 'recordConsent', revocation));
  const { holds, refusedMessagesTotal } = await statusOf(handle);
  const refusedGrants = refusedMessagesTotal - signals;
  const { customerTraceNumber, attempts: attempt } = holds[0] ?? {};
  const decision = {
    ...{ journeyId, decisionId: 'D1', customerTraceNumber, attempt, action: 'accept', providerSaid: 'posted' },
    ...{ by: 'operator', reason: 'asked the provider', outcome: 'record' },
    reference: {
      reportReferenceNumber: `R-${journeyId.slice(-12)}`,
      requestedAt: new Date().toISOString(),
      applicants: [{ applicantId: '1A', consumerId: `CN-${journeyId.slice(-12)}` }],
    },
  };
  await taken(() => update(handle, 'resolveInquiry', decision));
  const result = await handle.result();
  assert.equal(result.outcome, 'completed');
  // A slow ledger has a denial before it has the revocation.
  assert.match(result.shares[0]?.state ?? '', /^(revoked|denied)$/);
  assert.equal((await harness.received(handle)).length, 1);
  assert.notEqual(await latestRunOf(harness, handle), first, 'it handed over');
  const recorded = recordedConsents(harness, journeyId);
  const denials = consents / 2;
  assert.deepEqual(recorded, {
    denied: denials,
    granted: consents - denials - refusedGrants,
    revoked: 1,
  });
}

/** Counts the ledger's consents by decision. */
function recordedConsents({ config }: Harness, journeyId: string): Record<string, number> {
  using database = new DatabaseSync(config.ledger.url.slice('file:'.length), { readOnly: true, timeout: 2_000 });
  const count = database.prepare('SELECT count(*) AS n FROM consents WHERE journey_id = ? AND decision = ?');
  return Object.fromEntries(
    ['denied', 'granted', 'revoked'].map((decision) => [decision, Number(count.get(journeyId, decision)?.n)]),
  );
}

async function latestRunOf({ client }: Harness, { workflowId }: JourneyHandle): Promise<string> {
  return (await client.workflow.getHandle(workflowId).describe()).runId;
}

async function heldJourney(harness: Harness): Promise<{ handle: JourneyHandle; journeyId: string }> {
  const input = journeyInput({
    stages: ['PREQUAL'],
    applicants: [applicant('1A', newSsn('4002'))],
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'held');
  return { handle, journeyId: input.journeyId };
}
