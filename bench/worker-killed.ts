/** A worker is killed in the middle of many journeys: measures how long until all are done, and what was sent twice. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { askRun } from '../src/client/connection/run-messages.ts';
import type { JourneyStatus } from '../src/messages/journey/shapes.ts';
import type { Contender } from './contenders.ts';
import { longestWait } from './killed-waits.ts';
import { newJourneyId } from './load/inputs.ts';
import type { Received, Stage } from './stage.ts';

export interface Killed {
  journeys: number;
  /** From the kill until another worker was ready. */
  secondsToReady: number;
  /** From the kill to the last result of a journey about which no person was asked. */
  secondsToFinish: number;
  /** From the kill to the last result of all. */
  secondsWithHolds: number;
  requests: number;
  /** Requests beyond the first of each trace number. */
  repeated: number;
  /** Resends that the deciding person ordered. */
  resends: number;
  /** Holds for unknown outcomes about which that person asked the provider. */
  holds: number;
  /** By what a journey waited for longest: how many did, and when the last of them was done, in seconds after the kill. */
  waits: Record<string, { journeys: number; lastDone: number }>;
}

/** A gateway this slow always has something in flight. */
const LATENCY_MS = 50;
const LOOK_EVERY_MS = 500;

export async function workerKilled(stage: Stage, contender: Contender, journeys: number): Promise<Killed> {
  await stage.forget();
  await stage.setLatency(LATENCY_MS);
  const ids = Array.from({ length: journeys }, newJourneyId);
  const handles = await Promise.all(ids.map((id) => contender.start(id)));
  const unfinished = new Map(handles.map((handle, index) => [handle.workflowId, { id: ids[index] ?? '', handle }]));
  const doneAt = new Map<string, number>();
  for (const handle of handles) {
    void handle.result().then(() => {
      unfinished.delete(handle.workflowId);
      doneAt.set(handle.workflowId, performance.now());
    });
  }

  // In the middle: half of the three inquiries of each journey have come.
  while ((await stage.received()).length < journeys * 1.5) await delay(20);
  const killedAtMs = Date.now();
  const killedAt = performance.now();
  await stage.killWorker(contender.name);
  await stage.startWorker(contender.name);
  const secondsToReady = (performance.now() - killedAt) / 1_000;
  const tally = { holds: 0, resends: 0 };
  const asked = new Set<string>();
  while (unfinished.size > 0) {
    await delay(LOOK_EVERY_MS);
    const held = (await contender.needAttention()).flatMap((workflowId) => unfinished.get(workflowId) ?? []);
    for (const { handle } of held) asked.add(handle.workflowId);
    await decide(stage, held, tally);
  }
  const requests = await stage.received();
  await stage.setLatency(0);
  const distinct = new Set(requests.map(({ customerTraceNumber }) => customerTraceNumber)).size;
  const secondsOf = ({ workflowId }: WorkflowHandle) =>
    Math.max(0, ((doneAt.get(workflowId) ?? Number.NaN) - killedAt) / 1_000);
  const waits: Killed['waits'] = {};
  for (const handle of handles) {
    const kind = `${asked.has(handle.workflowId) ? 'on hold after ' : ''}${await longestWait(handle, killedAtMs)}`;
    const { journeys: others = 0, lastDone = 0 } = waits[kind] ?? {};
    waits[kind] = { journeys: others + 1, lastDone: Math.max(lastDone, secondsOf(handle)) };
  }
  return {
    journeys,
    secondsToReady,
    secondsToFinish: Math.max(...handles.filter(({ workflowId }) => !asked.has(workflowId)).map(secondsOf)),
    secondsWithHolds: Math.max(...handles.map(secondsOf)),
    requests: requests.length,
    repeated: requests.length - distinct,
    ...tally,
    waits,
  };
}

/** Acts as a person who asks the provider about each inquiry on hold, and decides by its answer. */
async function decide(
  stage: Stage,
  held: readonly { id: string; handle: WorkflowHandle }[],
  tally: { holds: number; resends: number },
): Promise<void> {
  const statuses = await Promise.all(
    held.map(async ({ id, handle }) => ({
      id,
      handle,
      status: await askRun<JourneyStatus>(handle, 'status'),
    })),
  );
  const onHold = statuses.filter(({ status }) => status.holds.length > 0);
  if (onHold.length === 0) return;
  const received = await stage.received();
  for (const { id, handle, status } of onHold) {
    for (const { customerTraceNumber, attempts, allowedActions } of status.holds) {
      tally.holds++;
      const wasPosted = isPosted(received, customerTraceNumber);
      if (!wasPosted) tally.resends++;
      if (wasPosted && !allowedActions.includes('accept')) throw new Error('posted, and may not be accepted');
      // The ledger takes one report number for one inquiry, and one consumer id for one applicant.
      const asked = `ASKED${customerTraceNumber.slice(2, 13)}`;
      const consumers = [{ applicantId: '1A', consumerId: asked }];
      const reference = {
        reportReferenceNumber: asked,
        requestedAt: new Date().toISOString(),
        applicants: consumers,
      };
      const decision = wasPosted
        ? { action: 'accept', providerSaid: 'posted', outcome: 'record', reference }
        : { action: 'resend', providerSaid: 'notPosted' };
      const about = { journeyId: id, decisionId: `D-${attempts}`, customerTraceNumber, attempt: attempts };
      const who = { by: 'bench', reason: 'the worker was killed' };
      await handle.executeUpdate('resolveInquiry', { args: [{ ...about, ...who, ...decision }] });
    }
  }
}

function isPosted(received: readonly Received[], traceNumber: string): boolean {
  return received.some((request) => request.customerTraceNumber === traceNumber && request.posted);
}
