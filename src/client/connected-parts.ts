/** What a client is made of, connected. */
import { Client, type ConnectionLike, type WorkflowClientInterceptor } from '@temporalio/client';
import { ConfigError } from '../model/problems.ts';
import type { CodecServerConnection } from './connection/codec-server-connection.ts';
import { configuredDataConverter } from './connection/configured-data-converter.ts';
import {
  type ConnectOptions,
  codecServerOf,
  connectTo,
  DEFAULT_TIMEOUT_MS,
  settingsOf,
} from './connection/connect-options.ts';

/** What programs beside the ledger add to a client, which by itself loads neither ledger nor telemetry. */
export interface Additions {
  /** Default: whether the environment names an endpoint for spans. */
  traces?: boolean;
  tracing?: () => Promise<WorkflowClientInterceptor>;
}

/** What a client is made of. */
export interface ClientParts {
  client: Client;
  ownConnection: ConnectionLike | undefined;
  taskQueue: string;
  maxApplicants: number;
  queryTimeoutMs: number;
  codecServer: CodecServerConnection | undefined;
  /** What the client's own data converter follows: closed with the client. */
  keys: { close(): void } | undefined;
}

/** As the client's package says (scripts/pack-client.ts). An older Node fails later, by a function that it lacks. */
const OLDEST_NODE = [22, 19] as const;

/** @throws ConfigError where this Node is too old */
function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  const rule = `must be ${OLDEST_NODE.join('.')} or later: this program runs on ${process.versions.node}`;
  throw new ConfigError([{ variable: 'Node.js', rule }]);
}

/** Connects to Temporal, with the environment's values where the options give none. */
export async function connectedParts(options: ConnectOptions, additions: Additions = {}): Promise<ClientParts> {
  requireNode();
  const settings = settingsOf(options);
  const { namespace } = settings.temporal;
  const codecServer = await codecServerOf(settings);
  const { tracing, traces = settings.traces } = additions;
  const interceptors = tracing && traces ? { workflow: [await tracing()] } : {};
  const connection = options.connection ?? (await connectTo(settings.temporal, options));
  const ownConnection = options.connection ? undefined : connection;
  const { dataConverter, keys } = options.dataConverter
    ? { dataConverter: options.dataConverter, keys: undefined }
    : await configuredDataConverter(settings, { connection, codecServer }).catch(closing(ownConnection));
  return {
    client: new Client({ connection, namespace, dataConverter, interceptors }),
    ownConnection,
    taskQueue: settings.taskQueue,
    maxApplicants: settings.maxApplicants,
    queryTimeoutMs: options.queryTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    codecServer,
    keys,
  };
}

function closing(connection: ConnectionLike | undefined) {
  return async (error: unknown): Promise<never> => {
    await connection?.close();
    throw error;
  };
}
