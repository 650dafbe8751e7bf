/** The measurements of one contender at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { askRun } from '../src/client/connection/run-messages.ts';
import type { Contender, StartOptions } from './contenders.ts';
import { grant, manyAtOnce, newJourneyId } from './load/inputs.ts';
import { cpuMs, residentBytes } from './processes.ts';
import type { Stage } from './stage.ts';

export interface Load {
  journeysPerSecond: number;
  workerCpuMs: number;
  serverCpuMs: number;
}

/** Completes `journeys` journeys, `atOnce` of them at any time; CPU is per journey. */
export async function load(stage: Stage, contender: Contender, journeys: number, atOnce: number): Promise<Load> {
  const workerPid = stage.worker(contender.name).pid;
  const before = { worker: cpuMs(workerPid), server: cpuMs(stage.serverPid), at: performance.now() };
  await manyAtOnce(journeys, atOnce, async () => (await contender.start(newJourneyId())).result());
  const seconds = (performance.now() - before.at) / 1_000;
  return {
    journeysPerSecond: journeys / seconds,
    workerCpuMs: (cpuMs(workerPid) - before.worker) / journeys,
    serverCpuMs: (cpuMs(stage.serverPid) - before.server) / journeys,
  };
}

/** The time of each journey in a row from start to result, in milliseconds. The contenders take turns. */
export async function latencies(contenders: Contender[], rounds: number): Promise<Map<Contender['name'], number[]>> {
  const all = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      const startedAt = performance.now();
      await (await contender.start(newJourneyId())).result();
      all.get(contender.name)?.push(performance.now() - startedAt);
    }
  }
  return all;
}

export interface HistorySize {
  /** Of the shortest history: what ends while a task is under way makes a further task. */
  events: number;
  /** Of the longest. */
  mostEvents: number;
  activities: number;
  /** Of the shortest history. */
  bytes: number;
}

/** The sizes of the histories of finished journeys of one kind, played one after the other. */
export async function historiesOf(times: number, start: () => Promise<WorkflowHandle>): Promise<HistorySize> {
  const sizes: HistorySize[] = [];
  for (let time = 0; time < times; time++) sizes.push(await historyOf(await start()));
  const [shortest] = sizes.sort((a, b) => a.events - b.events);
  if (!shortest) throw new Error('no journey was played');
  return { ...shortest, mostEvents: Math.max(...sizes.map(({ events }) => events)) };
}

async function historyOf(handle: WorkflowHandle): Promise<HistorySize> {
  await handle.result();
  const { historySize } = await handle.describe();
  const { events = [] } = await handle.fetchHistory();
  const activities = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes).length;
  const { length } = events ?? [];
  return { events: length, mostEvents: length, activities, bytes: historySize ?? Number.NaN };
}

/** A joint journey with one share, and consent of both, signalled when it waits for it. */
export async function sharedJourney(contender: Contender, gates: 'manual' | 'auto'): Promise<WorkflowHandle> {
  const id = newJourneyId();
  const secondaryUser = { endUserCode: 'EU999' };
  const options: StartOptions = { gates, applicants: 2, shares: [{ shareId: 'S1', ...secondaryUser }] };
  const handle = await contender.start(id, options);
  if (gates === 'manual') {
    for (const to of ['PREAPP', 'PRECLOSE']) {
      await until(handle, ({ waitingFor }) => waitingFor === to);
      await handle.executeUpdate('advance', { args: [{ journeyId: id, to }] });
    }
  }
  await until(handle, ({ state }) => state === 'waitingForConsent');
  for (const applicantId of ['1A', '2A']) {
    const consent = grant({ shareId: 'S1', applicantId, consentId: `C-${applicantId}`, secondaryUser });
    await handle.signal('consent', { journeyId: id, ...consent });
  }
  return handle;
}

interface Status {
  state: string;
  waitingFor?: string;
}

async function until(handle: WorkflowHandle, isSo: (status: Status) => boolean): Promise<void> {
  while (!isSo(await askRun<Status>(handle, 'status'))) await delay(100);
}

export interface Waiting {
  journeys: number;
  residentBytes: number;
  /** The worker's memory before the first journey was started. */
  idleBytes: number;
}

/** The worker's memory while so many journeys wait at a gate; they are ended afterwards. */
export async function waiting(stage: Stage, contender: Contender, journeys: number): Promise<Waiting> {
  await stage.killWorker(contender.name);
  await stage.startWorker(contender.name);
  const { pid } = stage.worker(contender.name);
  await (await contender.start(newJourneyId())).result();
  const idleBytes = residentBytes(pid);
  await stage.forget();
  const handles = await manyAtOnce(journeys, 50, () => contender.start(newJourneyId(), { waits: true }));
  while ((await stage.received()).length < journeys) await delay(500);
  // Waits until the last answers have become workflow tasks.
  await delay(3_000);
  const bytes = residentBytes(pid);
  // More at once would only queue at the server.
  await manyAtOnce(journeys, 20, async (index) => handles[index]?.terminate('measured'));
  return { journeys, residentBytes: bytes, idleBytes };
}
