/**
 * `npm run portfolio-bench`: a made-up portfolio of so many rows, by one worker, on a development server. Prints the
 * speed, and whether memory and histories stay constant. docs/performance.md says what it shows.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { PortfolioProgress, PortfolioResult } from '../src/messages/portfolio/shapes.ts';
import { newJourneyId } from './load/inputs.ts';
import { writePortfolio } from './load/portfolio-file.ts';
import { type Site, startSite } from './load/site.ts';
import { readOptions, whole } from './options.ts';
import { cpuMs, residentBytes } from './processes.ts';

const USAGE = `npm run portfolio-bench -- [--rows N] [--window N] [--connections N] [--profile DIR] [--stack-trace-limit N] [--json]

  --rows N         rows of the portfolio (default 10000)
  --window N       rows under way at once (default 100)
  --connections N  connections to the gateway (default 50)
  --stack-trace-limit N
                   of the worker: the SDK takes a stack for each promise of a workflow (docs/performance.md)
  --profile DIR    a CPU profile of the worker, written there
  --json           one JSON document`;

const MEGABYTE = 1024 * 1024;
const SAMPLE_EVERY_MS = 2_000;

interface Sample {
  seconds: number;
  done: number;
  workerMegabytes: number;
}

interface Options {
  rows: number;
  window: number;
  connections: number;
  profileDir?: string;
  stackTraceLimit?: number;
}

async function measure({ rows, window, connections, profileDir, stackTraceLimit }: Options) {
  const site = await startSite({ ledger: 'sqlite', env: { GATEWAY_CONNECTIONS: String(connections) } });
  try {
    const flags = [
      ...(profileDir === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir]),
      ...(stackTraceLimit === undefined ? [] : [`--stack-trace-limit=${stackTraceLimit}`]),
    ];
    await site.startWorker('worker', flags);
    return { rows, window, connections, ...(await review(site, rows, window)) };
  } finally {
    await site.close();
  }
}

async function review(site: Site, rows: number, window: number) {
  const file = 'portfolio.csv';
  await writePortfolio(join(site.portfolioDir, 'default/EU123', file), rows);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 100) / 10;
  const order = { file, endUserCode: 'EU123', permissiblePurposeCode: '01', window };
  const started = await site.journeys.start({ reviewId: newJourneyId(), ...order });
  const client = site.journeys.getSdkClient();
  const handle = client.workflow.getHandle(started.workflowId);
  const samples: Sample[] = [];
  let sampled: Promise<void> = Promise.resolve();
  const sample = async () => {
    const workerMegabytes = Math.round(residentBytes(site.processes().get('worker') ?? 0) / MEGABYTE);
    const progress = await handle.query<PortfolioProgress>('progress').catch(() => undefined);
    samples.push({ seconds: seconds(), done: progress?.done ?? samples.at(-1)?.done ?? 0, workerMegabytes });
    if (process.stderr.isTTY || samples.length % 15 === 0) process.stderr.write(`${JSON.stringify(samples.at(-1))}\n`);
  };
  const sampling = setInterval(() => {
    sampled = sampled.then(sample);
  }, SAMPLE_EVERY_MS);
  const result = (await handle.result().finally(() => clearInterval(sampling))) as PortfolioResult;
  const took = seconds();
  await sampled;
  const cpu = [...site.processes()].map(([name, pid]) => [name, Math.round((100 * cpuMs(pid)) / rows) / 100]);
  const lines = (await readFile(join(site.portfolioDir, result.resultFile), 'utf8')).split('\n').length - 1;
  if (lines !== rows || result.record !== rows) throw new Error(`${lines} results of ${rows} rows`);
  const runs = await historiesOf(client, handle.workflowId);
  return {
    seconds: took,
    rowsPerSecond: Math.round((10 * rows) / took) / 10,
    cpuMsPerRow: Object.fromEntries(cpu) as Record<string, number>,
    memory: thinned(samples),
    runs: runs.length,
    longestHistoryEvents: Math.max(...runs.map(({ events }) => events)),
    largestHistoryBytes: Math.max(...runs.map(({ bytes }) => bytes)),
    ledgerBytesPerRow: Math.round((await site.ledgerBytes()) / rows),
  };
}

/** Every run of the review. Visibility may not know yet what has closed a moment ago. */
async function historiesOf(client: Client, workflowId: string) {
  const runs: { events: number; bytes: number }[] = [];
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    runs.push({ events: run.historyLength, bytes: run.historySize ?? Number.NaN });
  }
  return runs;
}

/** Some twenty of the samples. */
function thinned(samples: readonly Sample[]): Sample[] {
  const step = Math.max(1, Math.ceil(samples.length / 20));
  return samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
}

function textOf({ memory, cpuMsPerRow, ...figures }: Awaited<ReturnType<typeof measure>>): string {
  return [
    ...Object.entries(figures).map(([name, value]) => `${name}  ${value}`),
    `CPU ms a row  ${Object.entries(cpuMsPerRow)
      .map(([name, ms]) => `${name} ${ms}`)
      .join(', ')}`,
    'seconds  done  worker MB',
    ...memory.map(({ seconds, done, workerMegabytes }) => `${seconds}  ${done}  ${workerMegabytes}`),
  ].join('\n');
}

const {
  json,
  profile,
  'stack-trace-limit': stackTraceLimit,
  ...sizes
} = readOptions(
  USAGE,
  {
    rows: { type: 'string' },
    window: { type: 'string' },
    connections: { type: 'string' },
    profile: { type: 'string' },
    'stack-trace-limit': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
  ({ rows, window, connections, ...values }) => ({
    ...values,
    rows: whole(rows, 10_000),
    window: whole(window, 100),
    connections: whole(connections, 50),
  }),
);
const report = await measure({
  ...sizes,
  ...(profile === undefined ? {} : { profileDir: profile }),
  ...(stackTraceLimit === undefined ? {} : { stackTraceLimit: Number(stackTraceLimit) }),
});
console.log(json ? JSON.stringify(report, null, 2) : textOf(report));
