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
import type { StoredReports } from './reports/stored-report.ts';

/** What programs beside the ledger add to a client, which by itself loads neither ledger nor telemetry. */
export interface Additions {
  reports?: (codecServer: CodecServerConnection | undefined) => Promise<StoredReports>;
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
  reports: () => Promise<StoredReports>;
}

/** Connects to Temporal, with the environment's values where the options give none. */
export async function connectedParts(options: ConnectOptions, additions: Additions = {}): Promise<ClientParts> {
  const settings = settingsOf(options);
  const { namespace } = settings.temporal;
  const codecServer = await codecServerOf(settings);
  const { tracing, traces = settings.traces, reports = reportsBy } = additions;
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
    reports: () => reports(codecServer),
  };
}

function closing(connection: ConnectionLike | undefined) {
  return async (error: unknown): Promise<never> => {
    await connection?.close();
    throw error;
  };
}

async function reportsBy(codecServer: CodecServerConnection | undefined): Promise<StoredReports> {
  const rule = 'is required: this client reads reports by the codec server';
  if (!codecServer) throw new ConfigError([{ variable: 'CODEC_SERVER_URL', rule }]);
  return (await import('./reports/remote-reports.ts')).remoteReports(codecServer);
}
