/** Turns measurements into statements: medians over pairs with their spread, and ratios within each pair. */
import type { Beside, Contender } from './contenders.ts';
import type { HistorySize, Load, Waiting } from './measures.ts';
import type { Killed } from './worker-killed.ts';

type OfBoth<T> = Partial<Record<Contender['name'], T>>;

export interface Pair {
  load: OfBoth<Load>;
  /**
   * Milliseconds of each journey, one at a time: with a gateway that answers at once, and with one that takes 50 ms.
   */
  fast: OfBoth<number[]>;
  slow: OfBoth<number[]>;
  killed: OfBoth<Killed>;
  memory: OfBoth<Waiting>;
}

export type Histories = OfBoth<Partial<Record<(typeof HISTORIES)[number]['kind'], HistorySize>>>;

export interface Report {
  beside: Beside;
  pairs: Pair[];
  histories?: Histories;
}

export type Spread = readonly [least: number, most: number];

export interface Line {
  what: string;
  journey: number;
  beside?: number;
  /** `journey` divided by its baseline: the median of the pairs' own ratios. */
  ratio?: number;
  /** The least and the most of all pairs. `null`: one pair alone has the figure. */
  spread?: Record<'journey' | 'beside' | 'ratio', Spread> | null;
  goal?: string;
  isMet?: boolean;
}

const HISTORIES = [
  { kind: 'automatic', what: 'automatic gates, no share' },
  { kind: 'automaticShared', what: 'automatic gates, one share, two consents', mostEvents: 45 },
  { kind: 'manualShared', what: 'manual gates, one share, two consents' },
] as const;
const MEGABYTE = 1024 * 1024;

/** Ratios to the baseline: at least so much throughput, at most so much of all else. */
interface Goals {
  throughput?: number;
  cpu?: number;
  fast?: number;
  slow?: number;
  memory?: number;
  killed?: number;
}

const GOALS: Record<Beside, Goals> = {
  bare: { throughput: 0.85, cpu: 1.25, fast: 1.3, slow: 1.1, memory: 1.25, killed: 1.5 },
  clear: { throughput: 0.9 },
  'gateway-queue': {},
  versioned: {},
};

/** The line with the goal for its ratio, where there is one. */
function held(line: Line, { beside }: Report, name: keyof Goals): Line {
  const figure = GOALS[beside][name];
  if (figure === undefined) return line;
  const { ratio = Number.NaN } = line;
  const isLeast = name === 'throughput';
  const goal = `at ${isLeast ? 'least' : 'most'} ${figure} of ${beside}`;
  return { ...line, goal, isMet: isLeast ? ratio >= figure : ratio <= figure };
}

export function summary(report: Report): Line[] {
  return [
    ...loadLines(report),
    ...latencyLines(report),
    ...historyLines(report),
    ...memoryLines(report),
    ...killedLines(report),
  ];
}

function loadLines(report: Report): Line[] {
  if (!report.pairs.some(({ load }) => load.journey)) return [];
  const cpu = ({ workerCpuMs, serverCpuMs }: Load) => workerCpuMs + serverCpuMs;
  const of = (what: string, value: (load: Load) => number) =>
    compared(report, what, ({ load }, name) => (load[name] ? value(load[name]) : undefined));
  return [
    held(
      of('journeys per second, 200 at once', ({ journeysPerSecond }) => journeysPerSecond),
      report,
      'throughput',
    ),
    held(of('CPU per journey, worker and server, ms', cpu), report, 'cpu'),
    of('  of it the worker', ({ workerCpuMs }) => workerCpuMs),
    of('  of it the server', ({ serverCpuMs }) => serverCpuMs),
  ];
}

function latencyLines(report: Report): Line[] {
  if (!report.pairs.some(({ fast }) => fast.journey)) return [];
  return (['fast', 'slow'] as const).flatMap((gateway) => {
    const answers = gateway === 'fast' ? 'answers at once' : 'takes 50 ms';
    const at = (share: number) =>
      compared(report, `p${share * 100} of one at a time, gateway ${answers}, ms`, (pair, name) => {
        const all = pair[gateway][name];
        return all ? quantile(all, share) : undefined;
      });
    return [held(at(0.5), report, gateway), at(0.95)];
  });
}

function historyLines({ beside, histories }: Report): Line[] {
  if (!histories) return [];
  return HISTORIES.flatMap(({ kind, what, ...goal }) => {
    const ours = histories.journey?.[kind];
    const theirs = histories[beside]?.[kind];
    if (!ours) return [];
    const of = (what: string, value: (size: HistorySize) => number, more: Partial<Line> = {}): Line => ({
      what,
      journey: value(ours),
      ...(theirs ? { beside: value(theirs) } : {}),
      ...more,
    });
    const most = 'mostEvents' in goal ? goal.mostEvents : undefined;
    const ratio = theirs ? { ratio: ours.bytes / theirs.bytes } : {};
    const fewer = theirs && beside === 'clear' ? { goal: 'fewer than clear', isMet: ours.bytes < theirs.bytes } : {};
    return [
      of(
        `history events, ${what}`,
        ({ events }) => events,
        most === undefined ? {} : { goal: `at most ${most}`, isMet: ours.events <= most },
      ),
      of('  the longest, by when activities ended', ({ mostEvents }) => mostEvents),
      of('  activities', ({ activities }) => activities),
      of('  bytes', ({ bytes }) => bytes, { ...ratio, ...fewer }),
    ];
  });
}

function memoryLines(report: Report): Line[] {
  const measured = report.pairs.flatMap(({ memory }) => memory.journey ?? [])[0];
  if (!measured) return [];
  const of = (what: string, value: (waiting: Waiting) => number) =>
    compared(report, what, ({ memory }, name) => (memory[name] ? value(memory[name]) / MEGABYTE : undefined));
  return [
    held(
      of(`worker memory, ${measured.journeys} waiting at a gate, MB`, ({ residentBytes }) => residentBytes),
      report,
      'memory',
    ),
    of('  before they were started, MB', ({ idleBytes }) => idleBytes),
  ];
}

function killedLines(report: Report): Line[] {
  const killed = report.pairs.flatMap((pair) => pair.killed.journey ?? []);
  if (killed.length === 0) return [];
  const of = (what: string, value: (killed: Killed) => number) =>
    compared(report, what, (pair, name) => (pair.killed[name] ? value(pair.killed[name]) : undefined));
  const undecided = of('requests repeated without a decision', ({ repeated, resends }) => repeated - resends);
  const worst = Math.max(...killed.map(({ repeated, resends }) => repeated - resends));
  return [
    held(
      of('worker killed in 100 journeys: seconds until done, holds aside', ({ secondsToFinish }) => secondsToFinish),
      report,
      'killed',
    ),
    of('  until another worker was ready', ({ secondsToReady }) => secondsToReady),
    of('  with those that a person was asked about', ({ secondsWithHolds }) => secondsWithHolds),
    { ...undecided, goal: '0 in every pair', isMet: worst <= 0 },
    of('  repeated in all', ({ repeated }) => repeated),
    of('  holds that a person resolved', ({ holds }) => holds),
  ];
}

function compared(
  { beside, pairs }: Report,
  what: string,
  value: (pair: Pair, name: Contender['name']) => number | undefined,
): Line {
  const both = pairs.flatMap((pair) => {
    const ours = value(pair, 'journey');
    const theirs = value(pair, beside);
    return ours === undefined || theirs === undefined ? [] : [{ ours, theirs, ratio: ours / theirs }];
  });
  const ours = both.map((pair) => pair.ours);
  const theirs = both.map((pair) => pair.theirs);
  const ratios = both.map((pair) => pair.ratio);
  return {
    what,
    journey: quantile(ours, 0.5),
    beside: quantile(theirs, 0.5),
    ratio: quantile(ratios, 0.5),
    spread:
      both.length > 1 ? { journey: spreadOver(ours), beside: spreadOver(theirs), ratio: spreadOver(ratios) } : null,
  };
}

export function spreadOver(values: readonly number[]): Spread {
  return [Math.min(...values), Math.max(...values)];
}

/** Interpolates between the two nearest values; `NaN` for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** The report for people. */
export function table(report: Report): string {
  const rows = summary(report).map(({ what, journey, beside, ratio, spread, goal, isMet }) => [
    what,
    cell(journey, spread?.journey, figure),
    beside === undefined ? '' : cell(beside, spread?.beside, figure),
    ratio === undefined || !Number.isFinite(ratio) ? '' : cell(ratio, spread?.ratio, (value) => value.toFixed(2)),
    goal === undefined ? '' : `${goal}: ${isMet ? 'met' : 'MISSED'}`,
  ]);
  const all = [['', 'journey', report.beside, 'ratio', 'goal'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map((row) =>
    row
      .map((text, column) =>
        column === 0 || column === 4 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [...lines, 'medians (least–most of all pairs); a figure without was measured once'].join('\n');
}

function cell(value: number, spread: Spread | undefined, format: (value: number) => string): string {
  return spread ? `${format(value)} (${spread.map(format).join('–')})` : format(value);
}

function figure(value: number): string {
  if (!Number.isFinite(value)) return '?';
  return Math.abs(value) >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}
