/** Options of a connection, and the environment's values where the program gives none. */
import {
  Connection,
  type ConnectionLike,
  defaultGrpcRetryOptions,
  type GrpcRetryOptions,
  type makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { CodecServerAccess } from '../../config/client.ts';
import { type ClientSettings, type ClientUse, loadClientSettings } from '../../config/client.ts';
import { ConfigError, InvalidInputError } from '../../model/problems.ts';
import type { Environment } from '../../model/products.ts';
import type { CodecServerConnection } from './codec-server-connection.ts';
import { isRunLimit, translatedError } from './error-translation.ts';
import { CallAbortedError, TemporalRefusedError } from './errors.ts';
import { temporalAddressProblem, whyUnreachable } from './why-unreachable.ts';

// Retries of calls to Temporal, in place of the SDK's own: a call that is cancelled while it waits for its next
// attempt ends at once. The SDK's goes on, and where the connection was closed meanwhile it throws where no caller
// can catch it.

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type CallParts = Parameters<Interceptor>;
type InnerCall = ReturnType<CallParts[1]>;
type Metadata = Parameters<InnerCall['start']>[0];
type Listener = NonNullable<Parameters<InnerCall['start']>[1]>;
type Status = Parameters<GrpcRetryOptions['retryableDecider']>[1];

const UNAVAILABLE = 14;
/** How long a call waits for a server that is away, such as one that is being replaced. */
const SERVER_PATIENCE_MS = 10_000;

/** The SDK's rules of what is repeated, and when, but for what a run's limit refuses: it would be refused again. */
function retries(): Interceptor {
  const rules = defaultGrpcRetryOptions();
  return (options, nextCall) => new RetriedCall(options, nextCall, rules) as unknown as ReturnType<Interceptor>;
}

/** One call, and the attempts that it takes. */
class RetriedCall {
  readonly #options: CallParts[0];
  readonly #nextCall: CallParts[1];
  readonly #rules: GrpcRetryOptions;
  readonly #startedAt = Date.now();
  #attempt = 1;
  #call: InnerCall;
  #request: unknown;
  #answer: unknown;
  /** While it waits for the next attempt. */
  #waiting: { timer: NodeJS.Timeout; finish(as: { code: Status['code']; details: string }): void } | undefined;

  constructor(options: CallParts[0], nextCall: CallParts[1], rules: GrpcRetryOptions) {
    this.#options = options;
    this.#nextCall = nextCall;
    this.#rules = rules;
    this.#call = nextCall(options);
  }

  start(metadata: Metadata, listener: Listener): void {
    this.#call.start(metadata, {
      onReceiveMetadata: (received) => listener.onReceiveMetadata?.(received),
      onReceiveMessage: (message) => {
        this.#answer = message;
      },
      onReceiveStatus: (status) => {
        const waitMs = this.#waitMs(status);
        if (waitMs === null) this.#finish(status, listener);
        else this.#waitFor(waitMs, status, metadata, listener);
      },
    });
  }

  cancelWithStatus(code: Status['code'], details: string): void {
    if (this.#waiting) {
      clearTimeout(this.#waiting.timer);
      this.#waiting.finish({ code, details });
    } else {
      this.#call.cancelWithStatus(code, details);
    }
  }

  sendMessageWithContext(context: Parameters<InnerCall['sendMessageWithContext']>[0], message: unknown): void {
    this.#request = message;
    this.#call.sendMessageWithContext(context, message);
  }

  sendMessage(message: unknown): void {
    this.#request = message;
    this.#call.sendMessage(message);
  }

  startRead(): void {
    this.#call.startRead();
  }

  halfClose(): void {
    this.#call.halfClose();
  }

  getPeer(): string {
    return this.#call.getPeer();
  }

  getAuthContext(): ReturnType<InnerCall['getAuthContext']> {
    return this.#call.getAuthContext();
  }

  /** `null` where the status is final. A call that cannot be repeated in its time keeps the reason why it failed. */
  #waitMs(status: Status): number | null {
    if (isRunLimit(status) || !this.#rules.retryableDecider(this.#attempt, status)) return null;
    const waitMs = this.#rules.delayFunction(this.#attempt, status);
    const at = Date.now() + waitMs;
    if (status.code === UNAVAILABLE && at > this.#startedAt + SERVER_PATIENCE_MS) return null;
    const { deadline } = this.#options;
    return deadline !== undefined && at >= Number(deadline) ? null : waitMs;
  }

  #waitFor(waitMs: number, status: Status, metadata: Metadata, listener: Listener): void {
    const finish = (as: { code: Status['code']; details: string }) => this.#finish({ ...status, ...as }, listener);
    const repeat = () => {
      this.#waiting = undefined;
      this.#attempt++;
      try {
        this.#call = this.#nextCall(this.#options);
      } catch {
        // The connection was closed by its owner.
        this.#finish(status, listener);
        return;
      }
      this.start(metadata, listener);
      this.#call.sendMessage(this.#request);
      this.#call.halfClose();
    };
    this.#waiting = { timer: setTimeout(repeat, waitMs), finish };
  }

  #finish(status: Status, listener: Listener): void {
    this.#waiting = undefined;
    listener.onReceiveMessage?.(this.#answer ?? null);
    listener.onReceiveStatus?.(status);
  }
}

/** Where the program gives none of these, the environment's are taken (docs/configuration.md). */
export interface ConnectOptions {
  /**
   * `host:port`, without a scheme: of Temporal, not of the gateway. Default: `TEMPORAL_ADDRESS`, else `127.0.0.1:7233`.
   * TLS and API keys come from the environment, as `@temporalio/envconfig` reads it.
   */
  address?: string;
  /** Of Temporal. Default: `TEMPORAL_NAMESPACE`, else `default`. */
  namespace?: string;
  /**
   * The one that the workers of this environment poll: with another, starts succeed and wait for ever. Default:
   * `TASK_QUEUE`, else `credit-journeys-<environment>`.
   */
  taskQueue?: string;
  /** Names the default task queue. Default: `GATEWAY_ENVIRONMENT`, else `sandbox`. */
  environment?: Environment;
  /**
   * A connection of the caller's own, which stays the caller's to close.
   * @internal
   */
  connection?: ConnectionLike;
  /** The most applicants that a message may carry; the worker has the last word. */
  maxApplicants?: number;
  /** How long to wait for the server, in milliseconds. Default 5,000: one that is there answers at once. */
  connectTimeoutMs?: number;
  /**
   * How long a question to a run waits for a worker, in milliseconds, where the call gives no `timeoutMs`. Default
   * 5,000: enough to replay a long history first.
   */
  queryTimeoutMs?: number;
  /** Ends the attempt to connect. */
  signal?: AbortSignal;
  /**
   * The codec server, which encrypts, decrypts and reads reports for who holds no key. Default: as `CODEC_SERVER_URL`,
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

/** @internal */
export const DEFAULT_TIMEOUT_MS = 5_000;

/**
 * The environment is read only for what the caller leaves out.
 *
 * @internal
 */
export type Needed = Omit<ClientSettings, 'environment'>;

/** @internal */
export function settingsOf(options: ConnectOptions): Needed {
  const { connection, namespace, taskQueue, maxApplicants, dataConverter } = options;
  if (connection && namespace && taskQueue && maxApplicants && dataConverter) {
    const none = { address: '', connectionOptions: { address: '' } };
    const temporal = { ...none, namespace };
    return { taskQueue, maxApplicants, temporal, traces: false, ...payloadsBy(options) };
  }
  const env = options.environment ? { ...process.env, GATEWAY_ENVIRONMENT: options.environment } : process.env;
  const settings = loadClientSettings(env, useOf(options));
  const address = options.address ?? settings.temporal.address;
  return {
    taskQueue: taskQueue ?? settings.taskQueue,
    maxApplicants: maxApplicants ?? settings.maxApplicants,
    payloads: settings.payloads,
    traces: settings.traces,
    ...(settings.codecServer === undefined ? {} : { codecServer: settings.codecServer }),
    ...(options.codecServer === undefined ? {} : payloadsBy(options)),
    temporal: {
      address,
      namespace: namespace ?? settings.temporal.namespace,
      connectionOptions: { ...settings.temporal.connectionOptions, address },
    },
  };
}

function payloadsBy({ codecServer }: ConnectOptions): Pick<Needed, 'payloads' | 'codecServer'> {
  return codecServer ? { payloads: { kind: 'codecServer' }, codecServer } : { payloads: { kind: 'clear' } };
}

/** @internal */
export function useOf({ besideLedger = false, codecServer, connection, dataConverter }: ConnectOptions): ClientUse {
  return {
    besideLedger,
    ownDataConverter: codecServer !== undefined || dataConverter !== undefined,
    ownConnection: connection !== undefined,
  };
}

/**
 * Loaded when needed: most callers in the sandbox have none.
 *
 * @internal
 */
export async function codecServerOf({ codecServer, temporal }: Needed): Promise<CodecServerConnection | undefined> {
  if (!codecServer) return undefined;
  const { CodecServerConnection } = await import('./codec-server-connection.ts');
  return new CodecServerConnection(codecServer, temporal.namespace);
}

/** Why a connection failed is asked for so long before the time is over, or half of a shorter time. */
const WHY_MS = 2_000;

/**
 * Connects, and asks the server for a first answer.
 *
 * @throws TemporalUnavailableError, TemporalRefusedError, CallAbortedError; InvalidInputError or ConfigError for an
 *   address of another form
 * @internal
 */
export async function connectTo(
  { connectionOptions }: Pick<ClientSettings['temporal'], 'connectionOptions'>,
  { address: given, connectTimeoutMs = DEFAULT_TIMEOUT_MS, signal }: ConnectOptions,
): Promise<Connection> {
  const rule = temporalAddressProblem(connectionOptions.address);
  if (rule && given !== undefined) throw new InvalidInputError([{ path: '/address', rule }]);
  if (rule) throw new ConfigError([{ variable: 'TEMPORAL_ADDRESS', rule }]);
  if (signal?.aborted) throw new CallAbortedError(signal.reason);
  const whyMs = Math.min(WHY_MS, connectTimeoutMs / 2);
  const connectTimeout = Math.ceil(connectTimeoutMs - whyMs);
  const connection = Connection.lazy({ ...connectionOptions, connectTimeout, interceptors: [retries()] });
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new CallAbortedError(signal?.reason));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([connection.ensureConnected(), aborted.promise]);
    return connection;
  } catch (error) {
    await connection.close();
    const told = translatedError(error, '');
    if (told instanceof CallAbortedError || told instanceof TemporalRefusedError) throw told;
    throw await whyUnreachable(connectionOptions, whyMs);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
