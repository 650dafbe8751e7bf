import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type RunningSandbox, startSandbox } from '../../../sandbox/server.ts';
import { omitUndefined } from '../../base/defined.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { portfolioFolder } from '../../messages/portfolio/output-files.ts';
import { tryFileLock } from '../../protection/keys/file-lock.ts';
import { openKeyRing } from '../../protection/keys/key-ring.ts';
import { freePorts, isPortFree } from '../free-ports.ts';
import { startTemporalServer, type TemporalServer } from '../temporal/temporal-server.ts';
import { type DevCodecServer, startDevApi, startDevCodecServer } from './dev-services.ts';
import {
  childEnvironment,
  dataAddresses,
  envFile,
  readyVariables,
  writeEnvFile,
  writeReadyFile,
} from './dev-variables.ts';
import { type WorkerControl, workerProcess } from './worker-process.ts';

interface DevEnvironmentOptions extends Partial<DevPorts> {
  /** Made where it is missing, readable by its owner alone. Everything that outlives a run is in it. */
  dataDir: string;
  /** Without the Temporal UI. Default false. */
  headless?: boolean;
  /** Default `credit-journeys-sandbox`. */
  taskQueue?: string;
  /** Called with sentences for the operator. */
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
  /** The codec server's address with its unguessable path. Every caller that knows it may decode, masked. */
  codecEndpoint: string;
  sandboxUrl: string;
  apiUrl: string;
  /** A file with a token that is valid for this session, and for everything. */
  apiTokenFile: string;
  /** A file that a shell sources for programs of any language. Its owner alone may read it. */
  envFile: string;
  /** The operators' page with that token in the fragment, which signs in anyone who opens it. */
  pageUrl: string;
  /** Absolute. */
  dataDir: string;
  worker: WorkerControl;
  /** Variables by which the CLI and the client find this environment from a shell. */
  variables: Record<string, string>;
  /** Resolves, with a sentence, when the Temporal server or the worker has ended: the environment is of no more use. */
  broken: Promise<string>;
  /** Ends everything in order, within seconds. The data stay. */
  stop(): Promise<void>;
}

/** Thrown when another process runs an environment on this data directory. */
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
  await using parts = new AsyncDisposableStack();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await lockDataDirectory(dataDir, parts);
  const memory = await readDevMemory(dataDir);
  const ports = await choosePorts(options, memory);
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
  await prepareFiles(env, dataDir);
  await prepareLedger(dataDir, notice);
  const death = Promise.withResolvers<string>();
  const worker = workerProcess({ env, logFile: join(dataDir, 'worker.log'), onDeath: death.resolve });
  parts.defer(() => worker.stop());
  await worker.start();
  const api = await startDevApi({
    ...{ ...addresses, ...dataAddresses(dataDir), onEvent: notice },
    ...omitUndefined({ uiUrl: server.uiUrl }),
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

  void server.ended.then((exitCode) =>
    death.resolve(`the Temporal server ended by itself (${exitCode ?? 'killed'}); its log: ${server.logFile}`),
  );
  const open = parts.move();
  return {
    ...addresses,
    ...called,
    ...omitUndefined({ uiUrl: server.uiUrl }),
    envFile: envFile(dataDir),
    pageUrl: api.pageUrl,
    worker,
    variables: ready,
    broken: death.promise,
    stop: () => open.disposeAsync(),
  };
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

/**
 * Starts the codec server before the Temporal server, whose UI needs its address. Its port and path are remembered with
 * the others.
 */
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
    ...omitUndefined({ env: options.env }),
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

// The memory of a data directory between runs, and the choice of ports for the next run.

export interface DevPorts {
  temporalPort: number;
  uiPort: number;
  sandboxPort: number;
  codecPort: number;
}

/** Content of `dev.json`; empty if there is no readable file yet. */
export interface DevMemory extends Partial<DevPorts> {
  /** The process that holds or last held the directory. */
  pid?: number;
  /** The unguessable path of the codec server, a secret: the file is its owner's alone. */
  codecSegment?: string;
}

const PORTS = ['temporalPort', 'uiPort', 'sandboxPort', 'codecPort'] as const satisfies (keyof DevPorts)[];

/** The codec server takes any free port: the UI and `env` have its address. */
const DEFAULT_PORTS: Partial<DevPorts> = { temporalPort: 7233, uiPort: 8233, sandboxPort: 7280 };

/** 32 bytes in base64url. */
const SEGMENT_FORM = /^[\w-]{43,}$/;

/** Thrown when a requested port, or one that must be used again, is taken. The message gives the remedy. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const FLAGS: Record<Exclude<keyof DevPorts, 'codecPort'>, string> = {
  temporalPort: '--temporal-port',
  uiPort: '--ui-port',
  sandboxPort: '--sandbox-port',
};

/** Forgets only entries that cannot be used: the sandbox's port must not be lost over another. */
export async function readDevMemory(dataDir: string): Promise<DevMemory> {
  try {
    const found: Record<string, unknown> = JSON.parse(await readFile(memoryFile(dataDir), 'utf8'));
    const isUsable = ([name, value]: [string, unknown]) =>
      name === 'codecSegment' ? typeof value === 'string' && SEGMENT_FORM.test(value) : Number.isSafeInteger(value);
    return Object.fromEntries(Object.entries(found).filter(isUsable));
  } catch {
    return {};
  }
}

export async function writeDevMemory(dataDir: string, memory: DevMemory): Promise<void> {
  const staged = `${memoryFile(dataDir)}.${randomBytes(4).toString('hex')}`;
  await writeFile(staged, `${JSON.stringify(memory)}\n`, { mode: 0o600 });
  await rename(staged, memoryFile(dataDir));
}

function memoryFile(dataDir: string): string {
  return join(dataDir, 'dev.json');
}

/**
 * Chooses each port for the next run: the one asked for, else the remembered one, else the default, else a free one. A
 * port that was asked for, or that runs and users know from the last run, does not move by itself.
 *
 * @throws PortTakenError
 */
export async function choosePorts(asked: Partial<DevPorts>, memory: DevMemory): Promise<DevPorts> {
  const chosen: Partial<DevPorts> = {};
  const named = [...Object.values(asked), ...Object.values(memory)];
  const free = (await freePorts(2 * PORTS.length)).filter((port) => !named.includes(port));
  for (const name of PORTS) {
    const port = asked[name] || (memory[name] ?? (asked[name] === 0 ? undefined : DEFAULT_PORTS[name]));
    if (port !== undefined && !Object.values(chosen).includes(port) && (await isPortFree(port))) chosen[name] = port;
    else if (name !== 'codecPort' && (asked[name] || memory[name] !== undefined)) {
      throw new PortTakenError(`port ${port} is taken: free it, or name another with ${FLAGS[name]}`);
    } else chosen[name] = free.pop() as number;
  }
  return chosen as DevPorts;
}

// Made-up rows of a portfolio, and one to try a review with: rows that the sandbox has a record of, and a row that is bad.

const SAMPLE_PORTFOLIO = 'sample.csv';

export const SAMPLE_HEADER = 'accountId,first,last,ssn,dob,phoneNumber,emailAddress,ipAddress,line1,city,state,zip';

/** Never issued as SSNs; the last one lacks a digit. */
const SSNS = ['900110001', '900120001', '900130001', '900140001', '90015001'];

/** Without its line's end. */
export function sampleRow(row: number, ssn: string): string {
  const person = `Casey,Sample,${ssn},1985-04-12,202555010${row % 10},casey.${row}@example.com,192.0.2.17`;
  return `ACC-${row},${person},${row} Example Street,Springfield,IL,62704`;
}

/** Leaves an existing file unchanged. */
export async function writeSamplePortfolio(directory: string): Promise<void> {
  const text = [SAMPLE_HEADER, ...SSNS.map((ssn, index) => sampleRow(index + 1, ssn)), ''].join('\n');
  await writeFile(join(directory, SAMPLE_PORTFOLIO), text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}
