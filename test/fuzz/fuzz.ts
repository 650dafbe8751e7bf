/** Runs the targets one after the other and tells what came of each. */

import type { Failure, Runnable } from './property.ts';
import { openTarget, type TargetName } from './targets.ts';
import { Watchdog } from './watchdog.ts';

export interface FuzzOptions {
  seed: number;
  /** Of all targets together. */
  cases: number;
  targets: readonly TargetName[];
  /** This one alone. */
  property?: string;
  /** Of one case of `property`, as a failure names it. */
  path?: string;
  onLine: (line: string) => void;
}

export interface FuzzReport {
  cases: number;
  failures: Failure[];
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { cases: 0, failures: [] };
  const watchdog = new Watchdog();
  try {
    for (const name of options.targets) await fuzzTarget(name, options, report, watchdog);
  } finally {
    await watchdog.stop();
  }
  return report;
}

async function fuzzTarget(
  name: TargetName,
  options: FuzzOptions,
  report: FuzzReport,
  watchdog: Watchdog,
): Promise<void> {
  const { properties, close } = await openTarget(name);
  try {
    const chosen = properties.filter((one) => options.property === undefined || one.name === options.property);
    const weights = chosen.reduce((sum, { weight }) => sum + weight, 0);
    for (const one of chosen) {
      const cases = Math.max(1, Math.round((options.cases / options.targets.length) * (one.weight / weights)));
      await fuzzProperty(name, one, { ...options, cases }, report, watchdog);
    }
  } finally {
    await close?.();
  }
}

async function fuzzProperty(
  target: TargetName,
  one: Runnable,
  { seed, cases, path, onLine }: FuzzOptions,
  report: FuzzReport,
  watchdog: Watchdog,
): Promise<void> {
  const startedMs = performance.now();
  const repeat = (where: string) =>
    `npm run fuzz -- --seed ${seed} --only ${target} --property ${one.name} --path ${where}`;
  const outcome = await one.run({
    seed,
    cases,
    ...(path === undefined ? {} : { path }),
    onCase: (index) => watchdog.beat(repeat(String(index))),
  });
  report.cases += outcome.cases;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  onLine(`${target} ${one.name}: ${outcome.cases} cases in ${seconds} s${outcome.failure ? ', FAILED' : ''}`);
  if (!outcome.failure) return;
  report.failures.push(outcome.failure);
  const { index, smallest, error } = outcome.failure;
  onLine(`  seed ${seed}, case ${index}; smallest case: ${smallest}`);
  onLine(`  ${error.split('\n').slice(0, 12).join('\n  ')}`);
  onLine(`  again: ${repeat(outcome.failure.path)}`);
}
