import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { makeDirectory } from '../../base/make-directory.ts';
import { SEARCH_ATTRIBUTES } from '../../model/search-attributes.ts';
import { type OwnedChild, startOwnedChild } from '../child-process.ts';
import { freePorts } from '../free-ports.ts';
import { makeScratchDirectory } from '../scratch-directory.ts';
import { findTemporalBinary } from './temporal-binaries.ts';

interface TemporalServerOptions {
  /** Folder of the database and the log. If absent, the server keeps all data in memory. */
  dataDir?: string;
  /** Default: a free port. */
  port?: number;
  /** Default: a free port. */
  uiPort?: number;
  /** Without the UI. Default false. */
  headless?: boolean;
  /** The codec server that the UI asks from the start; without effect when headless. */
  uiCodecEndpoint?: string;
  /** Made at start beside `default`. Default `default`. */
  namespace?: string;
  /** By name; default: those of this project. */
  searchAttributes?: Readonly<Record<string, string>>;
  /** Values are JSON values; on top of this project's own. */
  dynamicConfig?: Readonly<Record<string, string | number | boolean>>;
  /** The search for the program reads it, the server inherits it. Default: the process's own. */
  env?: NodeJS.ProcessEnv;
}

export type TemporalServer = Awaited<ReturnType<typeof startTemporalServer>>;

const LOOPBACK = '127.0.0.1';
/** A cold start takes about 2 s; a loaded machine may need many times that. */
const START_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;
const STOP_GRACE_MS = 5_000;

const DYNAMIC_CONFIG: Record<string, string | number | boolean> = {
  // One partition: the best tail at this scale, and strict priority needs it.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // The default of 20 polls a second costs up to 50 ms at every hop.
  'history.transferProcessorMaxPollRPS': 1000,
  'history.timerProcessorMaxPollRPS': 1000,
  'history.visibilityProcessorMaxPollRPS': 1000,
  // Enables fairness keys, by which end users share a queue.
  'matching.enableFairness': true,
  // A run whose tasks fail is listed after the second failure; the server's own default is the fifth, a minute later.
  'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute': 2,
  // An update that is larger than a payload may be would fail the run's tasks for as long as the server keeps it.
  'history.maxInFlightUpdatePayloads': 2_000_000,
};

/**
 * Starts a Temporal development server on loopback and waits until it answers and knows the search attributes. It
 * ends with this process.
 *
 * @throws TemporalBinaryNotFoundError; Error, with the end of its log, when it does not come up.
 */
export async function startTemporalServer(options: TemporalServerOptions = {}) {
  const { env = process.env, headless = false, namespace = 'default', searchAttributes = SEARCH_ATTRIBUTES } = options;
  const binary = await findTemporalBinary({ env });
  const [freePort = 0, freeUiPort = 0] = await freePorts(2);
  const port = options.port ?? freePort;
  const uiPort = options.uiPort ?? freeUiPort;
  if (options.dataDir !== undefined) makeDirectory(options.dataDir);
  const scratch = options.dataDir === undefined ? makeScratchDirectory('credit-journey-temporal-') : undefined;
  const logFile = join(options.dataDir ?? (scratch?.path as string), 'temporal-server.log');
  const output = openSync(logFile, 'a', 0o600);
  const codec = options.uiCodecEndpoint ? ['--ui-codec-endpoint', options.uiCodecEndpoint] : [];
  const dynamicConfig = Object.entries({ ...DYNAMIC_CONFIG, ...options.dynamicConfig });
  // Without the pragmas a database file makes everything about three times slower.
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=1'];
  const args = [
    ...['server', 'start-dev', '--ip', LOOPBACK, '--port', String(port), '--log-level', 'warn'],
    ...['--namespace', namespace],
    ...(headless ? ['--headless'] : ['--ui-port', String(uiPort), ...codec]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...dynamicConfig.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`]),
    ...(options.dataDir === undefined ? [] : ['--db-filename', join(options.dataDir, 'temporal.db'), ...pragmas]),
  ];
  const child = await startOwnedChild(binary, args, { env, stdio: ['ignore', output, output] }).finally(() =>
    closeSync(output),
  );

  const address = `${LOOPBACK}:${port}`;
  try {
    await waitUntilReady(child, address, namespace, Object.keys(searchAttributes));
  } catch (error) {
    await child.stop(0);
    const text = await readFile(logFile, 'utf8').catch(() => '');
    scratch?.remove();
    const reason = error instanceof Error ? error.message : String(error);
    // A server that breaks down gives the reason first, and then every stack.
    const log = text.length <= 4_000 ? text : `${text.slice(0, 2_000)}\n...\n${text.slice(-2_000)}`;
    throw new Error(`the Temporal server did not start (${reason})\n${log.trim()}`);
  }
  return {
    address,
    namespace,
    /** Absent when headless. */
    uiUrl: headless ? undefined : `http://${LOOPBACK}:${uiPort}`,
    pid: child.pid,
    logFile,
    /** Resolves when the server has ended by itself or was stopped. */
    ended: child.ended,
    unref: child.unref,
    stop: async () => {
      await child.stop(STOP_GRACE_MS);
      scratch?.remove();
    },
  };
}

async function waitUntilReady(
  child: OwnedChild,
  address: string,
  namespace: string,
  searchAttributes: readonly string[],
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const { exitCode, signalCode } = child.process;
    if (exitCode !== null || signalCode !== null) throw new Error('it ended by itself');
    if (await isAnswering(address, namespace, searchAttributes).catch(() => false)) return;
    await delay(POLL_INTERVAL_MS);
  }
  throw new Error('no answer in time');
}

/** Upserting a search attribute that is not registered yet would park a run for ever: all of them count. */
async function isAnswering(address: string, namespace: string, searchAttributes: readonly string[]): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return searchAttributes.every((name) => customAttributes?.[name] !== undefined);
  } finally {
    await connection.close();
  }
}
