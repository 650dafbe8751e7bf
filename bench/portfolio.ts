/**
 * `npm run portfolio-bench`: a made-up portfolio of so many rows, by one worker, on a development server. Prints the
 * speed, and whether memory and histories stay constant. docs/performance.md says what it shows.
 */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { startTemporalServer } from '../src/local/temporal/temporal-server.ts';
import type { PortfolioProgress, PortfolioResult } from '../src/messages/portfolio/shapes.ts';
import { createKeyRing } from '../src/protection/keys/key-ring.ts';
import { createDataConverter, FAILURE_CONVERTER_PATH } from '../src/protection/payloads/data-converter.ts';
import { BUNDLE_OPTIONS } from '../src/worker/workflow-source.ts';
import { writePortfolio } from './load/portfolio-file.ts';
import { cpuMs, residentBytes, startProgram } from './processes.ts';

const USAGE = `npm run portfolio-bench -- [--rows N] [--window N] [--connections N] [--profile DIR] [--stack-trace-limit N] [--json]

  --rows N         rows of the portfolio (default 10000)
  --window N       rows under way at once (default 100)
  --connections N  connections to the gateway (default 50)
  --stack-trace-limit N
                   of the worker: the SDK takes a stack for each promise of a workflow (docs/performance.md)
  --profile DIR    a CPU profile of the worker, written there
  --json           one JSON document`;

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
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
  await using parts = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-portfolio-bench-'));
  parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  const portfolio = join(dataDir, 'default/EU123/portfolio.csv');
  await writePortfolio(portfolio, rows);
  const server = await startTemporalServer({ dataDir, headless: true });
  parts.defer(() => server.stop());
  const sandbox = await startProgram([path('../sandbox/main.ts'), '--json'], {});
  parts.defer(() => sandbox.stop(1_000));
  const sandboxUrl = String(sandbox.ready.url);
  const bundleFile = join(dataDir, 'bundle.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath: path('../src/workflows/index.ts'),
    logger: new DefaultLogger('WARN'),
    failureConverterPath: FAILURE_CONVERTER_PATH,
    ...BUNDLE_OPTIONS,
  });
  await writeFile(bundleFile, code);
  const keyRingFile = join(dataDir, 'keys.json');
  const keys = await createKeyRing(keyRingFile);
  const ledger = join(dataDir, 'ledger.db');
  const flags = [
    ...(profileDir === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir]),
    ...(stackTraceLimit === undefined ? [] : [`--stack-trace-limit=${stackTraceLimit}`]),
  ];
  const worker = await startProgram([...flags, path('../src/cli.ts'), 'worker'], {
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    TASK_QUEUE: 'portfolio-bench',
    GATEWAY_ENVIRONMENT: 'sandbox',
    GATEWAY_AUTH_URL: sandboxUrl,
    GATEWAY_BASE_URL: sandboxUrl,
    GATEWAY_CLIENT_ID: 'sandbox-client',
    GATEWAY_CLIENT_SECRET: 'sandbox-secret',
    GATEWAY_CONNECTIONS: String(connections),
    LEDGER_URL: `file:${ledger}`,
    KEY_RING_FILE: keyRingFile,
    WORKFLOW_BUNDLE_FILE: bundleFile,
    PORTFOLIO_DIR: dataDir,
  });
  parts.defer(() => worker.stop(10_000));
  const connection = await Connection.connect({ address: server.address });
  parts.defer(() => connection.close());
  const { namespace } = server;
  const dataConverter = createDataConverter({ keys, namespace, mode: 'client' });
  const client = new Client({ connection, namespace, dataConverter });

  const order = { file: 'portfolio.csv', endUserCode: 'EU123', permissiblePurposeCode: '01', window };
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 100) / 10;
  const handle = await client.workflow.start('portfolioReview', {
    workflowId: 'portfolio-BENCH',
    taskQueue: 'portfolio-bench',
    args: [{ reviewId: 'BENCH', ...order }],
  });
  const samples: Sample[] = [];
  let sampled: Promise<void> = Promise.resolve();
  const sample = async () => {
    const workerMegabytes = Math.round(residentBytes(worker.process.pid ?? 0) / MEGABYTE);
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
  const cpu = {
    worker: cpuMs(worker.process.pid ?? 0),
    server: cpuMs(server.pid),
    sandbox: cpuMs(sandbox.process.pid ?? 0),
  };
  const lines = (await readFile(join(dataDir, result.resultFile), 'utf8')).split('\n').length - 1;
  if (lines !== rows || result.record !== rows) throw new Error(`${lines} results of ${rows} rows`);
  const runs = await historiesOf(client, handle.workflowId);
  return {
    rows,
    window,
    connections,
    seconds: took,
    rowsPerSecond: Math.round((10 * rows) / took) / 10,
    cpuMsPerRow: Object.fromEntries(
      Object.entries(cpu).map(([name, ms]) => [name, Math.round((100 * ms) / rows) / 100]),
    ),
    memory: thinned(samples),
    runs: runs.length,
    longestHistoryEvents: Math.max(...runs.map(({ events }) => events)),
    largestHistoryBytes: Math.max(...runs.map(({ bytes }) => bytes)),
    ledgerBytesPerRow: Math.round((await sizeOf(ledger)) / rows),
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

async function sizeOf(ledger: string): Promise<number> {
  const sizes = await Promise.all(
    [ledger, `${ledger}-wal`].map((file) =>
      stat(file).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Some twenty of the samples. */
function thinned(samples: readonly Sample[]): Sample[] {
  const step = Math.max(1, Math.ceil(samples.length / 20));
  return samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '10000' },
      window: { type: 'string', default: '100' },
      connections: { type: 'string', default: '50' },
      profile: { type: 'string' },
      'stack-trace-limit': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const report = await measure({
    rows: Number(values.rows),
    window: Number(values.window),
    connections: Number(values.connections),
    ...(values.profile === undefined ? {} : { profileDir: values.profile }),
    ...(values['stack-trace-limit'] === undefined ? {} : { stackTraceLimit: Number(values['stack-trace-limit']) }),
  });
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else console.log(textOf(report));
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

await main();
