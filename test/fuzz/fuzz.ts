/** Runs the targets one after the other and tells what came of each. */
import type { Failure, Runnable } from './property.ts';
import { openTarget, type TargetName } from './targets.ts';
import { Watchdog } from './watchdog.ts';

export interface RunSettings {
  seed: number;
  /** Of all targets together. */
  cases: number;
  /** Of one case of `property`, as a failure names it. */
  path?: string;
}

export interface FuzzOptions extends RunSettings {
  targets: readonly TargetName[];
  /** This one alone. */
  property?: string;
  onLine: (line: string) => void;
}

export interface FuzzReport {
  cases: number;
  failures: Failure[];
  lines: string[];
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { cases: 0, failures: [], lines: [] };
  const cases = options.cases / options.targets.length;
  for (const name of options.targets) {
    const { properties, close } = await openTarget(name);
    try {
      const chosen = properties.filter((one) => options.property === undefined || one.name === options.property);
      const part = await fuzzReport(name, chosen, { ...options, cases }, options.onLine);
      report.cases += part.cases;
      report.failures.push(...part.failures);
      report.lines.push(...part.lines);
    } finally {
      await close?.();
    }
  }
  return report;
}

/** The properties of one target, each with its part of the cases. */
export async function fuzzReport(
  target: TargetName,
  properties: readonly Runnable[],
  settings: RunSettings,
  onLine: (line: string) => void = () => {},
): Promise<FuzzReport> {
  const report: FuzzReport = { cases: 0, failures: [], lines: [] };
  const weights = properties.reduce((sum, { weight }) => sum + weight, 0);
  const watchdog = new Watchdog();
  const say = (line: string) => {
    report.lines.push(line);
    onLine(line);
  };
  try {
    for (const one of properties) {
      const cases = Math.ceil((settings.cases * one.weight) / weights);
      await fuzzProperty(target, one, { ...settings, cases }, { report, say, watchdog });
    }
  } finally {
    await watchdog.stop();
  }
  return report;
}

async function fuzzProperty(
  target: TargetName,
  one: Runnable,
  settings: RunSettings,
  { report, say, watchdog }: { report: FuzzReport; say: (line: string) => void; watchdog: Watchdog },
): Promise<void> {
  const { seed } = settings;
  const repeat = (path: string) =>
    `npm run fuzz -- --seed ${seed} --only ${target} --property ${one.name} --path ${path}`;
  const startedMs = performance.now();
  const { cases, failure } = await one.run({ ...settings, onCase: (index) => watchdog.beat(repeat(String(index))) });
  report.cases += cases;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  say(`${target} ${one.name}: ${cases} cases in ${seconds} s${failure ? ', FAILED' : ''}`);
  if (!failure) return;
  report.failures.push(failure);
  say(`  seed ${seed}, case ${failure.index}; smallest case: ${failure.smallest}`);
  say(`  ${failure.error.split('\n').slice(0, 12).join('\n  ')}`);
  say(`  again: ${repeat(failure.path)}`);
}
