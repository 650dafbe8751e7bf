/** A refused read of another's run beside one of an id that nobody has: one at a time, in turn. A second id that nobody has shows the spread. */
import { setTimeout as sleep } from 'node:timers/promises';
import { denial, prequal } from '../load/inputs.ts';
import { median } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import type { Finding, Part } from '../overload/finding.ts';
import { spreadOver } from '../report.ts';
import { type BenchApi, call, callerToken } from './api-program.ts';

export interface ForeignOptions {
  pairs: number;
  /** Of each contender in a pair. */
  rounds: number;
  say(text: string): void;
}

const CONTENDERS = ['foreign', 'unknown', 'alsoUnknown'] as const;
type Contender = (typeof CONTENDERS)[number];
type Names = Record<Contender, string>;

const WARM_UP = 30;
/** The API takes 100 a second of one caller. */
const CALLERS = 12;
const READS_WITHIN_MS = 30_000;

export async function foreign(site: Site, api: BenchApi, { pairs, rounds, say }: ForeignOptions): Promise<Part> {
  const mine = await Promise.all(
    Array.from({ length: CALLERS }, (_, nth) => callerToken(nth, { endUsers: ['EUMINE'], profiles: ['default'] })),
  );
  const [ofAll, run] = await Promise.all([callerToken(CALLERS), site.journeys.start(prequal('EUOTHER'))]);
  const { journeyId } = run;
  const trace = await readTraceNumber(api, ofAll, journeyId);
  const journeys: Names = { foreign: journeyId, unknown: 'UNKNOWN-1', alsoUnknown: 'UNKNOWN-2' };
  const traces: Names = { foreign: trace, unknown: 'PQ'.padEnd(28, 'A'), alsoUnknown: 'PQ'.padEnd(28, 'B') };
  const kinds: [what: string, read: (which: Contender) => [path: string, body?: object]][] = [
    ['a journey', (which) => [`/v1/journeys/${journeys[which]}`]],
    ['a report of it', (which) => [`/v1/runs/${journeys[which]}/reports/PREQUAL`]],
    ['a refusal’s text', (which) => [`/v1/inquiries/${traces[which]}/attempts/1/refusal`]],
    ['a consent', (which) => ['/v1/consents', denial(journeys[which], 'C-1')]],
  ];
  const findings: Finding[] = [];
  for (const [what, read] of kinds) {
    say(what);
    const ask = async (which: Contender, round: number) => {
      const [path, body] = read(which);
      await call(api, path, { token: mine[round % CALLERS], body }, [404]);
    };
    for (let round = 0; round < WARM_UP; round++) for (const which of CONTENDERS) await ask(which, round);
    const medians: Record<Contender, number>[] = [];
    for (let pair = 0; pair < pairs; pair++) medians.push(await timePair(rounds, ask));
    const show = (figures: readonly number[]) => {
      const [least, most] = spreadOver(figures);
      return `${median(figures).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
    };
    const less = (one: Contender, other: Contender) => medians.map((each) => each[one] - each[other]);
    findings.push(
      { what: `${what}: nobody’s id, ms`, figure: show(medians.map(({ unknown }) => unknown)) },
      { what: '  another’s takes longer by, ms', figure: show(less('foreign', 'unknown')) },
      { what: '  a second id that nobody has, ms', figure: show(less('alsoUnknown', 'unknown')) },
    );
  }
  return {
    title: 'foreign',
    run: `${pairs} rounds of ${rounds} refused reads of each, one at a time, in turn; the median of each round, its least and most`,
    findings,
  };
}

async function timePair(
  rounds: number,
  ask: (which: Contender, round: number) => Promise<void>,
): Promise<Record<Contender, number>> {
  const took: Record<Contender, number[]> = { foreign: [], unknown: [], alsoUnknown: [] };
  for (let round = 0; round < rounds; round++) {
    // Each goes first in its turn.
    for (let nth = 0; nth < CONTENDERS.length; nth++) {
      const which = CONTENDERS[(round + nth) % CONTENDERS.length] as Contender;
      const beganAt = performance.now();
      await ask(which, round);
      took[which].push(performance.now() - beganAt);
    }
  }
  return { foreign: median(took.foreign), unknown: median(took.unknown), alsoUnknown: median(took.alsoUnknown) };
}

async function readTraceNumber(api: BenchApi, token: string, runKey: string): Promise<string> {
  const endsAt = performance.now() + READS_WITHIN_MS;
  while (performance.now() < endsAt) {
    const { json } = await call(api, `/v1/inquiries?runKey=${runKey}`, { token });
    const trace = json.data[0]?.customerTraceNumber;
    if (typeof trace === 'string') return trace;
    await sleep(100);
  }
  throw new Error('no inquiry is in the ledger: does the worker run?');
}
