/** From environment variables to the codec server's options; docs/codec-server.md has the table. */
import { defined } from '../base/defined.ts';
import { addressProblem } from '../config/addresses.ts';
import type { LedgerAccess } from '../config/config-shape.ts';
import { EnvironmentReader, errorCode } from '../config/environment-reader.ts';
import { readLedgerAccess } from '../config/ledger-settings.ts';
import { type LogLevel, readLogLevel } from '../config/log-level.ts';
import { checkSecretFile } from '../config/private-file.ts';
import { checkProcess } from '../config/process-rules.ts';
import { DEFAULT_LIMITS } from '../http/limits.ts';
import { ROLES, type Role } from '../http/roles.ts';
import { isProxyAddress } from '../http/trusted-proxies.ts';
import { ENVIRONMENTS, type Environment } from '../model/products.ts';
import { ALGORITHMS, readKeySet } from '../protection/proofs/key-set.ts';
import { type Authentication, type CodecServerOptions, isLoopbackHost } from './options.ts';

/** Beside the sandbox's 7280. */
export const DEFAULT_PORT = 7281;

/** Where `credit-journey dev` has its UI. */
const DEV_UI_ORIGINS = 'http://127.0.0.1:8233,http://localhost:8233';

const NAMESPACE = /^[!-9;-~]{1,255}$/;

/** All of the options that the environment says, and where keys and ledger are. */
export interface CodecServerSettings {
  options: Omit<CodecServerOptions, 'keys' | 'openLedger'>;
  keyRingFile: string;
  logLevel: LogLevel;
  /** Absent where reports are not to be read here. */
  ledgerAccess?: LedgerAccess;
}

/**
 * @param overrides what a command line says, above the variables
 * @throws ConfigError with every problem at once
 */
export function loadCodecServerSettings(
  env: NodeJS.ProcessEnv,
  overrides: { host?: string; port?: string } = {},
): CodecServerSettings {
  const reader = new EnvironmentReader({
    ...env,
    ...defined({ CODEC_SERVER_HOST: overrides.host, CODEC_SERVER_PORT: overrides.port }),
  });
  const environment = reader.oneOf('GATEWAY_ENVIRONMENT', ENVIRONMENTS, 'sandbox');
  checkProcess(reader, environment);
  const host = reader.text('CODEC_SERVER_HOST', '127.0.0.1');
  const tls = readTls(reader, environment);
  const trustedProxies = readList(reader, 'CODEC_TRUSTED_PROXIES', '', (one) =>
    isProxyAddress(one) ? null : 'must be addresses or CIDR blocks, with commas between',
  );
  if (environment !== 'sandbox' && !isLoopbackHost(host) && !tls && trustedProxies.length === 0) {
    reader.report(
      'CODEC_TLS_CERT_FILE',
      'is required beyond this machine, unless CODEC_TRUSTED_PROXIES names who may connect',
    );
  }
  const [first = 'default', ...others] = readNamespaces(
    reader,
    'CODEC_NAMESPACES',
    env.TEMPORAL_NAMESPACE || 'default',
  );
  const auditFile = reader.optional('CODEC_AUDIT_FILE');
  const settings: CodecServerSettings = {
    options: {
      environment,
      authentication: readAuthentication(reader, environment, host),
      namespaces: [first, ...others],
      originNamespaces: readNamespaces(reader, 'CODEC_ORIGIN_NAMESPACES', ''),
      uiOrigins: readOrigins(reader, environment),
      ...(auditFile === undefined ? {} : { audit: { file: auditFile } }),
      host,
      port: reader.integer('CODEC_SERVER_PORT', { default: DEFAULT_PORT, min: 0, max: 65_535 }),
      ...defined({ tls }),
      trustedProxies,
      limits: {
        bodyBytes: reader.integer('CODEC_MAX_BODY_BYTES', {
          default: DEFAULT_LIMITS.bodyBytes,
          min: 1_024,
          max: 64 * 1024 * 1024,
        }),
        burst: reader.integer('CODEC_RATE_BURST', { default: DEFAULT_LIMITS.burst, min: 1, max: 100_000 }),
        perSecond: reader.integer('CODEC_RATE_PER_SECOND', { default: DEFAULT_LIMITS.perSecond, min: 1, max: 100_000 }),
      },
    },
    ...readKeysAndLedger(reader, environment),
    logLevel: readLogLevel(reader, environment),
  };
  reader.throwIfWrong();
  return settings;
}

/** Keys of one use open nothing of the other: a codec server may well have no ledger. */
function readKeysAndLedger(
  reader: EnvironmentReader,
  environment: Environment,
): Pick<CodecServerSettings, 'keyRingFile' | 'ledgerAccess'> {
  const isNamed = ['LEDGER_URL', 'LEDGER_URL_FILE'].some((variable) => reader.optional(variable) !== undefined);
  if (!isNamed && environment !== 'sandbox') return { keyRingFile: reader.text('KEY_RING_FILE', undefined) };
  const ledgerAccess = readLedgerAccess(reader, environment, { needsId: true });
  return { keyRingFile: ledgerAccess.keyRingFile, ledgerAccess };
}

function readAuthentication(reader: EnvironmentReader, environment: Environment, host: string): Authentication {
  const url = reader.optional('CODEC_JWKS_URL');
  const file = reader.optional('CODEC_JWKS_FILE');
  if (url === undefined && file === undefined) {
    if (environment === 'production') {
      reader.report(
        'CODEC_JWKS_URL',
        'is required in production, or CODEC_JWKS_FILE: an unguessable path is for one machine alone',
      );
    }
    if (!isLoopbackHost(host)) {
      reader.report('CODEC_SERVER_HOST', 'must be 127.0.0.1, ::1 or localhost where no key set for tokens is given');
    }
    return { kind: 'path', ...readPathRoles(reader) };
  }
  if (url !== undefined && file !== undefined)
    reader.report('CODEC_JWKS_URL', 'must not be given beside CODEC_JWKS_FILE');
  if (url !== undefined) checkAddress(reader, 'CODEC_JWKS_URL', addressProblem(url, environment));
  if (file !== undefined) checkKeySet(reader, file);
  const algorithms = readList(reader, 'CODEC_JWT_ALGORITHMS', ALGORITHMS.join(','), (one) =>
    ALGORITHMS.some((known) => known === one) ? null : `must be among ${ALGORITHMS.join(', ')}`,
  );
  return {
    kind: 'jwt',
    jwks: file === undefined ? { url: url ?? '' } : { file },
    issuer: reader.text('CODEC_JWT_ISSUER', undefined),
    audience: reader.text('CODEC_JWT_AUDIENCE', undefined),
    algorithms,
    permissionsClaim: reader.text('CODEC_JWT_PERMISSIONS_CLAIM', 'permissions'),
  };
}

function readPathRoles(reader: EnvironmentReader): { roles?: readonly Role[] } {
  if (reader.optional('CODEC_PATH_ROLES') === undefined) return {};
  const isRole = (word: string): word is Role => ROLES.some((role) => role === word);
  const words = readList(reader, 'CODEC_PATH_ROLES', '', (word) =>
    isRole(word) ? null : `must be among ${ROLES.join(', ')}, with commas between`,
  );
  return { roles: words.filter(isRole) };
}

function checkKeySet(reader: EnvironmentReader, file: string): void {
  try {
    readKeySet(file);
  } catch (error) {
    const code = errorCode(error);
    const why = code === 'unreadable' ? 'with public keys alone' : `that can be read (${code})`;
    reader.report('CODEC_JWKS_FILE', `must name a JSON file {"keys": [...]} ${why}`);
  }
}

function readTls(reader: EnvironmentReader, environment: Environment): { cert: string; key: string } | undefined {
  const certFile = reader.optional('CODEC_TLS_CERT_FILE');
  const keyFile = reader.optional('CODEC_TLS_KEY_FILE');
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) reader.report('CODEC_TLS_CERT_FILE', 'is required beside CODEC_TLS_KEY_FILE');
  if (keyFile === undefined) reader.report('CODEC_TLS_KEY_FILE', 'is required beside CODEC_TLS_CERT_FILE');
  else if (certFile !== undefined) checkSecretFile(reader, environment, 'CODEC_TLS_KEY_FILE');
  const cert = certFile === undefined ? undefined : reader.file('CODEC_TLS_CERT_FILE', certFile);
  const key = keyFile === undefined ? undefined : reader.file('CODEC_TLS_KEY_FILE', keyFile);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

function readOrigins(reader: EnvironmentReader, environment: Environment): string[] {
  const variable = 'CODEC_SERVER_UI_ORIGINS';
  return readList(reader, variable, environment === 'sandbox' ? DEV_UI_ORIGINS : '', (origin) => {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin || origin === 'null') {
      return 'must be origins such as https://temporal.example.com, with commas between';
    }
    const { protocol, hostname } = new URL(origin);
    const isPlain = protocol !== 'https:' && environment !== 'sandbox';
    return isPlain && (environment === 'production' || !isLoopbackHost(hostname))
      ? 'must be https outside the sandbox'
      : null;
  });
}

function readNamespaces(reader: EnvironmentReader, variable: string, fallback: string): string[] {
  return readList(reader, variable, fallback, (name) =>
    NAMESPACE.test(name) ? null : 'must be names of namespaces, with commas between',
  );
}

/** Commas between; one problem however many entries are wrong. */
function readList(
  reader: EnvironmentReader,
  variable: string,
  fallback: string,
  check: (entry: string) => string | null,
): string[] {
  const entries = (reader.optional(variable) ?? fallback)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const rule = entries.map(check).find((found) => found !== null);
  if (rule) reader.report(variable, rule);
  return entries;
}

function checkAddress(reader: EnvironmentReader, variable: string, rule: string | null): void {
  if (rule) reader.report(variable, rule);
}
