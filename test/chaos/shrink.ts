/** Delta debugging: the smallest part of a plan that still fails. */
import { writeFile } from 'node:fs/promises';
import { toRunKey } from '../../src/model/run-key.ts';
import { otherRunsOf } from './other-runs.ts';
import type { JourneyPlan, Plan, StormStep } from './plan.ts';
import type { OthersPlan } from './plan-others.ts';
import { runPlan } from './run.ts';
import { failuresOf } from './say.ts';

/** What may be left out. A journey takes its consents with it; a fault on a journey that is gone finds nothing. */
type Part = { journey: JourneyPlan } | { step: StormStep } | { runKey: string };

export interface Budget {
  mostRuns: number;
  endsAt: number;
  signal: AbortSignal;
}

/**
 * The smallest list found, in order, for which `fails`, by leaving out ever smaller chunks (Zeller's ddmin, complements
 * only). It never asks about the whole list, nor more often than the budget allows.
 */
export async function smallest<T>(
  whole: readonly T[],
  fails: (parts: readonly T[]) => Promise<boolean>,
  { mostRuns, endsAt, signal }: Budget,
): Promise<readonly T[]> {
  let kept = whole;
  let chunks = 2;
  let runs = 0;
  while (kept.length >= 2) {
    const size = Math.ceil(kept.length / chunks);
    let isSmaller = false;
    for (let start = 0; start < kept.length; start += size) {
      if (runs >= mostRuns || performance.now() > endsAt || signal.aborted) return kept;
      const rest = [...kept.slice(0, start), ...kept.slice(start + size)];
      if (rest.length === 0) continue;
      runs += 1;
      if (!(await fails(rest))) continue;
      kept = rest;
      chunks = Math.max(2, chunks - 1);
      isSmaller = true;
      break;
    }
    if (isSmaller) continue;
    if (size === 1) return kept;
    chunks = Math.min(kept.length, chunks * 2);
  }
  return kept;
}

export function partsOf(plan: Plan): Part[] {
  return [
    ...plan.storm.map((step) => ({ step })),
    ...otherRunsOf(plan).map(({ runKey }) => ({ runKey })),
    ...plan.journeys.map((journey) => ({ journey })),
  ];
}

/** The same world, seed and dates, with these parts alone. */
export function planOf(plan: Plan, parts: readonly Part[]): Plan {
  const owners = new Set(parts.map((part) => ('runKey' in part ? part.runKey : '')));
  const { others } = plan;
  return {
    ...plan,
    ...(others ? { others: ownedBy(others, owners) } : {}),
    storm: parts.flatMap((part) => ('step' in part ? [part.step] : [])),
    journeys: parts.flatMap((part) => ('journey' in part ? [part.journey] : [])),
  };
}

/** A share whose pull is gone goes with it. */
function ownedBy({ pulls, shares, reviews }: OthersPlan, owners: ReadonlySet<string>): OthersPlan {
  return {
    pulls: pulls.filter(({ pullId }) => owners.has(toRunKey('pull', pullId))),
    shares: shares.filter(
      ({ shareId, pullId }) => owners.has(toRunKey('share', shareId)) && owners.has(toRunKey('pull', pullId)),
    ),
    reviews: reviews.filter(({ reviewId }) => owners.has(toRunKey('portfolio', reviewId))),
  };
}

export interface ShrinkOptions {
  signal: AbortSignal;
  mostRuns: number;
  mostMinutes: number;
  /** Where the smallest plan so far is, for `--plan`. */
  file: string;
  say(text: string): void;
}

/** Writes each smaller plan that fails as soon as it is known. */
export async function shrink(plan: Plan, { signal, mostRuns, mostMinutes, file, say }: ShrinkOptions): Promise<Plan> {
  const keep = (smaller: Plan) => writeFile(file, `${JSON.stringify(smaller, null, 2)}\n`);
  await keep(plan);
  const fails = async (parts: readonly Part[]) => {
    const candidate = planOf(plan, parts);
    if (candidate.journeys.length === 0) return false;
    const failures = await runPlan(candidate, { signal }).then(failuresOf, (error) => [String(error)]);
    // A run that was stopped says nothing of its plan.
    if (signal.aborted) return false;
    say(`${candidate.journeys.length} journeys, ${candidate.storm.length} faults: ${failures[0] ?? 'no failure'}`);
    if (failures.length > 0) await keep(candidate);
    return failures.length > 0;
  };
  const endsAt = performance.now() + mostMinutes * 60_000;
  const parts = await smallest(partsOf(plan), fails, { mostRuns, endsAt, signal });
  const found = planOf(plan, parts);
  say(`smallest plan that fails: ${found.journeys.length} journeys, ${found.storm.length} faults, in ${file}`);
  return found;
}
