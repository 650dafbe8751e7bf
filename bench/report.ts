/** From what was measured to what is said about it: medians over pairs, and ratios within each pair. */
import type { Contender } from './contenders.ts';
import type { HistorySize, Load, Waiting } from './measures.ts';
import type { Killed } from './worker-killed.ts';

type OfBoth<T> = Partial<Record<Contender['name'], T>>;

export interface Pair {
  load: OfBoth<Load>;
  /** Milliseconds of each journey, one at a time; a gateway that answers at once, and one that takes 50 ms. */
  fast: OfBoth<number[]>;
  slow: OfBoth<number[]>;
  killed: OfBoth<Killed>;
}

export interface Report {
  pairs: Pair[];
  histories?: Record<'bare' | 'automatic' | 'automaticShared' | 'manualShared', HistorySize>;
  memory?: Record<Contender['name'], Waiting>;
}

export interface Line {
  what: string;
  journey: number;
  bare?: number;
  /** `journey` to `bare`: the median of the pairs' own. */
  ratio?: number;
  goal?: string;
  isMet?: boolean;
}

const INQUIRIES = 3;
const MEGABYTE = 1024 * 1024;

export function summary({ pairs, histories, memory }: Report): Line[] {
  const lines = [...loadLines(pairs), ...latencyLines(pairs)];
  if (histories) lines.push(...historyLines(histories));
  if (memory) lines.push(...memoryLines(memory));
  if (pairs.some(({ killed }) => killed.journey)) lines.push(...killedLines(pairs));
  return lines;
}

function loadLines(pairs: Pair[]): Line[] {
  const cpu = ({ workerCpuMs, serverCpuMs }: Load) => workerCpuMs + serverCpuMs;
  const of = (what: string, value: (load: Load) => number) =>
    compared(pairs, what, ({ load }, name) => (load[name] ? value(load[name]) : undefined));
  const throughput = of('journeys per second, 200 at once', ({ journeysPerSecond }) => journeysPerSecond);
  const both = of('CPU per journey, worker and server, ms', cpu);
  return [
    { ...throughput, goal: 'at least 0.7 of bare', isMet: (throughput.ratio ?? 0) >= 0.7 },
    { ...both, goal: 'at most 1.4 of bare', isMet: (both.ratio ?? Number.POSITIVE_INFINITY) <= 1.4 },
    of('  of it the worker', ({ workerCpuMs }) => workerCpuMs),
    of('  of it the server', ({ serverCpuMs }) => serverCpuMs),
  ];
}

function latencyLines(pairs: Pair[]): Line[] {
  if (!pairs.some(({ fast }) => fast.journey)) return [];
  return (['fast', 'slow'] as const).flatMap((gateway) => {
    const answers = gateway === 'fast' ? 'answers at once' : 'takes 50 ms';
    const at = (share: number) =>
      compared(pairs, `p${share * 100} of one at a time, gateway ${answers}, ms`, (pair, name) => {
        const all = pair[gateway][name];
        return all ? quantile(all, share) : undefined;
      });
    const middle = at(0.5);
    const added = (middle.journey - (middle.bare ?? 0)) / INQUIRIES;
    const what = '  added per inquiry, ms';
    return [middle, at(0.95), { what, journey: added, goal: 'at most 12', isMet: added <= 12 }];
  });
}

function historyLines(histories: NonNullable<Report['histories']>): Line[] {
  const { bare, automatic, automaticShared, manualShared } = histories;
  const events = ({ events: count }: HistorySize) => count;
  return [
    { what: 'history events, automatic gates, no share', journey: events(automatic), bare: events(bare) },
    { what: '  bytes', journey: automatic.bytes, bare: bare.bytes },
    {
      what: 'history events, automatic gates, one share, two consents',
      journey: events(automaticShared),
      goal: 'at most 65',
      isMet: events(automaticShared) <= 65,
    },
    { what: '  bytes', journey: automaticShared.bytes },
    {
      what: 'history events, manual gates, one share, two consents',
      journey: events(manualShared),
      goal: 'at most 80',
      isMet: events(manualShared) <= 80,
    },
    { what: '  bytes', journey: manualShared.bytes },
  ];
}

function memoryLines({ journey, bare }: NonNullable<Report['memory']>): Line[] {
  const inMegabytes = (bytes: number) => bytes / MEGABYTE;
  return [
    {
      what: `worker memory, ${journey.journeys} waiting at a gate, MB`,
      journey: inMegabytes(journey.residentBytes),
      bare: inMegabytes(bare.residentBytes),
      ratio: journey.residentBytes / bare.residentBytes,
    },
    {
      what: '  before they were started, MB',
      journey: inMegabytes(journey.idleBytes),
      bare: inMegabytes(bare.idleBytes),
    },
  ];
}

function killedLines(pairs: Pair[]): Line[] {
  const of = (what: string, value: (killed: Killed) => number) =>
    compared(pairs, what, ({ killed }, name) => (killed[name] ? value(killed[name]) : undefined));
  const undecided = of('requests repeated without a decision', ({ repeated, resends }) => repeated - resends);
  const worst = Math.max(...pairs.map(({ killed: { journey } }) => (journey ? journey.repeated - journey.resends : 0)));
  return [
    of('worker killed in 100 journeys: seconds until all are done', ({ secondsToFinish }) => secondsToFinish),
    { ...undecided, goal: '0 in every pair', isMet: worst <= 0 },
    of('  repeated in all', ({ repeated }) => repeated),
    of('  holds that a person resolved', ({ holds }) => holds),
  ];
}

function compared(
  pairs: Pair[],
  what: string,
  value: (pair: Pair, name: Contender['name']) => number | undefined,
): Line {
  const both = pairs.flatMap((pair) => {
    const journey = value(pair, 'journey');
    const bare = value(pair, 'bare');
    return journey === undefined || bare === undefined ? [] : [{ journey, bare }];
  });
  return {
    what,
    journey: quantile(
      both.map(({ journey }) => journey),
      0.5,
    ),
    bare: quantile(
      both.map(({ bare }) => bare),
      0.5,
    ),
    ratio: quantile(
      both.map(({ journey, bare }) => journey / bare),
      0.5,
    ),
  };
}

/** Between the two nearest where it falls between them; `NaN` of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** For people. */
export function table(report: Report): string {
  const rows = summary(report).map(({ what, journey, bare, ratio, goal, isMet }) => [
    what,
    figure(journey),
    bare === undefined ? '' : figure(bare),
    ratio === undefined || !Number.isFinite(ratio) ? '' : ratio.toFixed(2),
    goal === undefined ? '' : `${goal}: ${isMet ? 'met' : 'MISSED'}`,
  ]);
  const all = [['', 'journey', 'bare', 'ratio', 'goal'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 || column === 4 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function figure(value: number): string {
  if (!Number.isFinite(value)) return '?';
  return Math.abs(value) >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}
