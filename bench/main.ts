/**
 * `npm run bench`: compares this journey with a bare Temporal workflow that makes the same calls, or with itself with
 * one thing changed. Both run on one development server, in interleaved pairs. Prints a table, or one JSON
 * document with `--json`. docs/performance.md says what it shows.
 */
import { BESIDE, type Contender } from './contenders.ts';
import { newJourneyId } from './load/inputs.ts';
import { historiesOf, latencies, load, sharedJourney, waiting } from './measures.ts';
import { ledgerEngine, oneOf, readOptions, whole } from './options.ts';
import { type Histories, type Pair, type Report, summary, table } from './report.ts';
import { type RunningServer, type Stage, startStage } from './stage.ts';
import { workerKilled } from './worker-killed.ts';

const USAGE = `npm run bench -- [--pairs N] [--journeys N] [--waiting N] [--quick] [--only PART] [--beside NAME] [--ledger postgres] [--server ADDRESS,PID] [--profile DIR] [--json]

  --pairs N      interleaved pairs (default 5)
  --journeys N   journeys of one load run (default 400, 200 of them at once)
  --waiting N    journeys that wait while memory is measured (default 1000)
  --quick        one pair, 100 journeys, 200 waiting
  --only PART    load: throughput and CPU; turns: one journey at a time; killed: a worker killed in the middle; waiting: memory, in pairs
  --beside NAME  bare: a bare workflow (default); or the journey itself, clear: with its payloads unencrypted;
                 gateway-queue: with all inquiries there; versioned: in a Worker Deployment
  --ledger NAME  sqlite (default) or postgres
  --server A,P   a Temporal server that runs already: its address and its process, for the CPU
  --profile DIR  CPU profiles of the workers, written there
  --json         one JSON document`;

const PARTS = ['load', 'turns', 'killed', 'waiting'] as const;

const AT_ONCE = 200;
const KILLED_JOURNEYS = 100;
const HISTORIES_OF_A_KIND = 7;
const SLOW_GATEWAY_MS = 50;

const options = readOptions(
  USAGE,
  {
    pairs: { type: 'string' },
    journeys: { type: 'string' },
    waiting: { type: 'string' },
    only: { type: 'string' },
    profile: { type: 'string' },
    beside: { type: 'string', default: 'bare' },
    ledger: { type: 'string', default: 'sqlite' },
    server: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  ({ quick, json, profile, server, ...values }) => {
    const only = values.only === undefined ? undefined : oneOf(PARTS, values.only, '--only');
    const beside = oneOf(BESIDE, values.beside, '--beside');
    if ((only === 'killed' || only === 'waiting') && beside !== 'bare')
      throw new Error(`--only ${only} is measured beside bare`);
    return {
      pairs: whole(values.pairs, quick ? 1 : 5),
      journeys: whole(values.journeys, quick ? 100 : 400),
      waiting: whole(values.waiting, quick ? 200 : 1_000),
      rounds: quick ? 10 : 30,
      only,
      json,
      beside,
      ledger: ledgerEngine(values.ledger),
      ...(server === undefined ? {} : { server: runningServer(server) }),
      ...(profile === undefined ? {} : { profileDir: profile }),
    };
  },
);
const say = (text: string) => {
  if (!options.json) console.error(text);
};

const stage = await startStage(options);
const report: Report = { beside: options.beside, pairs: [] };
try {
  await measure(stage, report);
} catch (error) {
  // What was measured is told all the same; calls in progress fail while everything closes.
  console.error(error);
  process.on('unhandledRejection', () => {});
  process.on('uncaughtException', () => {});
  process.exitCode = 1;
} finally {
  await stage.close();
}
console.log(options.json ? JSON.stringify({ ...report, summary: summary(report) }, null, 2) : table(report));

function runningServer(text: string): RunningServer {
  const [address = '', pid] = text.split(',');
  return { address, pid: whole(pid, 0), namespace: 'default' };
}

async function measure(on: Stage, into: Report): Promise<void> {
  say('warming up');
  for (const contender of on.contenders) await load(on, contender, 40, 20);
  for (let index = 0; index < options.pairs; index++) {
    say(`pair ${index + 1} of ${options.pairs}`);
    // Each contender goes first every other time.
    into.pairs.push(await measurePair(on, index % 2 === 0 ? on.contenders : [...on.contenders].reverse()));
  }
  const { beside } = options;
  if (options.only) return;
  say('histories');
  const histories: Histories = {};
  for (const contender of on.contenders) histories[contender.name] = await historySizes(contender);
  // Payloads are decoded before the run keeps them: encryption leaves nothing in the memory of a waiting run.
  into.histories = histories;
  if (beside !== 'bare') return;
  say(`${options.waiting} waiting`);
  into.pairs[0] = { ...(into.pairs[0] ?? noPair()), memory: await memoryOf(on, on.contenders) };
}

async function memoryOf(on: Stage, order: Contender[]): Promise<Pair['memory']> {
  const memory: Pair['memory'] = {};
  for (const contender of order) memory[contender.name] = await waiting(on, contender, options.waiting);
  return memory;
}

function noPair(): Pair {
  return { load: {}, fast: {}, slow: {}, killed: {}, memory: {} };
}

async function measurePair(on: Stage, order: Contender[]): Promise<Pair> {
  const pair = noPair();
  if (options.only === 'waiting') return { ...pair, memory: await memoryOf(on, order) };
  if (options.only === 'killed') return { ...pair, killed: await killedOf(on, order) };
  if (options.only === 'turns') return { ...pair, ...(await turnsOf(on, order)) };
  for (const contender of order) {
    pair.load[contender.name] = await load(on, contender, options.journeys, AT_ONCE);
    await on.forget();
  }
  if (options.only) return pair;
  Object.assign(pair, await turnsOf(on, order));
  if (options.beside !== 'bare') return pair;
  return { ...pair, killed: await killedOf(on, order) };
}

async function turnsOf(on: Stage, order: Contender[]): Promise<Pick<Pair, 'fast' | 'slow'>> {
  const fast = Object.fromEntries(await latencies(order, options.rounds));
  await on.setLatency(SLOW_GATEWAY_MS);
  const slow = Object.fromEntries(await latencies(order, options.rounds));
  await on.setLatency(0);
  return { fast, slow };
}

async function killedOf(on: Stage, order: Contender[]): Promise<Pair['killed']> {
  const killed: Pair['killed'] = {};
  for (const contender of order) killed[contender.name] = await workerKilled(on, contender, KILLED_JOURNEYS);
  return killed;
}

/** Finished journeys of each kind; the bare one has neither gates nor shares. */
async function historySizes(contender: Contender): Promise<NonNullable<Histories[Contender['name']]>> {
  const automatic = await historiesOf(HISTORIES_OF_A_KIND, () => contender.start(newJourneyId()));
  if (contender.name === 'bare') return { automatic };
  return {
    automatic,
    automaticShared: await historiesOf(HISTORIES_OF_A_KIND, () => sharedJourney(contender, 'auto')),
    manualShared: await historiesOf(HISTORIES_OF_A_KIND, () => sharedJourney(contender, 'manual')),
  };
}
