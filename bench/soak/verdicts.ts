/** Decides whether a measure grows without bound. */
import { laterHalf, type Series, slope } from '../load/series.ts';

/** How a measure is judged, over the later half of the run: the first half is the warm-up. */
export type Judge =
  /** Steady: by the least-squares line it may grow by this share of its mean, or by `floor` where that is more. */
  | { kind: 'level'; mostShare: number; floor: number }
  /** Kept for every journey, and growing for ever: by no more for each than before, and by at most `mostEach`. */
  | { kind: 'perJourney'; mostEach: number; mostRatio: number }
  /** Not ours, or expected to grow: only shown. */
  | { kind: 'shown' };

export interface Verdict {
  isGood: boolean;
  text: string;
}

/** @param journeys how many had ended, at the same instants */
export function verdictOf(series: Series, judge: Judge, unit: string, journeys: Series): Verdict {
  switch (judge.kind) {
    case 'shown':
      return { isGood: true, text: 'shown, not judged' };
    case 'level':
      return levelVerdict(series, judge, unit);
    case 'perJourney':
      return perJourneyVerdict(series, judge, unit, journeys);
  }
}

function levelVerdict(series: Series, judge: Extract<Judge, { kind: 'level' }>, unit: string): Verdict {
  const later = laterHalf(series).filter(({ value }) => Number.isFinite(value));
  if (later.length < 3) return { isGood: false, text: 'not measured' };
  const mean = later.reduce((sum, { value }) => sum + value, 0) / later.length;
  const growth = slope(later) * ((later.at(-1)?.at ?? 0) - (later[0]?.at ?? 0));
  const most = Math.max(judge.floor, judge.mostShare * mean);
  const isGood = growth <= most;
  const said = `${signed(growth)} ${unit} over the later half, at most ${figure(most)}`;
  return { isGood, text: `${isGood ? 'steady' : 'GROWS'}: ${said}` };
}

function perJourneyVerdict(
  series: Series,
  judge: Extract<Judge, { kind: 'perJourney' }>,
  unit: string,
  journeys: Series,
): Verdict {
  // In the first quarter tables and logs are made that the rest writes into.
  const [before, after] = [each(series, journeys, 0.25, 0.6), each(series, journeys, 0.6, 1)];
  if (!Number.isFinite(before + after)) return { isGood: false, text: 'not measured' };
  const ratio = after / before;
  const isGood = after <= judge.mostEach && ratio <= judge.mostRatio;
  const said = `${figure(after)} ${unit} a journey (before: ${figure(before)}), at most ${judge.mostEach}`;
  return { isGood, text: `${isGood ? 'by journey' : 'GROWS'}: ${said}` };
}

/** The growth with each journey that ended between these shares of the run. */
function each(series: Series, journeys: Series, from: number, to: number): number {
  const until = series.at(-1)?.at ?? 0;
  const within = ({ at }: { at: number }) => at >= from * until && at <= to * until;
  return slope(series.filter(within)) / slope(journeys.filter(within));
}

function signed(value: number): string {
  return `${value >= 0 ? '+' : '−'}${figure(Math.abs(value))}`;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}
