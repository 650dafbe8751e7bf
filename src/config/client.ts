/**
 * Settings of programs that only talk to Temporal, and the parts of them that other programs read too. Loads nothing of
 * the gateway, the ledger or the workers: the client's package has this file, and not config.ts.
 */
import type { TLSConfig } from '@temporalio/client';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { omitUndefined } from '../base/defined.ts';
import { getErrorCode } from '../base/error-code.ts';
import { isLoopback } from '../base/loopback.ts';
import type { CodecServerAccess } from './codec-server-access.ts';
import { type EnvironmentReader, openSecret, readPart } from './environment.ts';
import { SANDBOX_KEY_RING_FILE } from './variables.ts';

/** The options that both kinds of connection take. They contain secrets: never logged. */
export interface TemporalConnectionOptions {
  address: string;
  apiKey?: string;
  tls?: TLSConfig | boolean;
  metadata?: Record<string, string>;
}

/** How a client's payloads are encoded. */
type PayloadAccess =
  /** Only where `PAYLOAD_ENCRYPTION` is off. */
  { kind: 'clear' } | { kind: 'keyRing'; file: string } | { kind: 'codecServer'; access: CodecServerAccess };

/** Has no secret of the gateway and no ledger. */
export type ClientSettings = ReturnType<typeof readClientSettings>;

/** The kind of program that loads the settings. */
export interface ClientUse {
  /** Runs beside the ledger with a worker's secrets, so production permits it keys and ledger. Default false. */
  besideLedger?: boolean;
  /** The program's own access to the codec server takes precedence over the variables. */
  codecServer?: CodecServerAccess;
  /** A program with a data converter of its own needs neither keys nor codec server. */
  dataConverter?: object;
}

/**
 * Loads the settings of a program that only talks to Temporal.
 *
 * @throws ConfigError
 */
export function loadClientSettings(env: NodeJS.ProcessEnv, use: ClientUse = {}): ClientSettings {
  return readPart(env, (reader) => readClientSettings(reader, use));
}

export function readClientSettings(reader: EnvironmentReader, use: ClientUse) {
  refuseKeys(reader, use);
  return {
    payloads: readPayloadAccess(reader, use),
    temporal: readTemporal(reader),
    taskQueue: reader.get('TASK_QUEUE'),
    /** Traces calls by the provider that the program has registered. */
    traces: reader.raw('OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined,
  };
}

/** In production only workers, the codec server and programs beside the ledger hold keys (docs/configuration.md). */
function refuseKeys(reader: EnvironmentReader, use: ClientUse): void {
  if (reader.environment !== 'production' || use.besideLedger) return;
  for (const variable of ['KEY_RING_FILE', 'LEDGER_URL', 'LEDGER_URL_FILE']) {
    if (reader.raw(variable) === undefined) continue;
    reader.report(variable, 'must not be given to a client in production: it goes through CODEC_SERVER_URL');
  }
}

/** A codec server takes precedence over a key ring. Nothing is sent in the clear unless `PAYLOAD_ENCRYPTION` is off. */
function readPayloadAccess(reader: EnvironmentReader, use: ClientUse): PayloadAccess {
  const { environment } = reader;
  if (use.codecServer) return { kind: 'codecServer', access: use.codecServer };
  const access = readCodecServer(reader);
  if (reader.get('PAYLOAD_ENCRYPTION') === 'off') return { kind: 'clear' };
  if (access) return { kind: 'codecServer', access };
  const file = reader.raw('KEY_RING_FILE') ?? (environment === 'sandbox' ? SANDBOX_KEY_RING_FILE : undefined);
  if (file !== undefined) return { kind: 'keyRing', file };
  if (!use.dataConverter) {
    const orKeys = environment === 'production' && !use.besideLedger ? '' : ', unless KEY_RING_FILE is given';
    reader.report('CODEC_SERVER_URL', `is required outside the sandbox${orKeys}: nothing is sent in the clear`);
  }
  return { kind: 'clear' };
}

/** `CODEC_SERVER_URL` and its companion variables; `undefined` where it is not set. */
export function readCodecServer(reader: EnvironmentReader): CodecServerAccess | undefined {
  if (reader.raw('CODEC_SERVER_URL') === undefined) return undefined;
  const url = reader.get('CODEC_SERVER_URL') ?? '';
  const readToken = openSecret(reader, 'CODEC_SERVER_TOKEN');
  if (!readToken && reader.environment === 'production') {
    reader.report('CODEC_SERVER_TOKEN_FILE', 'is required in production');
  }
  return { url, readToken, caCertificate: reader.get('CODEC_SERVER_CA_FILE') };
}

/** Secrets that libraries read from the environment by themselves, and their proper place in production. */
const SECRETS_IN_VARIABLES: Readonly<Record<string, string>> = {
  TEMPORAL_API_KEY: 'TEMPORAL_CONFIG_FILE',
  TEMPORAL_TLS_CLIENT_KEY_DATA: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
  TEMPORAL_GRPC_META_AUTHORIZATION: 'TEMPORAL_CONFIG_FILE',
  PGPASSWORD: 'LEDGER_URL_FILE',
  AWS_SECRET_ACCESS_KEY: 'AWS_SHARED_CREDENTIALS_FILE, or give the machine a role',
};

/** Options of Node that write or show the content of TLS connections or memory. Node reads `_` in them as `-`. */
const TELLTALE_OPTIONS = /--(tls[-_]keylog|trace[-_]tls|inspect|heapsnapshot|heap[-_]prof|report[-_])/;

/**
 * Checks settings of the process that would undo the other rules without being part of them (docs/configuration.md,
 * "What each environment refuses").
 */
export function checkProcess(reader: EnvironmentReader): void {
  if (reader.environment === 'sandbox') return;
  if (reader.raw('NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    reader.report('NODE_TLS_REJECT_UNAUTHORIZED', 'must not be 0 outside the sandbox: it accepts any certificate');
  }
  if (reader.raw('NODE_DEBUG') !== undefined) {
    reader.report('NODE_DEBUG', 'must not be set outside the sandbox: it prints headers and tokens past the logger');
  }
  if (reader.environment !== 'production') return;
  if (TELLTALE_OPTIONS.test(reader.raw('NODE_OPTIONS') ?? '')) {
    reader.report('NODE_OPTIONS', 'must not open a debugger, or write TLS keys, heaps or reports, in production');
  }
  for (const [variable, place] of Object.entries(SECRETS_IN_VARIABLES)) {
    if (reader.raw(variable) === undefined) continue;
    reader.report(variable, `must come from a file in production: see ${place}`);
  }
  for (const variable of ['TEMPORAL_CONFIG_FILE', 'TEMPORAL_TLS_CLIENT_KEY_PATH']) reader.requireClosedFile(variable);
}

const TEMPORAL_FILES = [
  'TEMPORAL_CONFIG_FILE',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
];

/**
 * Reads the connection to Temporal by `@temporalio/envconfig`: profile file, environment, TLS, API key. The same
 * options serve the client's `Connection` and the worker's `NativeConnection`. Defaults: `127.0.0.1:7233` and
 * `default`.
 */
export function readTemporal(reader: EnvironmentReader) {
  const temporal = readTemporalOptions(reader);
  const { address, connectionOptions } = temporal;
  if (address === '') return temporal;
  const needsTls = reader.environment === 'production';
  if (needsTls && !connectionOptions.tls && !isLoopback(URL.parse(`http://${address}`)?.hostname ?? '')) {
    reader.report('TEMPORAL_TLS', 'is required in production, unless the server is on this machine');
  }
  return temporal;
}

function readTemporalOptions(reader: EnvironmentReader) {
  const unreadable = { address: '', namespace: '', connectionOptions: { address: '' } as TemporalConnectionOptions };
  // Checked here, because envconfig would not name the variable, and would report only the first file.
  const named = TEMPORAL_FILES.filter((variable) => reader.raw(variable) !== undefined);
  const contents = named.map((variable) => reader.file(variable, reader.raw(variable) ?? ''));
  if (contents.includes(undefined)) return unreadable;
  const env = Object.fromEntries(Object.entries(reader.env).filter(([, value]) => value)) as Record<string, string>;
  let profile: ReturnType<typeof loadClientConfigProfile>;
  try {
    profile = loadClientConfigProfile({ overrideEnvVars: env });
  } catch {
    // The parser's own message quotes the file, which may contain an API key.
    const variable = env.TEMPORAL_PROFILE === undefined ? 'TEMPORAL_CONFIG_FILE' : 'TEMPORAL_PROFILE';
    reader.report(variable, 'must lead to a readable Temporal configuration file that holds the profile');
    return unreadable;
  }
  try {
    const { connectionOptions, namespace = 'default' } = toClientOptions(profile);
    // Not `localhost`, which may mean `::1`, where the development server does not listen.
    const { address = '127.0.0.1:7233', tls, ...others } = connectionOptions as Partial<TemporalConnectionOptions>;
    // Without TLS the SDK would send an API key in the clear. If `tls` is absent, it sends the key by TLS.
    const options: TemporalConnectionOptions = { address, ...omitUndefined({ ...others, tls: tls || undefined }) };
    // The address by itself may be shown.
    return { address, namespace, connectionOptions: options };
  } catch (error) {
    const rule = `must lead to a profile whose TLS files can be read (${getErrorCode(error)})`;
    reader.report('TEMPORAL_CONFIG_FILE', rule);
    return unreadable;
  }
}
