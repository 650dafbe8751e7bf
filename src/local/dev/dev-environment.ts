import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type RunningSandbox, startSandbox } from '../../../sandbox/server.ts';
import { defined } from '../../base/defined.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { portfolioFolder } from '../../messages/portfolio/output-files.ts';
import { tryFileLock } from '../../protection/keys/file-lock.ts';
import { openKeyRing } from '../../protection/keys/open-key-ring.ts';
import { startTemporalServer, type TemporalServer } from '../temporal/temporal-server.ts';
import { startDevApi } from './dev-api.ts';
import { type DevCodecServer, startDevCodecServer } from './dev-codec-server.ts';
import { choosePorts, type DevMemory, type DevPorts, readDevMemory, writeDevMemory } from './dev-memory.ts';
import {
  childEnvironment,
  commandVariables,
  dataAddresses,
  envFile,
  readyVariables,
  unusedVariables,
  writeEnvFile,
  writeReadyFile,
} from './dev-variables.ts';
import { writeSamplePortfolio } from './sample-portfolio.ts';
import { type WorkerControl, workerProcess } from './worker-process.ts';

interface DevEnvironmentOptions extends Partial<DevPorts> {
  /** Made where it is missing, readable by its owner alone. Everything that outlives a run is in it. */
  dataDir: string;
  /** Without the Temporal UI. Default false. */
  headless?: boolean;
  /** Default `credit-journeys-sandbox`. */
  taskQueue?: string;
  /** Called with what a person should know, a sentence each. */
  onEvent?: (message: string) => void;
  /** Default: the process's own. */
  env?: NodeJS.ProcessEnv;
}

export interface DevEnvironment {
  temporalAddress: string;
  namespace: string;
  taskQueue: string;
  /** Absent when headless. */
  uiUrl?: string;
  /** Of the codec server, with the unguessable path: every caller that knows it may decode, masked. */
  codecEndpoint: string;
  sandboxUrl: string;
  /** Of the HTTP API. */
  apiUrl: string;
  /** A file with a token that is good for this session, and for everything. */
  apiTokenFile: string;
  /** A file that a shell sources for programs of any language. Its owner alone may read it. */
  envFile: string;
  /** The operators' page, with that token in the fragment: signs whoever opens it in. */
  pageUrl: string;
  /** Absolute. */
  dataDir: string;
  worker: WorkerControl;
  /** What a shell needs so that the CLI and the client find this environment. */
  variables: Record<string, string>;
  /** Resolves, with a sentence, if the Temporal server ends unasked: the environment is of no more use. */
  broken: Promise<string>;
  /** Ends everything in order, within seconds. The data stay. */
  stop(): Promise<void>;
}

/** Another process runs an environment on this data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
}

const DEFAULT_TASK_QUEUE = 'credit-journeys-sandbox';

const NAMESPACE = 'default';

/**
 * Starts the codec server, the Temporal development server, the sandbox, a worker process and the HTTP API, and waits until journeys can run.
 *
 * @throws DataDirectoryInUseError, PortTakenError, TemporalBinaryNotFoundError; Error where a part does not come up,
 *   with what it said. Nothing is left running.
 */
export async function startDevEnvironment(options: DevEnvironmentOptions): Promise<DevEnvironment> {
  const dataDir = resolve(options.dataDir);
  const notice = options.onEvent ?? (() => {});
  const parts = new AsyncDisposableStack();
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await lockDataDirectory(dataDir, parts);
    const memory = await readDevMemory(dataDir);
    const ports = await choosePorts(options, memory, notice);
    const codec = await startCodec(options, { dataDir, ports, memory, onEvent: notice }, parts);
    const { sandbox, server } = await startServers(options, { dataDir, ports, codec }, parts);

    const addresses = {
      temporalAddress: server.address,
      namespace: server.namespace,
      taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
      sandboxUrl: sandbox.url,
      dataDir,
    };
    const inherited = options.env ?? process.env;
    const env = childEnvironment(addresses, inherited);
    const unused = unusedVariables(commandVariables(addresses), inherited);
    if (unused.length > 0) notice(`set in this shell and not used: ${unused.join(', ')} (dev has its own)`);
    await prepareFiles(env, dataDir);
    await prepareLedger(dataDir, notice);
    const worker = workerProcess({ env, logFile: join(dataDir, 'worker.log'), onEvent: notice });
    parts.defer(() => worker.stop());
    await worker.start();
    const api = await startDevApi({
      ...{ ...addresses, ...dataAddresses(dataDir), onEvent: notice },
      ...defined({ uiUrl: server.uiUrl }),
    });
    parts.defer(() => api.close());
    const ready = readyVariables(addresses, inherited);
    const called = {
      codecEndpoint: codec.endpoint,
      apiUrl: api.url,
      apiTokenFile: api.tokenFile,
    };
    const programs = { CODEC_SERVER_URL: codec.endpoint, API_URL: api.url, API_TOKEN_FILE: api.tokenFile };
    parts.defer(await writeEnvFile(dataDir, { ...ready, ...programs }));
    parts.defer(await writeReadyFile(dataDir, ready));

    let isStopping = false;
    const broken = server.ended.then((exitCode) =>
      isStopping
        ? new Promise<string>(() => {})
        : `the Temporal server ended by itself (${exitCode ?? 'killed'}); its log: ${server.logFile}`,
    );
    return {
      ...addresses,
      ...called,
      ...defined({ uiUrl: server.uiUrl }),
      envFile: envFile(dataDir),
      pageUrl: api.pageUrl,
      worker,
      variables: ready,
      broken,
      stop: async () => {
        isStopping = true;
        await parts.disposeAsync();
      },
    };
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

/** Two environments on one database and ledger would undo each other. */
async function lockDataDirectory(dataDir: string, parts: AsyncDisposableStack): Promise<void> {
  const lock = await tryFileLock(join(dataDir, 'dev.lock'));
  if (!lock) {
    const { pid } = await readDevMemory(dataDir);
    const holder = pid === undefined ? 'another process' : `process ${pid}`;
    throw new DataDirectoryInUseError(
      `${holder} runs a development environment on ${dataDir}: stop it, or use another --data-dir`,
    );
  }
  parts.defer(() => lock.release());
}

/** Starts before the Temporal server, whose UI needs its address; its port and path are remembered with the others. */
async function startCodec(
  options: DevEnvironmentOptions,
  about: { dataDir: string; ports: DevPorts; memory: DevMemory; onEvent: (message: string) => void },
  parts: AsyncDisposableStack,
): Promise<DevCodecServer> {
  const { dataDir, ports, memory, onEvent } = about;
  const { keyRingFile } = dataAddresses(dataDir);
  await openKeyRing({ keyRingFile, keyRingMayBeMade: true });
  const codec = await startDevCodecServer({
    dataDir,
    keyRingFile,
    onEvent,
    namespace: NAMESPACE,
    port: ports.codecPort,
    uiPort: options.headless ? null : ports.uiPort,
    segment: memory.codecSegment,
  });
  parts.defer(() => codec.close());
  await writeDevMemory(dataDir, { ...ports, pid: process.pid, codecSegment: codec.segment });
  return codec;
}

async function startServers(
  options: DevEnvironmentOptions,
  { dataDir, ports, codec }: { dataDir: string; ports: DevPorts; codec: DevCodecServer },
  parts: AsyncDisposableStack,
): Promise<{ sandbox: RunningSandbox; server: TemporalServer }> {
  const server = await startTemporalServer({
    dataDir,
    port: ports.temporalPort,
    uiPort: ports.uiPort,
    headless: options.headless ?? false,
    namespace: NAMESPACE,
    uiCodecEndpoint: codec.endpoint,
    ...defined({ env: options.env }),
  });
  parts.defer(() => server.stop());
  const sandbox = await startSandbox({ port: ports.sandboxPort, stateFile: join(dataDir, 'sandbox.jsonl') });
  parts.defer(() => sandbox.close());
  return { sandbox, server };
}

/** Migrates by itself: in `dev` no operator runs `setup` after an update, and no other worker is on this ledger. */
async function prepareLedger(dataDir: string, onProgress: (step: string) => void): Promise<void> {
  const { keyRingFile, ledgerUrl } = dataAddresses(dataDir);
  const keyRing = await openKeyRing({ keyRingFile, keyRingMayBeMade: false });
  const prepare = { create: true, migrate: true, onProgress };
  await (await openLedger({ url: ledgerUrl, environment: 'sandbox', keyRing, ...prepare })).close();
}

/** Writes the Temporal profile file that the worker reads, and a portfolio to try. */
async function prepareFiles(env: NodeJS.ProcessEnv, dataDir: string): Promise<void> {
  const { portfolioDir } = dataAddresses(dataDir);
  const folder = join(portfolioDir, portfolioFolder({ endUserCode: 'EU123' }));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeSamplePortfolio(folder);
  await writeFile(env.TEMPORAL_CONFIG_FILE as string, '# On purpose without settings.\n[profile.default]\n', {
    mode: 0o600,
  });
}
