/** Connects a client to Temporal: its options, with the environment’s values where the program gives none, and its payloads. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify, promisify } from 'node:util';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { omitUndefined } from '../../base/defined.ts';
import { getErrorCode } from '../../base/error-code.ts';
import { type ClientSettings, loadClientSettings } from '../../config/client.ts';
import type { CodecServerAccess } from '../../config/codec-server-access.ts';
import { ConfigError, InvalidInputError } from '../../model/problems.ts';
import type { Environment } from '../../model/products.ts';
import { WatchedKeyRing } from '../../protection/keys/key-ring.ts';
import { createDataConverter, FAILURE_CONVERTER_PATH } from '../../protection/payloads/data-converter.ts';
import { Calls } from './calls.ts';
import type { CodecServer } from './codec-server.ts';
import {
  CallError,
  createUnreachableError,
  hasCode,
  hasStatus,
  isAtRunLimit,
  TEMPORAL_AWAY,
  translateServerError,
} from './errors.ts';
import { sayHowClosed } from './run-messages.ts';

/** How long a call waits for a server that is away, such as one that is being replaced. */
const SERVER_PATIENCE_MS = 10_000;

type RpcOptions = Parameters<(typeof Connection)['generateRPCImplementation']>[0];

/**
 * A connection that repeats calls by the SDK's rules, but not a call that a run's limit refused.
 * It replaces the SDK's own retries: here a call that is cancelled between two attempts ends at once. In the SDK it
 * continues, and if the connection was closed meanwhile, it throws where no caller can catch it.
 */
class PatientConnection extends Connection {
  protected static override generateRPCImplementation(options: RpcOptions) {
    const ask = promisify(Connection.generateRPCImplementation(options));
    const rules = defaultGrpcRetryOptions();
    return callbackify(async (...request: Parameters<typeof ask>) => {
      const { deadline = Number.POSITIVE_INFINITY, abortSignal } = options.callContextStorage.getStore() ?? {};
      const startedAt = Date.now();
      for (let attempt = 1; ; attempt++) {
        try {
          return await ask(...request);
        } catch (error) {
          if (!isGrpcServiceError(error) || isAtRunLimit(error) || !rules.retryableDecider(attempt, error)) throw error;
          const waitMs = rules.delayFunction(attempt, error);
          const isAway = hasStatus(error, 'unavailable');
          const until = Math.min(Number(deadline), isAway ? startedAt + SERVER_PATIENCE_MS : Number.POSITIVE_INFINITY);
          // A call that cannot be repeated in its time keeps the reason why it failed.
          if (Date.now() + waitMs >= until) throw error;
          await sleep(waitMs, undefined, { signal: abortSignal }).catch(() => {
            throw error;
          });
        }
      }
    });
  }
}

/** Options of a client. The environment gives those that the program leaves out (docs/configuration.md). */
export interface ConnectOptions {
  /**
   * `host:port`, without a scheme: of Temporal, not of the gateway. Default: `TEMPORAL_ADDRESS`, else `127.0.0.1:7233`.
   * TLS and API keys come from the environment, as `@temporalio/envconfig` reads it.
   */
  address?: string;
  /** Temporal's namespace. Default: `TEMPORAL_NAMESPACE`, else `default`. */
  namespace?: string;
  /**
   * The task queue that the workers of this environment poll. With another queue, starts succeed and wait for ever.
   * Default: `TASK_QUEUE`, else `credit-journeys-<environment>`.
   */
  taskQueue?: string;
  /** Names the default task queue. Default: `GATEWAY_ENVIRONMENT`, else `sandbox`. */
  environment?: Environment;
  /** Time limit for connecting, in milliseconds. Default 5,000: a running server answers at once. */
  connectTimeoutMs?: number;
  /**
   * Time limit for queries, in milliseconds, if the call has no `timeoutMs`. Default 5,000, in which a worker can
   * replay a long history.
   */
  queryTimeoutMs?: number;
  /** Ends the attempt to connect. */
  signal?: AbortSignal;
  /**
   * The codec server, which encrypts and decrypts for programs without a key. Default: as `CODEC_SERVER_URL`,
   * `CODEC_SERVER_TOKEN_FILE` and `CODEC_SERVER_CA_FILE` say.
   */
  codecServer?: CodecServerAccess;
  /**
   * How payloads are encrypted and decrypted. Default: by the codec server; where none is named, with the key ring that
   * `KEY_RING_FILE` names (in the sandbox the one in `.credit-journey`). Without either the client does not connect, unless
   * `PAYLOAD_ENCRYPTION` is off, which the sandbox alone takes.
   *
   * @internal
   */
  dataConverter?: DataConverter;
  /**
   * The program runs beside the ledger, with a worker's secrets. Without it no client may have `KEY_RING_FILE` or
   * `LEDGER_URL` in production. Default false.
   *
   * @internal
   */
  besideLedger?: boolean;
}

const DEFAULT_TIMEOUT_MS = 5_000;

/** The settings by the options, with the environment's values for what they leave out. */
function readSettings({ environment, address, namespace, taskQueue, ...use }: ConnectOptions): ClientSettings {
  const given = {
    GATEWAY_ENVIRONMENT: environment,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TASK_QUEUE: taskQueue,
  };
  return loadClientSettings({ ...process.env, ...omitUndefined(given) }, use);
}

type ConnectionOptions = ClientSettings['temporal']['connectionOptions'];

/** The rule that an address breaks, or `null`: `host:port` or `[IPv6]:port`. The port may be left out. */
function checkTemporalAddress(address: string): string | null {
  const [matched, digits = '7233'] = /^(?:\[[\da-fA-F:.]+\]|[^\s:/[\]@]+)(?::(\d{1,5}))?$/.exec(address) ?? [];
  const isPort = Number(digits) >= 1 && Number(digits) <= 65_535;
  return matched && isPort ? null : 'must be host:port, such as 127.0.0.1:7233, without a scheme or a path';
}

/**
 * Opens a connection of this kind, and waits for a first answer of the server.
 *
 * @throws CallError; ConfigError for an address of another form: the SDK's own error quotes it, with a password perhaps
 */
async function openConnection(
  kind: Pick<typeof Connection, 'lazy'>,
  to: ConnectionOptions & { channelArgs?: object },
  withinMs: number,
  signal?: AbortSignal,
): Promise<Connection> {
  const rule = checkTemporalAddress(to.address);
  if (rule) throw new ConfigError([{ variable: 'TEMPORAL_ADDRESS', rule }]);
  if (signal?.aborted) throw new CallError('aborted', { cause: signal.reason });
  let connection: Connection | undefined;
  try {
    const opened = kind.lazy({ ...to, interceptors: [] });
    connection = opened;
    const ask = () => opened.workflowService.getSystemInfo({});
    const askUntil = () => opened.withDeadline(Date.now() + withinMs, ask);
    await (signal ? opened.withAbortSignal(signal, askUntil) : askUntil());
    return opened;
  } catch (error) {
    await connection?.close();
    if (signal?.aborted) throw new CallError('aborted', { cause: signal.reason });
    // Certificates that cannot be used.
    const isOfOpenSsl = getErrorCode(error).startsWith('ERR_OSSL');
    const translated = isOfOpenSsl ? undefined : translateServerError(error);
    throw isOfOpenSsl || hasCode(translated, ...TEMPORAL_AWAY) ? createUnreachableError(error, to) : translated;
  }
}

/**
 * Calls Temporal once more, as a client does, and returns why it cannot be reached.
 *
 * @internal
 */
export async function diagnoseUnreachable(to: ConnectionOptions, withinMs: number): Promise<unknown> {
  const reason = `${to.address}: it answers a client; a worker’s certificates must be X.509 version 3`;
  // A failed connection of this process is shared otherwise, and its next error gives no reason.
  const channelArgs = { 'grpc.use_local_subchannel_pool': 1 };
  return openConnection(Connection, { ...to, channelArgs }, withinMs).then(
    async (connection) => {
      await connection.close();
      return new CallError('tlsFailed', { reason });
    },
    (error: unknown) => error,
  );
}

const NO_KEYS =
  'is required where KEY_RING_FILE names no existing key ring: payloads are sent in the clear only with PAYLOAD_ENCRYPTION=off. Beside `credit-journey dev`: source .credit-journey/env';

/** How a client encrypts and decrypts, and what it holds open for that until it is closed. */
interface PayloadParts {
  dataConverter: DataConverter;
  codecServer?: CodecServer;
  /** The key ring of the data converter, which reloads it: a client may outlive a current key. */
  keys?: { close(): void };
}

/**
 * The data converter that the environment asks for.
 *
 * @throws ConfigError where there is neither a codec server nor a key ring: nothing is sent in the clear by omission;
 *   KeyRingError where there is a key ring file that cannot be used
 *
 * @internal
 */
export async function loadDataConverter({
  payloads,
  temporal: { namespace },
}: Pick<ClientSettings, 'payloads' | 'temporal'>): Promise<PayloadParts> {
  switch (payloads.kind) {
    case 'clear':
      return { dataConverter: {} };
    case 'codecServer': {
      // Loaded on demand: most callers in the sandbox have no key ring.
      const { CodecServer } = await import('./codec-server.ts');
      const codecServer = new CodecServer(payloads.access, namespace);
      // Failures are encoded too, as with keys of one's own.
      const dataConverter = { payloadCodecs: [codecServer], failureConverterPath: FAILURE_CONVERTER_PATH };
      return { dataConverter, codecServer };
    }
    case 'keyRing': {
      if (!existsSync(payloads.file)) throw new ConfigError([{ variable: 'CODEC_SERVER_URL', rule: NO_KEYS }]);
      const keys = await WatchedKeyRing.open(payloads.file);
      return { dataConverter: createDataConverter({ keys, namespace, mode: 'client' }), keys };
    }
  }
}

/** The version in scripts/pack-client.ts, too. An older Node would fail later, at a function that it lacks. */
const OLDEST_NODE = '22.19';

/** @throws ConfigError where this Node is too old */
function requireNode(): void {
  const { node } = process.versions;
  if (node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) >= 0) return;
  const rule = `must be ${OLDEST_NODE} or later: this program runs on ${node}`;
  throw new ConfigError([{ variable: 'Node.js', rule }]);
}

/**
 * The parts of a client, which its handles use.
 *
 * @internal
 */
export type ClientParts = Awaited<ReturnType<typeof connectParts>>;

/**
 * Connects to Temporal, with the environment's values where the options give none.
 *
 * @param loadTracing makes spans where the environment names an endpoint for them; a client by itself loads no telemetry
 * @internal
 */
export async function connectParts(options: ConnectOptions, loadTracing?: () => Promise<WorkflowClientInterceptor>) {
  requireNode();
  const settings = readSettings(options);
  const { namespace, connectionOptions } = settings.temporal;
  const tracing = loadTracing && settings.traces ? [await loadTracing()] : [];
  const interceptors = { workflow: [sayHowClosed, ...tracing] };
  const { address, connectTimeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  const rule = address === undefined ? null : checkTemporalAddress(address);
  if (rule) throw new InvalidInputError([{ path: '/address', rule }]);
  const connection = await openConnection(PatientConnection, connectionOptions, connectTimeoutMs, signal);
  const { dataConverter, codecServer, keys }: PayloadParts = options.dataConverter
    ? { dataConverter: options.dataConverter }
    : await loadDataConverter(settings).catch(async (error: unknown) => {
        await connection.close();
        throw error;
      });
  const client = new Client({ connection, namespace, dataConverter, interceptors });
  const calls = new Calls(client, codecServer);
  return {
    client,
    calls,
    taskQueue: settings.taskQueue,
    queryTimeoutMs: options.queryTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    async close() {
      await calls.close();
      keys?.close();
      await Promise.all([codecServer?.close(), connection.close()]);
    },
  };
}
