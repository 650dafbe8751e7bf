/** The variables that HTTP services share, each with its service's prefix: `CODEC_…`, `API_…`. docs/configuration.md */
import { getErrorCode } from '../base/error-code.ts';
import type { EnvironmentReader } from '../config/environment.ts';
import { readKeySet } from '../protection/proofs.ts';
import { isLoopbackHost } from './addresses.ts';
import type { HttpLimits } from './limits.ts';
import type { TokenSettings } from './token-verifier.ts';

type Prefix = 'CODEC' | 'API';

/** The key set, and whose tokens for whom; one of `…_JWKS_URL` and `…_JWKS_FILE` is given. */
export function readTokenSettings(reader: EnvironmentReader, prefix: Prefix): TokenSettings {
  const [urlVariable, fileVariable] = [`${prefix}_JWKS_URL`, `${prefix}_JWKS_FILE`] as const;
  const [url, file] = [reader.get(urlVariable), reader.get(fileVariable)];
  if (url !== undefined && file !== undefined) reader.report(urlVariable, `must not be given beside ${fileVariable}`);
  if (file !== undefined) checkKeySet(reader, fileVariable, file);
  return {
    jwks: file === undefined ? { url: url ?? '' } : { file },
    issuer: reader.get(`${prefix}_JWT_ISSUER`),
    audience: reader.get(`${prefix}_JWT_AUDIENCE`),
    algorithms: reader.get(`${prefix}_JWT_ALGORITHMS`),
  };
}

function checkKeySet(reader: EnvironmentReader, variable: string, file: string): void {
  try {
    readKeySet(file);
  } catch (error) {
    const code = getErrorCode(error);
    const why = code === 'unreadable' ? 'with public keys alone' : `that can be read (${code})`;
    reader.report(variable, `must name a JSON file {"keys": [...]} ${why}`);
  }
}

/**
 * Reads the address of a service, its rates, and who may connect: beyond this machine by TLS, or from named proxies
 * alone.
 */
export function readService(reader: EnvironmentReader, prefix: Prefix, host: string, defaults: HttpLimits) {
  const tls = readTls(reader, prefix);
  const trustedProxies = reader.get(`${prefix}_TRUSTED_PROXIES`);
  if (reader.environment !== 'sandbox' && !isLoopbackHost(host) && !tls && trustedProxies.length === 0) {
    const rule = `is required beyond this machine, unless ${prefix}_TRUSTED_PROXIES names who may connect`;
    reader.report(`${prefix}_TLS_CERT_FILE`, rule);
  }
  const file = reader.get(`${prefix}_AUDIT_FILE`);
  const perSecond = reader.get(`${prefix}_RATE_PER_SECOND`) ?? defaults.perSecond;
  // Requests at once grow with those per second.
  const burst = Math.ceil((perSecond * defaults.burst) / defaults.perSecond);
  return { host, trustedProxies, tls, audit: file === undefined ? undefined : { file }, limits: { perSecond, burst } };
}

function readTls(reader: EnvironmentReader, prefix: Prefix): { cert: string; key: string } | undefined {
  const [certVariable, keyVariable] = [`${prefix}_TLS_CERT_FILE`, `${prefix}_TLS_KEY_FILE`] as const;
  const [certFile, keyFile] = [reader.get(certVariable), reader.get(keyVariable)];
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) reader.report(certVariable, `is required beside ${keyVariable}`);
  if (keyFile === undefined) reader.report(keyVariable, `is required beside ${certVariable}`);
  if (certFile === undefined || keyFile === undefined) return undefined;
  reader.requireClosedFile(keyVariable);
  const [cert, key] = [reader.file(certVariable, certFile), reader.file(keyVariable, keyFile)];
  return cert === undefined || key === undefined ? undefined : { cert, key };
}
