/**
 * `npm run chaos -- --seed N --journeys J --minutes M [--engine SQLite|PostgreSQL] [--versions yes|no] [--endpoints yes|no] [--upgrade yes|no] [--api yes|no] [--plan file.json]`:
 * a storm of faults over real processes, then the promises, judged by what is left. The last line is
 * `chaos seed N: K checks passed, M failed`. Exits with 1 on any failure. Bounded in time; ends what it started.
 * With `--seeds 100..130` one storm after the other, each in a process of its own, in a line each.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startOwnedChild } from '../../src/local/child-process.ts';
import { makePlan, type Plan } from './plan.ts';
import { runPlan } from './run.ts';
import { runsOf } from './runs.ts';
import { describeRun, failuresOf, lastLine } from './say.ts';
import { settleLimitMs } from './settle.ts';

/** For the start and the end of the world, and for judging. */
const AROUND_MS = 5 * 60_000;
/** How long a stopped storm may take to put its world away. */
const STOP_GRACE_MS = 30_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    journeys: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '3' },
    engine: { type: 'string' },
    versions: { type: 'string' },
    endpoints: { type: 'string' },
    upgrade: { type: 'string' },
    api: { type: 'string' },
    plan: { type: 'string' },
    'keep-logs': { type: 'string' },
  },
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stop.abort(new Error('it was stopped')));
}
if (values.seeds !== undefined) process.exit(await runSeeds(values.seeds));
const plan = values.plan === undefined ? drawn() : (JSON.parse(await readFile(values.plan, 'utf8')) as Plan);
const startedAt = performance.now();
const say = (words: string) =>
  console.log(`${String(Math.round((performance.now() - startedAt) / 1_000)).padStart(4)} s  ${words}`);
console.log(`chaos seed ${plan.seed}`);
console.log(
  `${runsOf(plan).length} runs, ${plan.storm.length} faults in ${Math.round(plan.lengthMs / 1_000)} s; the world:\n` +
    JSON.stringify(plan.world),
);

const limitMs = limitOf(plan);
setTimeout(() => stop.abort(new Error('it took too long')), limitMs).unref();
// Ends a run that ignores its own limit. The programs that it started end with it.
setTimeout(() => process.exit(1), limitMs + AROUND_MS).unref();

try {
  const run = await runPlan(plan, {
    signal: stop.signal,
    onPhase: say,
    ...(values['keep-logs'] === undefined ? {} : { keepIn: values['keep-logs'] }),
  });
  console.log(describeRun(run).join('\n'));
  console.log(lastLine(plan.seed, run));
  process.exitCode = failuresOf(run).length > 0 ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.stack : error);
  console.log(`chaos seed ${plan.seed}: 0 checks passed, 1 failed`);
  process.exitCode = 1;
}
// Not left to the event loop: a handle that something forgot must not hang the run.
process.exit();

function limitOf(plan: Plan): number {
  return plan.lengthMs + settleLimitMs(plan) + AROUND_MS;
}

/** Seeds and ranges, with commas between them. Resolves with the exit code. */
async function runSeeds(listed: string): Promise<number> {
  const ranges = listed.split(',').map((part) => /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(part.trim()));
  if (ranges.includes(null) || values.seed !== undefined || values.plan !== undefined) {
    console.error('--seeds: such as 100..130 or 7,9; without --seed and --plan');
    return 2;
  }
  const failed: number[] = [];
  for (const range of ranges) {
    const [first, last] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])];
    for (let seed = first; seed <= last && !stop.signal.aborted; seed++) {
      if (!(await passes(seed))) failed.push(seed);
    }
  }
  console.log(failed.length > 0 ? `failed: ${failed.join(', ')}` : 'all seeds passed');
  return failed.length > 0 || stop.signal.aborted ? 1 : 0;
}

/** Runs a storm as a program, and prints its last line; of one that failed what failed first. */
async function passes(seed: number): Promise<boolean> {
  const { seeds: _, 'keep-logs': keepLogs, ...passed } = values;
  const keepIn = keepLogs === undefined ? undefined : join(keepLogs, String(seed));
  const options = { ...passed, seed: String(seed), ...(keepIn === undefined ? {} : { 'keep-logs': keepIn }) };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = await startOwnedChild(process.execPath, [fileURLToPath(import.meta.url), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // The storm ends itself before that, even where it ignores its own limit.
  const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(limitOf(drawn(seed)) + 2 * AROUND_MS)]);
  limit.addEventListener('abort', () => void child.stop(STOP_GRACE_MS), { once: true });
  const output = child.process.stdout ? await text(child.process.stdout) : '';
  const exitCode = await child.ended;
  if (keepIn !== undefined) {
    await mkdir(keepIn, { recursive: true });
    await writeFile(join(keepIn, 'output.txt'), output);
  }
  const lines = output.split('\n');
  const last = lines.findLast((line) => line.startsWith(`chaos seed ${seed}: `)) ?? `chaos seed ${seed}: no result`;
  const at = lines.findIndex((line) => /^\s+FAILED /.test(line));
  console.log([last, ...(at < 0 ? [] : lines.slice(at, at + 2))].join('\n'));
  return exitCode === 0;
}

function drawn(seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))): Plan {
  const [journeys, minutes] = [Number(values.journeys), Number(values.minutes)];
  const { engine } = values;
  const choices = Object.entries({
    versions: values.versions,
    endpoints: values.endpoints,
    upgrade: values.upgrade,
    api: values.api,
  }).filter(([, choice]) => choice !== undefined);
  const isEngine = engine === undefined || engine === 'SQLite' || engine === 'PostgreSQL';
  const areChoices = choices.every(([, choice]) => choice === 'yes' || choice === 'no');
  if (!Number.isSafeInteger(seed) || !(journeys >= 1) || !(minutes > 0) || !isEngine || !areChoices) {
    console.error(
      '--seed, --journeys, --minutes: numbers; --engine: SQLite, PostgreSQL; --versions, --endpoints, --upgrade, --api: yes, no',
    );
    process.exit(2);
  }
  return makePlan({
    ...{ seed, journeys, lengthMs: minutes * 60_000 },
    ...(engine === undefined ? {} : { engine }),
    ...Object.fromEntries(choices.map(([name, choice]) => [name, choice === 'yes'])),
  });
}
