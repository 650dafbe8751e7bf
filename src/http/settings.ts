/** The variables that HTTP services share, each with its service's prefix: `CODEC_…`, `API_…`. docs/configuration.md */
import { addressProblem } from '../config/addresses.ts';
import { type EnvironmentReader, errorCode } from '../config/environment-reader.ts';
import { checkSecretFile } from '../config/private-file.ts';
import type { Environment } from '../model/products.ts';
import { ALGORITHMS, readKeySet } from '../protection/proofs/key-set.ts';
import type { HttpLimits } from './limits.ts';
import { isLoopbackHost } from './server.ts';
import type { TokenSettings } from './token-verifier.ts';
import { isProxyAddress } from './trusted-proxies.ts';

type Prefix = 'CODEC' | 'API';

const NAMESPACE = /^[!-9;-~]{1,255}$/;

/** The key set, and whose tokens for whom; one of `…_JWKS_URL` and `…_JWKS_FILE` is given. */
export function readTokenSettings(reader: EnvironmentReader, environment: Environment, prefix: Prefix): TokenSettings {
  const [urlVariable, fileVariable] = [`${prefix}_JWKS_URL`, `${prefix}_JWKS_FILE`] as const;
  const url = reader.optional(urlVariable);
  const file = reader.optional(fileVariable);
  if (url !== undefined && file !== undefined) reader.report(urlVariable, `must not be given beside ${fileVariable}`);
  if (url !== undefined) {
    const rule = addressProblem(url, environment);
    if (rule) reader.report(urlVariable, rule);
  }
  if (file !== undefined) checkKeySet(reader, fileVariable, file);
  const algorithms = readList(reader, `${prefix}_JWT_ALGORITHMS`, ALGORITHMS.join(','), (one) =>
    ALGORITHMS.some((known) => known === one) ? null : `must be among ${ALGORITHMS.join(', ')}`,
  );
  return {
    jwks: file === undefined ? { url: url ?? '' } : { file },
    issuer: reader.text(`${prefix}_JWT_ISSUER`, undefined),
    audience: reader.text(`${prefix}_JWT_AUDIENCE`, undefined),
    algorithms,
  };
}

function checkKeySet(reader: EnvironmentReader, variable: string, file: string): void {
  try {
    readKeySet(file);
  } catch (error) {
    const code = errorCode(error);
    const why = code === 'unreadable' ? 'with public keys alone' : `that can be read (${code})`;
    reader.report(variable, `must name a JSON file {"keys": [...]} ${why}`);
  }
}

/** Where a service listens, and who may connect: beyond this machine by TLS, or from named proxies alone. */
export function readListening(
  reader: EnvironmentReader,
  environment: Environment,
  { prefix, hostVariable }: { prefix: Prefix; hostVariable: string },
): { host: string; tls?: { cert: string; key: string }; trustedProxies: string[] } {
  const host = reader.text(hostVariable, '127.0.0.1');
  const tls = readTls(reader, environment, prefix);
  const trustedProxies = readTrustedProxies(reader, prefix);
  if (environment !== 'sandbox' && !isLoopbackHost(host) && !tls && trustedProxies.length === 0) {
    const rule = `is required beyond this machine, unless ${prefix}_TRUSTED_PROXIES names who may connect`;
    reader.report(`${prefix}_TLS_CERT_FILE`, rule);
  }
  return { host, trustedProxies, ...(tls ? { tls } : {}) };
}

function readTls(
  reader: EnvironmentReader,
  environment: Environment,
  prefix: Prefix,
): { cert: string; key: string } | undefined {
  const [certVariable, keyVariable] = [`${prefix}_TLS_CERT_FILE`, `${prefix}_TLS_KEY_FILE`] as const;
  const certFile = reader.optional(certVariable);
  const keyFile = reader.optional(keyVariable);
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) reader.report(certVariable, `is required beside ${keyVariable}`);
  if (keyFile === undefined) reader.report(keyVariable, `is required beside ${certVariable}`);
  else if (certFile !== undefined) checkSecretFile(reader, environment, keyVariable);
  const cert = certFile === undefined ? undefined : reader.file(certVariable, certFile);
  const key = keyFile === undefined ? undefined : reader.file(keyVariable, keyFile);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

function readTrustedProxies(reader: EnvironmentReader, prefix: Prefix): string[] {
  return readList(reader, `${prefix}_TRUSTED_PROXIES`, '', (one) =>
    isProxyAddress(one) ? null : 'must be addresses or CIDR blocks, with commas between',
  );
}

/** How many requests one caller may make. Those at once grow with those per second. */
export function readLimits(
  reader: EnvironmentReader,
  prefix: Prefix,
  defaults: HttpLimits,
): Pick<HttpLimits, 'burst' | 'perSecond'> {
  const range = { default: defaults.perSecond, min: 1, max: 100_000 };
  const perSecond = reader.integer(`${prefix}_RATE_PER_SECOND`, range);
  return { perSecond, burst: Math.ceil((perSecond * defaults.burst) / defaults.perSecond) };
}

export function readNamespaces(reader: EnvironmentReader, variable: string, fallback: string): string[] {
  return readList(reader, variable, fallback, (name) =>
    NAMESPACE.test(name) ? null : 'must be names of namespaces, with commas between',
  );
}

/** Commas between; one problem however many entries are wrong. */
export function readList(
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
