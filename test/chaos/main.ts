/**
 * `npm run chaos -- --seed N --journeys J --minutes M [--engine SQLite|PostgreSQL] [--versions yes|no] [--endpoints yes|no] [--upgrade yes|no] [--api yes|no] [--plan file.json] [--shrink]`:
 * a storm of faults over real processes, then the promises, judged by what is left. The last line is
 * `chaos seed N: K checks passed, M failed`. Exits with 1 on any failure. Bounded in time; ends what it started.
 * With `--seeds 100..130` one storm after the other, in a line each.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSeeds, runSeeds, runStormProgram } from './many-seeds.ts';
import { otherRunsOf } from './other-runs.ts';
import { makePlan, type Plan } from './plan.ts';
import { runPlan } from './run.ts';
import { describeRun, failuresOf, lastLine } from './say.ts';
import { settleLimitMs } from './settle.ts';
import { shrink } from './shrink.ts';

/** For the start and the end of the world, and for judging. */
const AROUND_MS = 5 * 60_000;
const SHRINK_RUNS = 24;
const SHRINK_MINUTES = 30;

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
    shrink: { type: 'boolean', default: false },
  },
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stop.abort(new Error('it was stopped')));
}
if (values.seeds !== undefined) process.exit(await runAll(values.seeds));
const plan = values.plan === undefined ? drawn() : (JSON.parse(await readFile(values.plan, 'utf8')) as Plan);
const startedAt = performance.now();
const say = (text: string) =>
  console.log(`${String(Math.round((performance.now() - startedAt) / 1_000)).padStart(4)} s  ${text}`);
const { engine, workersAheadMs, sandboxAheadMs, notProcessedStatuses, handOverAfterEvents } = plan.world;
const { isVersioned, hasEndpoints, isUpgraded, isOnGatewayQueue, apiCopies, cachedRuns = [] } = plan.world;
console.log(`chaos seed ${plan.seed}`);
console.log(
  `${plan.journeys.length} journeys, ${otherRunsOf(plan).length} other runs, ${plan.storm.length} faults in ${Math.round(plan.lengthMs / 1_000)} s; ${engine}; ` +
    `workers ahead by ${workersAheadMs.map((ms) => ms / 1_000).join(', ')} s, sandbox by ${sandboxAheadMs / 1_000} s; ` +
    `not processed: ${notProcessedStatuses.join(', ') || 'nothing'}; ` +
    `${isVersioned ? 'versioned' : 'unversioned'} workers; ${hasEndpoints ? 'with' : 'without'} webhook endpoints; ` +
    `${isUpgraded ? 'upgraded; ' : ''}hand-over after ${handOverAfterEvents} events; ` +
    `caches of ${cachedRuns.map((runs) => runs ?? 'all').join(', ') || 'all'} runs; ` +
    `attempts on ${isOnGatewayQueue ? 'gateway queues' : 'the workflow queue'}; ` +
    `${apiCopies === undefined ? 'no API' : `half of the messages by ${apiCopies} copies of the API`}`,
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
  const failures = failuresOf(run);
  if (failures.length > 0 && values.shrink) {
    const file = `chaos-${plan.seed}.json`;
    await shrink(plan, { signal: stop.signal, mostRuns: SHRINK_RUNS, mostMinutes: SHRINK_MINUTES, file, say });
  }
  console.log(lastLine(plan.seed, run));
  process.exitCode = failures.length > 0 ? 1 : 0;
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

/** Resolves with the exit code. */
async function runAll(text: string): Promise<number> {
  const seeds = parseSeeds(text);
  if (!seeds || values.seed !== undefined || values.plan !== undefined || values.shrink) {
    console.error('--seeds: such as 100..130 or 7,9; without --seed, --plan and --shrink');
    return 2;
  }
  const { seeds: _, shrink: __, 'keep-logs': keepLogs, ...passed } = values;
  const program = fileURLToPath(import.meta.url);
  const options = Object.entries(passed).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return runSeeds(seeds, {
    signal: stop.signal,
    print: (line) => console.log(line),
    run: (seed) => {
      const keepIn = keepLogs === undefined ? undefined : join(keepLogs, String(seed));
      const args = [
        program,
        ...options,
        '--seed',
        String(seed),
        ...(keepIn === undefined ? [] : ['--keep-logs', keepIn]),
      ];
      // The storm ends itself before that, even where it ignores its own limit.
      const limitMs = limitOf(drawn(seed)) + 2 * AROUND_MS;
      return runStormProgram(args, { limitMs, signal: stop.signal, ...(keepIn === undefined ? {} : { keepIn }) });
    },
  });
}

function drawn(seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))): Plan {
  const [journeys, minutes] = [Number(values.journeys), Number(values.minutes)];
  const { engine, versions, endpoints, upgrade, api } = values;
  const isEngine = engine === undefined || engine === 'SQLite' || engine === 'PostgreSQL';
  const areChoices = [versions, endpoints, upgrade, api].every(
    (one) => one === undefined || one === 'yes' || one === 'no',
  );
  if (!Number.isSafeInteger(seed) || !(journeys >= 1) || !(minutes > 0) || !isEngine || !areChoices) {
    console.error(
      '--seed, --journeys, --minutes: numbers; --engine: SQLite, PostgreSQL; --versions, --endpoints, --upgrade, --api: yes, no',
    );
    process.exit(2);
  }
  return makePlan({
    ...{ seed, journeys, lengthMs: minutes * 60_000 },
    ...(engine === undefined ? {} : { engine }),
    ...(versions === undefined ? {} : { versions: versions === 'yes' }),
    ...(endpoints === undefined ? {} : { endpoints: endpoints === 'yes' }),
    ...(upgrade === undefined ? {} : { upgrade: upgrade === 'yes' }),
    ...(api === undefined ? {} : { api: api === 'yes' }),
  });
}
