/** A worker is killed in the middle of many journeys: measures how long until all are done, and what was sent twice. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { askRun } from '../src/client/runs/ask-run.ts';
import type { JourneyStatus } from '../src/messages/journey/shapes.ts';
import type { Contender } from './contenders.ts';
import { newId } from './measures.ts';
import type { Received, Stage } from './stage.ts';

export interface Killed {
  journeys: number;
  /** From the kill to the last result. */
  secondsToFinish: number;
  requests: number;
  /** Requests beyond the first of each trace number. */
  repeated: number;
  /** Resends that the deciding person ordered. */
  resends: number;
  /** Holds for unknown outcomes about which that person asked the provider. */
  holds: number;
}

/** A gateway this slow always has something in flight. */
const LATENCY_MS = 50;
const LOOK_EVERY_MS = 500;

export async function workerKilled(stage: Stage, contender: Contender, journeys: number): Promise<Killed> {
  await stage.forget();
  await stage.setLatency(LATENCY_MS);
  const ids = Array.from({ length: journeys }, newId);
  const handles = await Promise.all(ids.map((id) => contender.start(id)));
  const unfinished = new Map(handles.map((handle, index) => [ids[index] ?? '', handle]));
  for (const [id, handle] of unfinished) void handle.result().then(() => unfinished.delete(id));

  // In the middle: half of the three inquiries of each journey have come.
  while ((await stage.received()).length < journeys * 1.5) await delay(20);
  await stage.killWorker(contender.name);
  const killedAt = performance.now();
  await stage.startWorker(contender.name);
  const tally = { holds: 0, resends: 0 };
  while (unfinished.size > 0) {
    await delay(LOOK_EVERY_MS);
    if (contender.name !== 'bare') await decide(stage, unfinished, tally);
  }
  const secondsToFinish = (performance.now() - killedAt) / 1_000;
  const requests = await stage.received();
  await stage.setLatency(0);
  const distinct = new Set(requests.map(({ customerTraceNumber }) => customerTraceNumber)).size;
  return { journeys, secondsToFinish, requests: requests.length, repeated: requests.length - distinct, ...tally };
}

/** Acts as a person who asks the provider about each inquiry on hold, and decides by its answer. */
async function decide(
  stage: Stage,
  unfinished: ReadonlyMap<string, WorkflowHandle>,
  tally: { holds: number; resends: number },
): Promise<void> {
  const statuses = await Promise.all(
    [...unfinished].map(async ([id, handle]) => ({
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
