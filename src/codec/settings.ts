/** From environment variables to the codec server's options; docs/codec-server.md has the table. */
import { checkProcess } from '../config/client.ts';
import { type EnvironmentReader, readPart } from '../config/environment.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { HttpServiceOptions } from '../http/service.ts';
import { readService, readTokenSettings } from '../http/settings.ts';
import type { Environment } from '../model/products.ts';
import type { PayloadKeys } from '../protection/keys/key-ring.ts';
import { type Authentication, findPathProblems } from './access.ts';

/** @throws ConfigError with every problem at once */
export function loadCodecServerSettings(env: NodeJS.ProcessEnv) {
  return readPart(env, readSettings);
}

function readSettings(reader: EnvironmentReader) {
  checkProcess(reader);
  const host = reader.get('CODEC_SERVER_HOST');
  const [first = reader.raw('TEMPORAL_NAMESPACE') ?? 'default', ...others] = reader.get('CODEC_NAMESPACES');
  const options: Omit<CodecServerOptions, 'keys'> = {
    environment: reader.environment,
    authentication: readAuthentication(reader, host),
    namespaces: [first, ...others],
    originNamespaces: reader.get('CODEC_ORIGIN_NAMESPACES'),
    uiOrigins: reader.get('CODEC_SERVER_UI_ORIGINS'),
    ...readService(reader, 'CODEC', host, DEFAULT_LIMITS),
    port: reader.get('CODEC_SERVER_PORT'),
  };
  return {
    options,
    keyRingFile: reader.get('KEY_RING_FILE'),
    logLevel: reader.get('LOG_LEVEL'),
    metricsAddress: reader.get('METRICS_ADDRESS'),
  };
}

function readAuthentication(reader: EnvironmentReader, host: string): Authentication {
  if (reader.raw('CODEC_JWKS_URL') === undefined && reader.raw('CODEC_JWKS_FILE') === undefined) {
    for (const { variable, rule } of findPathProblems(reader.environment, host)) reader.report(variable, rule);
    return { kind: 'path', roles: reader.get('CODEC_PATH_ROLES') };
  }
  const permissionsClaim = reader.get('CODEC_JWT_PERMISSIONS_CLAIM');
  return { kind: 'jwt', ...readTokenSettings(reader, 'CODEC'), permissionsClaim };
}

export interface CodecServerOptions extends HttpServiceOptions {
  environment: Environment;
  keys: PayloadKeys;
  authentication: Authentication;
  /** The namespaces that are served. */
  namespaces: readonly [string, ...string[]];
  /** Origins of payloads that are decoded in every namespace served, besides its own: of histories that were moved. */
  originNamespaces?: readonly string[];
  /** `https://host[:port]` of the UIs whose pages may call; without any, no page may. */
  uiOrigins?: readonly string[];
  limits?: Partial<CodecServerLimits>;
  /** An alert: a caller asked for a payload under a key that the key ring lacks. */
  onUnknownKey?: (keyId: string) => void;
}

export interface CodecServerLimits extends HttpLimits {
  /** In one request. */
  payloads: number;
  /** Limit for the payloads of one request once they are decompressed. */
  decodedBytes: number;
}

export const DEFAULT_LIMITS: CodecServerLimits = {
  // The server takes 4 MB in a message, which are 5.4 MB in base64.
  bodyBytes: 8 * 1024 * 1024,
  payloads: 10_000,
  // One body of 8 MB holds 6 MB, which deflate made of five times that where it is a long history.
  decodedBytes: 32 * 1024 * 1024,
  // More at once are no faster on a few cores, and cost 8 MB each.
  work: { running: 16, runningPerCaller: 8, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  bodies: { running: 32, runningPerCaller: 8, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  bodyTimeoutMs: 10_000,
  // The UI asks once for each event of a page, all at once: a journey has up to 75 and a list of runs many of them.
  burst: 1_000,
  perSecond: 200,
  requestTimeoutMs: 30_000,
};
