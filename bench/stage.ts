/** The stage of both contenders: one development server, one gateway, and a worker process for each. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { startTemporalServer } from '../src/local/temporal/temporal-server.ts';
import { createKeyRing } from '../src/protection/keys/key-ring.ts';
import { createDataConverter, FAILURE_CONVERTER_PATH } from '../src/protection/payloads/data-converter.ts';
import { BUNDLE_OPTIONS } from '../src/worker/workflow-source.ts';
import { type Beside, type Contender, contender } from './contenders.ts';
import { bundle, type LedgerEngine, startLedger, WORKFLOWS } from './load/site.ts';
import { type Program, startProgram } from './processes.ts';

export interface Received {
  customerTraceNumber: string;
  posted: boolean;
}

export interface Stage {
  contenders: Contender[];
  serverPid: number;
  worker(name: Contender['name']): Program;
  startWorker(name: Contender['name']): Promise<void>;
  /** Ends a worker by SIGKILL. */
  killWorker(name: Contender['name']): Promise<void>;
  /** Sets how long the gateway takes to answer from now on. */
  setLatency(ms: number): Promise<void>;
  /** Everything that the gateway has received from both contenders. */
  received(): Promise<Received[]>;
  /** Clears what the gateway has received. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The same for both contenders. A killed worker's attempts count as lost after 12 s. The default of eight connections
 * protects a provider; with 200 journeys at once the bench would measure nothing else.
 */
const SETTINGS = {
  GATEWAY_CONNECT_TIMEOUT_MS: '2000',
  GATEWAY_HEADERS_TIMEOUT_MS: '4000',
  GATEWAY_BODY_TIMEOUT_MS: '2000',
  SUBMIT_TIMEOUT_MS: '12000',
  GATEWAY_CONNECTIONS: '50',
};

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export interface RunningServer {
  address: string;
  namespace: string;
  pid: number;
}

/** What differs from the journey. */
const VARIANTS: Record<Beside, Record<string, string>> = {
  bare: {},
  clear: { PAYLOAD_ENCRYPTION: 'off' },
  // So high that it never holds an inquiry back: that there is a limit decides the queue.
  'gateway-queue': { GATEWAY_MAX_INQUIRIES_PER_SECOND: '10000' },
  versioned: { DEPLOYMENT_NAME: 'bench', BUILD_ID: '1' },
};

export interface StageOptions {
  beside: Beside;
  ledger: LedgerEngine;
  /** Default: a development server of its own. */
  server?: RunningServer;
  /** The directory for the workers' CPU profiles, which they write when they end. */
  profileDir?: string;
}

export async function startStage({ beside, ledger, server: running, profileDir }: StageOptions): Promise<Stage> {
  const parts = new AsyncDisposableStack();
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-bench-'));
    parts.defer(() => rm(dataDir, { recursive: true, force: true }));
    const server = running ?? (await ownServer(dataDir, parts));
    const sandbox = await startProgram([path('../sandbox/main.ts'), '--json'], {});
    parts.defer(() => sandbox.stop(1_000));
    const sandboxUrl = String(sandbox.ready.url);
    const connection = await Connection.connect({ address: server.address });
    parts.defer(() => connection.close());

    const bundles = {
      journey: await bundle(WORKFLOWS, join(dataDir, 'journey.js'), {
        failureConverterPath: FAILURE_CONVERTER_PATH,
        ...BUNDLE_OPTIONS,
      }),
      bare: await bundle(path('./bare/workflows.ts'), join(dataDir, 'bare.js'), {
        webpackConfigHook: BUNDLE_OPTIONS.webpackConfigHook,
      }),
      clear: await bundle(WORKFLOWS, join(dataDir, 'clear.js'), BUNDLE_OPTIONS),
    };
    const { url: ledgerUrl } = await startLedger(ledger, dataDir, parts);
    const keyRingFile = join(dataDir, 'keys.json');
    const keys = await createKeyRing(keyRingFile);
    const env = (name: Contender['name']) => ({
      ...SETTINGS,
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: server.namespace,
      TASK_QUEUE: `bench-${name}`,
      GATEWAY_ENVIRONMENT: 'sandbox',
      GATEWAY_AUTH_URL: sandboxUrl,
      GATEWAY_BASE_URL: sandboxUrl,
      GATEWAY_CLIENT_ID: 'sandbox-client',
      GATEWAY_CLIENT_SECRET: 'sandbox-secret',
      LEDGER_URL: ledgerUrl,
      KEY_RING_FILE: keyRingFile,
      PAYLOAD_ENCRYPTION: 'on',
      WORKFLOW_BUNDLE_FILE: name === 'bare' || name === 'clear' ? bundles[name] : bundles.journey,
      ...(name === 'journey' ? {} : VARIANTS[name]),
    });
    const profiling = profileDir === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir];
    const program = (name: Contender['name']) =>
      name === 'bare' ? [path('./bare/worker.ts'), bundles.bare] : [path('../src/cli.ts'), 'worker'];
    const workers = new Map<Contender['name'], Program>();
    parts.defer(async () => {
      await Promise.all([...workers.values()].map((worker) => worker.stop(10_000)));
    });
    const { namespace } = server;
    const plain = new Client({ connection, namespace });
    const dataConverter = createDataConverter({ keys, namespace, mode: 'client' });
    const encrypting = new Client({ connection, namespace, dataConverter });
    const ask = (route: string, init?: RequestInit) => fetch(`${sandboxUrl}/_sandbox/${route}`, init);
    const stage: Stage = {
      contenders: [
        contender('journey', encrypting, 'bench-journey'),
        contender(beside, isPlain(beside) ? plain : encrypting, `bench-${beside}`),
      ],
      serverPid: server.pid,
      worker(name) {
        const worker = workers.get(name);
        if (!worker) throw new Error(`the ${name} worker does not run`);
        return worker;
      },
      async startWorker(name) {
        workers.set(name, await startProgram([...profiling, ...program(name)], env(name)));
      },
      async killWorker(name) {
        const worker = stage.worker(name);
        workers.delete(name);
        worker.process.kill('SIGKILL');
        await worker.ended;
      },
      async setLatency(ms) {
        const rules = ms === 0 ? [] : [{ fault: 'slowAfterPosting', delayMs: ms }];
        const headers = { 'content-type': 'application/json' };
        const answer = await ask('faults', { method: 'PUT', headers, body: JSON.stringify({ rules }) });
        if (!answer.ok) throw new Error(`the sandbox refused: ${await answer.text()}`);
      },
      received: async () => (await (await ask('requests')).json()) as Received[],
      async forget() {
        await ask('reset', { method: 'POST' });
      },
      close: () => parts.disposeAsync(),
    };
    await Promise.all([stage.startWorker('journey'), stage.startWorker(beside)]);
    if (beside === 'versioned') {
      const { DEPLOYMENT_NAME: deploymentName = '', BUILD_ID: buildId = '' } = VARIANTS.versioned;
      const version = { namespace, deploymentName, buildId, identity: 'bench', allowNoPollers: true };
      await connection.workflowService.setWorkerDeploymentCurrentVersion(version);
    }
    return stage;
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

function isPlain(name: Contender['name']): boolean {
  return name === 'bare' || name === 'clear';
}

async function ownServer(dataDir: string, parts: AsyncDisposableStack): Promise<RunningServer> {
  const server = await startTemporalServer({ dataDir, headless: true });
  parts.defer(() => server.stop());
  return server;
}
