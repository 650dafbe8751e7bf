/**
 * Very many journeys that wait for a consumer's consent: measures their cost, and how soon a restarted worker serves
 * all of them.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { grant, prequal, waitingAtGate } from '../load/inputs.ts';
import { median } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { cpuMs, residentBytes } from '../processes.ts';
import { quantile } from '../report.ts';
import { bounded, type Part, plain } from './finding.ts';
import { flood } from './floods.ts';

export interface WaitingOptions {
  journeys: number;
  /** `gate`: before the first stage, which costs a journey no inquiry. */
  at: 'consent' | 'gate';
  quietSeconds: number;
  say(text: string): void;
}

const MEGABYTE = 1024 * 1024;
const ASKED_AFTER_RESTART = 20;
/** Percent of one core. Pollers, heartbeats and metrics: the work of an idle worker. */
const MOST_CPU_PERCENT = 5;
const READY_WITHIN_S = 15;

export async function waiting(site: Site, { journeys, at, quietSeconds, say }: WaitingOptions): Promise<Part> {
  await site.forget();
  const [worker] = [...site.workers.values()];
  if (!worker) throw new Error('no worker runs');
  const idleMb = residentBytes(worker.program.pid) / MEGABYTE;
  const beganAt = performance.now();
  const ids = await flood(site, journeys, () => (at === 'consent' ? awaitingConsent() : waitingAtGate()), {});
  await untilWaiting(site, journeys, at, say);
  const tookS = (performance.now() - beganAt) / 1_000;
  say(`all wait after ${tookS.toFixed(0)} s`);
  await delay(5_000);
  const quiet = await overAWhile(worker.program.pid, quietSeconds);
  const { readyS, firstS, restarted } = await restart(site, worker.name, ids, at, say);
  return {
    title: 'waiting',
    run: `${journeys} journeys waiting ${at === 'consent' ? 'for consent' : 'at a gate'}, one worker`,
    findings: [
      plain('seconds until all waited', tookS),
      plain('worker memory before, MB', idleMb),
      plain('worker memory with all of them, MB', quiet.residentMb),
      bounded(`worker CPU over ${quietSeconds} s, % of a core`, quiet.cpuPercent, MOST_CPU_PERCENT),
      plain('growth of its memory meanwhile, MB', quiet.growthMb),
      bounded('restarted: seconds until it is ready', readyS, READY_WITHIN_S),
      bounded('  until the first of them had gone on', firstS, READY_WITHIN_S),
      plain(`  one that goes on afterwards (${restarted.length}): p50, ms`, median(restarted)),
      plain('    p95, ms', quantile(restarted, 0.95)),
      plain('  its memory then, MB', residentBytes(pidOf(site, worker.name)) / MEGABYTE),
    ],
  };
}

const SECONDARY_USER = { endUserCode: 'EU999' };

function awaitingConsent(): LendingJourneyInput {
  return prequal('EU123', { shares: [{ shareId: 'S1', ...SECONDARY_USER }] });
}

async function untilWaiting(site: Site, count: number, at: WaitingOptions['at'], say: (text: string) => void) {
  const client = site.journeys.getSdkClient();
  const waitsFor = at === 'consent' ? 'consents' : 'gate';
  let toldAt = performance.now();
  for (;;) {
    const { count: waits } = await client.workflow.count(`ExecutionStatus = "Running" AND WaitsFor = "${waitsFor}"`);
    if (waits >= count) return;
    if (performance.now() - toldAt > 30_000) {
      say(`${waits} of ${count} wait`);
      toldAt = performance.now();
    }
    await delay(2_000);
  }
}

async function overAWhile(pid: number, seconds: number) {
  const before = { cpu: cpuMs(pid), resident: residentBytes(pid), at: performance.now() };
  await delay(seconds * 1_000);
  const resident = residentBytes(pid);
  return {
    cpuPercent: ((cpuMs(pid) - before.cpu) / (performance.now() - before.at)) * 100,
    residentMb: resident / MEGABYTE,
    growthMb: (resident - before.resident) / MEGABYTE,
  };
}

/** SIGTERM, a new process, and then one journey after another that must go on in it. */
async function restart(
  site: Site,
  name: string,
  ids: readonly string[],
  at: WaitingOptions['at'],
  say: (text: string) => void,
) {
  await site.stopWorker(name);
  const beganAt = performance.now();
  const first = goOn(site, ids[0] ?? '', at);
  const worker = await site.startWorker(name);
  while (!(await fetch(worker.readyUrl).catch(() => undefined))?.ok) await delay(50);
  const readyS = (performance.now() - beganAt) / 1_000;
  say('ready again');
  await first;
  const firstS = (performance.now() - beganAt) / 1_000;
  const restarted: number[] = [];
  for (let index = 0; index < Math.min(ASKED_AFTER_RESTART, ids.length - 1); index++) {
    const askedAt = performance.now();
    await goOn(site, ids[1 + randomInt(ids.length - 1)] ?? '', at);
    restarted.push(performance.now() - askedAt);
  }
  return { readyS, firstS, restarted };
}

/** Resolves at the journey's end; a journey that has gone on before has ended already. */
async function goOn(site: Site, journeyId: string, at: WaitingOptions['at']): Promise<void> {
  const journey = site.journeys.get(journeyId);
  const handle = site.journeys.getSdkClient().workflow.getHandle(journey.workflowId);
  if ((await handle.describe()).status.name !== 'RUNNING') return;
  if (at === 'gate') {
    await journey.advance({ to: 'PREAPP' });
  } else {
    const consent = grant({ shareId: 'S1', applicantId: '1A', consentId: 'C-1', secondaryUser: SECONDARY_USER });
    // Without waiting: the signal stays in the history until a worker comes.
    await handle.signal('consent', { journeyId, ...consent });
  }
  await handle.result();
}

function pidOf(site: Site, name: string): number {
  return site.workers.get(name)?.program.pid ?? 0;
}
