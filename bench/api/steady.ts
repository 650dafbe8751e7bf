/** Reads and messages at a steady rate, whatever the answers take: times, refusals, memory and CPU of the API. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { httpCall } from '../../test/support/http-call.ts';
import { grant, manyAtOnce, person, prequal, waitingAtGate } from '../load/inputs.ts';
import { MemoryWatch, peak } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { type Part, plain } from '../overload/finding.ts';
import { cpuMs, residentBytes } from '../processes.ts';
import { quantile } from '../report.ts';
import { type BenchApi, callerToken } from './api-program.ts';

export interface SteadyOptions {
  perSecond: number;
  seconds: number;
  /** Journeys that the calls are about. */
  journeys: number;
  say(text: string): void;
}

const MEGABYTE = 1024 * 1024;
/** The API takes 100 a second of one caller. */
const CALLERS_PER_RATE = 50;
const ANSWER_WITHIN_MS = 30_000;

type Kind = 'status' | 'holds' | 'inquiries' | 'start' | 'consent' | 'share';

/** Of twenty calls, in this order. */
const MIX: readonly Kind[] = [
  ...(['status', 'status', 'holds', 'status', 'start', 'status', 'status', 'inquiries', 'status', 'consent'] as const),
  ...(['status', 'status', 'share', 'status', 'holds', 'status', 'status', 'start', 'status', 'status'] as const),
];
const OF_THE_LEDGER: readonly Kind[] = ['holds', 'inquiries'];
const MESSAGES: readonly Kind[] = ['start', 'consent', 'share'];

interface Answered {
  kind: Kind;
  ms: number;
  status: number;
}

export async function steady(site: Site, api: BenchApi, options: SteadyOptions): Promise<Part> {
  const { perSecond, seconds, journeys, say } = options;
  const ids = await waitingJourneys(site, api, journeys);
  say(`${journeys} journeys wait`);
  const callers = Math.max(1, Math.ceil(perSecond / CALLERS_PER_RATE));
  const tokens = await Promise.all(Array.from({ length: callers }, (_, nth) => callerToken(nth)));
  const { pid } = api.program;
  const memory = new MemoryWatch(() => new Map([['api', pid]]), 250);
  const before = { cpu: cpuMs(pid), residentMb: residentBytes(pid) / MEGABYTE, at: performance.now() };
  const calls = perSecond * seconds;
  const answers: Promise<Answered>[] = [];
  for (let nth = 0; nth < calls; nth++) {
    // An open loop: a slow answer keeps none of the others back.
    await delay(Math.max(0, before.at + (nth * 1_000) / perSecond - performance.now()));
    const kind = MIX[nth % MIX.length] as Kind;
    answers.push(timed(api, kind, { nth, journeyId: ids[nth % ids.length] ?? '', token: tokens[nth % callers] ?? '' }));
  }
  const sentS = (performance.now() - before.at) / 1_000;
  const all = await Promise.all(answers);
  const cpuPercent = ((cpuMs(pid) - before.cpu) / (performance.now() - before.at)) * 100;
  await memory.stop();
  const good = all.filter(({ status }) => status >= 200 && status < 400);
  const times = (of: (one: Answered) => boolean) => good.filter(of).map(({ ms }) => ms);
  const isMessage = ({ kind }: Answered) => MESSAGES.includes(kind);
  const lines = (what: string, of: (one: Answered) => boolean) =>
    [0.5, 0.95, 0.99].map((share) => plain(`${what}, p${share * 100}, ms`, quantile(times(of), share)));
  say(`refused or without an answer: ${JSON.stringify(countsOf(all.filter((one) => !good.includes(one))))}`);
  return {
    title: 'steady',
    run: `${perSecond} requests a second for ${seconds} s, four of five of them reads, about ${journeys} journeys; one worker`,
    findings: [
      plain('requests a second sent', calls / sentS),
      plain('answered with 2xx or 304', good.length),
      plain('answered otherwise, or not within 30 s', all.length - good.length),
      ...lines('reads of the ledger (holds, inquiries)', ({ kind }) => OF_THE_LEDGER.includes(kind)),
      ...lines('status, by the worker', ({ kind }) => kind === 'status'),
      ...lines('messages', isMessage),
      plain('API memory before, MB', before.residentMb),
      plain('API memory, highest, MB', peak(memory.series.get('api') ?? []) / MEGABYTE),
      plain('API CPU, % of a core', cpuPercent),
    ],
  };
}

/** How many answers of each kind and status; 0: none. */
function countsOf(answers: readonly Answered[]): Record<string, number> {
  const groups = Map.groupBy(answers, ({ kind, status }) => `${kind} ${status}`);
  return Object.fromEntries([...groups].map(([name, of]) => [name, of.length]));
}

/** Each waits for the consent of two. */
async function waitingJourneys(site: Site, api: BenchApi, count: number): Promise<string[]> {
  const ids = await manyAtOnce(count, 20, async () => (await site.journeys.start(awaitingConsents())).journeyId);
  const token = await callerToken(0);
  await manyAtOnce(count, 10, async (nth) => {
    const endsAt = performance.now() + 120_000;
    for (;;) {
      const { json } = await httpCall(`${api.url}/v1/journeys/${ids[nth]}`, { token });
      if (json?.state === 'waitingForConsent') return;
      if (performance.now() > endsAt) throw new Error(`a journey does not wait for consent: ${json?.state}`);
      await delay(500);
    }
  });
  return ids;
}

function awaitingConsents(): LendingJourneyInput {
  const applicants = [person('1A'), person('2A')];
  return prequal('EU123', { applicants, shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
}

interface About {
  nth: number;
  journeyId: string;
  token: string;
}

async function timed(api: BenchApi, kind: Kind, about: About): Promise<Answered> {
  const { route, body } = requestOf(kind, about);
  const beganAt = performance.now();
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const status = await httpCall(`${api.url}${route}`, { token: about.token, body, signal }).then(
    (answer) => answer.status,
    () => 0,
  );
  return { kind, ms: performance.now() - beganAt, status };
}

function requestOf(kind: Kind, { nth, journeyId }: About): { route: string; body?: object } {
  switch (kind) {
    case 'status':
      return { route: `/v1/journeys/${journeyId}` };
    case 'holds':
      return { route: '/v1/holds?limit=50' };
    case 'inquiries':
      return { route: '/v1/inquiries?limit=50' };
    case 'start':
      return { route: '/v1/journeys', body: waitingAtGate() };
    case 'share':
      // The same again and again: a duplicate, each time but the first.
      return { route: `/v1/journeys/${journeyId}/shares`, body: { share: { shareId: 'S2', endUserCode: 'EU998' } } };
    case 'consent': {
      const about = { journeyId, shareId: 'S1', applicantId: '1A', secondaryUser: { endUserCode: 'EU999' } };
      return { route: '/v1/consents', body: grant({ ...about, consentId: `C-${nth}` }) };
    }
  }
}
