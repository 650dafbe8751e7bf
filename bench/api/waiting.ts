/** Thousands of callers that wait for the next status of some hundred runs: memory, requests to Temporal, and the time to answer all. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { httpCall } from '../../test/support/http-call.ts';
import { manyAtOnce, waitingAtGate } from '../load/inputs.ts';
import { MemoryWatch, peak } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { type Part, plain } from '../overload/finding.ts';
import { cpuMs, residentBytes } from '../processes.ts';
import { quantile } from '../report.ts';
import { type BenchApi, call, callerToken, difference, sumOf } from './api-program.ts';

export interface WaitingOptions {
  /** Callers that wait, over all runs. */
  polls: number;
  runs: number;
  quietSeconds: number;
  say(text: string): void;
}

const MEGABYTE = 1024 * 1024;
/** Of one caller the API takes 200 at once. */
const POLLS_OF_A_CALLER = 100;
const WAIT_SECONDS = 60;
const OPENED_AT_ONCE = 50;
const BETWEEN_OPENINGS_MS = 100;
const CHANGES_AT_ONCE = 50;
const FIRST_STATUS_WITHIN_MS = 300_000;
const CHANGED_WITHIN_MS = 240_000;
/** Beside the callers' own: files, Temporal, processes. */
const OTHER_DESCRIPTORS = 500;

interface Poll {
  status: number;
  answeredAt: number;
}

export async function waiting(site: Site, api: BenchApi, options: WaitingOptions): Promise<Part> {
  const { polls, runs, quietSeconds, say } = options;
  requireDescriptors(polls + OTHER_DESCRIPTORS);
  const ids = await manyAtOnce(
    runs,
    CHANGES_AT_ONCE,
    async () => (await site.journeys.start(waitingAtGate())).journeyId,
  );
  const callers = Math.ceil(polls / POLLS_OF_A_CALLER);
  const tokens = await Promise.all(Array.from({ length: callers }, (_, nth) => callerToken(nth)));
  const etags = await manyAtOnce(runs, 20, (nth) => settledEtag(api, ids[nth] ?? '', tokens[nth % callers] ?? ''));
  say(`${runs} runs wait at a gate`);
  const { pid } = api.program;
  const before = { residentMb: residentBytes(pid) / MEGABYTE, requests: await api.requests() };
  const memory = new MemoryWatch(() => new Map([['api', pid]]), 250);
  const openedAt = performance.now();
  const waits: Promise<Poll>[] = [];
  for (let nth = 0; nth < polls; nth++) {
    // All come from one address, which may send 200 at once until their tokens are checked.
    if (nth % OPENED_AT_ONCE === 0) await delay(BETWEEN_OPENINGS_MS);
    waits.push(poll(api, ids[nth % runs] ?? '', etags[nth % runs] ?? '', tokens[nth % callers] ?? ''));
  }
  const openedS = (performance.now() - openedAt) / 1_000;
  await delay(5_000);
  await quiet(api);
  const opened = { requests: await api.requests() };
  const openedMb = residentBytes(pid) / MEGABYTE;
  const cpuBefore = cpuMs(pid);
  say(`${polls} callers wait`);
  await delay(quietSeconds * 1_000);
  const cpuPercent = ((cpuMs(pid) - cpuBefore) / (quietSeconds * 1_000)) * 100;
  const calm = await api.requests();
  const changedAt = new Map<string, number>();
  const changesBeganAt = performance.now();
  await manyAtOnce(runs, CHANGES_AT_ONCE, async (nth) => {
    const journeyId = ids[nth] ?? '';
    await site.journeys.get(journeyId).requestShare({ share: { shareId: 'S1', endUserCode: 'EU999' } });
    changedAt.set(journeyId, performance.now());
  });
  const changesS = (performance.now() - changesBeganAt) / 1_000;
  const answers = await Promise.all(waits);
  const lastAt = Math.max(...answers.map(({ answeredAt }) => answeredAt));
  await delay(500);
  const done = await api.requests();
  await memory.stop();
  const good = answers.filter(({ status }) => status === 200);
  const lags = answers.flatMap(({ status, answeredAt }, nth) =>
    status === 200 ? [Math.max(0, answeredAt - (changedAt.get(ids[nth % runs] ?? '') ?? answeredAt))] : [],
  );
  say(`to begin: ${JSON.stringify(difference(opened.requests, before.requests))}`);
  say(`for the changes: ${JSON.stringify(difference(done, calm))}`);
  say(
    `answers: ${JSON.stringify(Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length])))}`,
  );
  const perRun = (after: Record<string, number>, from: Record<string, number>) => sumOf(difference(after, from)) / runs;
  return {
    title: 'waiting',
    run: `${polls} long polls over ${runs} runs, then a change of each run; one worker`,
    findings: [
      plain('seconds in which they came', openedS),
      plain('API memory before, MB', before.residentMb),
      plain('API memory with all of them, MB', openedMb),
      plain('API memory, highest, MB', peak(memory.series.get('api') ?? []) / MEGABYTE),
      plain(`API CPU while they wait (${quietSeconds} s), % of a core`, cpuPercent),
      plain('requests to Temporal per run, to begin', perRun(opened.requests, before.requests)),
      plain('  per run and minute while they wait', (perRun(calm, opened.requests) / quietSeconds) * 60),
      plain('  per run, for one change', perRun(done, calm)),
      plain('seconds for the changes, 50 at once', changesS),
      plain('seconds from the first change to the last answer', (lastAt - changesBeganAt) / 1_000),
      plain('answered with the change', good.length),
      plain('answered otherwise', answers.length - good.length),
      plain('after the change was acknowledged: p50, ms', quantile(lags, 0.5)),
      plain('  p95, ms', quantile(lags, 0.95)),
      plain('  p99, ms', quantile(lags, 0.99)),
    ],
  };
}

/** Each caller is a socket of this process and one of the API's. @throws Error where the machine gives too few */
function requireDescriptors(needed: number): void {
  const [, hard] = /^Max open files\s+\d+\s+(\d+)/m.exec(readLimits()) ?? [];
  if (hard === undefined || Number(hard) >= needed) return;
  throw new Error(`${needed} open files are needed, and the limit is ${hard}: raise \`ulimit -n\``);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Not Linux.
    return '';
  }
}

/** Of the status that will stand: its first activities are over. */
async function settledEtag(api: BenchApi, journeyId: string, token: string): Promise<string> {
  const endsAt = performance.now() + FIRST_STATUS_WITHIN_MS;
  for (;;) {
    const { json, headers } = await httpCall(`${api.url}/v1/journeys/${journeyId}`, { token });
    if (json?.state === 'waitingAtGate') return headers.get('etag') ?? '';
    if (performance.now() > endsAt) throw new Error(`a journey does not wait at its gate: ${json?.state}`);
    await delay(1_000);
  }
}

/** As callers do: again where nothing has changed within the time that one request may wait. */
async function poll(api: BenchApi, journeyId: string, etag: string, token: string): Promise<Poll> {
  const endsAt = performance.now() + CHANGED_WITHIN_MS;
  for (;;) {
    const answer = await pollOnce(api, journeyId, etag, token);
    if (![304, 429].includes(answer.status) || performance.now() > endsAt) return answer;
    // As Retry-After says.
    if (answer.status === 429) await delay(1_000);
  }
}

async function pollOnce(api: BenchApi, journeyId: string, etag: string, token: string): Promise<Poll> {
  const headers = { 'if-none-match': etag, prefer: `wait=${WAIT_SECONDS}` };
  const { status } = await call(api, `/v1/journeys/${journeyId}`, { token, headers }, [200, 304, 429, 503]).catch(
    () => ({ status: 0 }),
  );
  return { status, answeredAt: performance.now() };
}

/** Until it asks Temporal for nothing more. */
async function quiet(api: BenchApi): Promise<void> {
  let last = -1;
  for (;;) {
    const now = sumOf(await api.requests());
    if (now === last) return;
    last = now;
    await delay(1_000);
  }
}
