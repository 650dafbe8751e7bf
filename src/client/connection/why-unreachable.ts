/** Finds out why a connection to Temporal did not come about: gRPC itself says only that it took too long. */
import { X509Certificate } from 'node:crypto';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ClientSettings } from '../../config/client.ts';
import { findUnreachableCode, type TemporalUnavailableCode, TemporalUnavailableError, UNREACHABLE } from './errors.ts';

type ConnectionOptions = ClientSettings['temporal']['connectionOptions'];

const DEFAULT_PORT = 7233;

/** Host and port of `host:port` or `[IPv6]:port`; `null` where it is neither. The port may be left out. */
export function hostAndPort(address: string): { host: string; port: number } | null {
  const [, six, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:/[\]@]+))(?::(\d{1,5}))?$/.exec(address) ?? [];
  const host = six ?? name;
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

/** The rule that an address breaks, or `null`. */
export function temporalAddressProblem(address: string): string | null {
  return hostAndPort(address) === null ? 'must be host:port, such as 127.0.0.1:7233, without a scheme or a path' : null;
}

/** Connects once more by hand, for at most `withinMs`. Sends nothing but what begins TLS. */
export async function whyUnreachable(
  { address, tls }: Pick<ConnectionOptions, 'address' | 'tls'>,
  withinMs: number,
): Promise<TemporalUnavailableError> {
  const at = hostAndPort(address);
  if (at === null) return unavailable('addressUnknown', address);
  const until = performance.now() + withinMs;
  const leftMs = () => Math.max(1, until - performance.now());
  const byTcp = await attempt(leftMs(), 'connect', () => connectTcp(at));
  if (byTcp !== null) return unavailable(findUnreachableCode(byTcp), address, byTcp);
  const config = typeof tls === 'object' ? tls : {};
  const { crt, key } = config.clientCertPair ?? {};
  let isOldServer: boolean | undefined;
  const byTls = await attempt(
    leftMs(),
    'secureConnect',
    () => {
      const socket = connectTls({
        ...at,
        ALPNProtocols: ['h2'],
        // Without TLS in the configuration it only matters whether the server speaks it.
        rejectUnauthorized: Boolean(tls),
        servername: config.serverNameOverride ?? (at.host.includes(':') || /^[\d.]+$/.test(at.host) ? '' : at.host),
        ...(config.serverRootCACertificate && { ca: Buffer.from(config.serverRootCACertificate) }),
        ...(crt && key && { cert: Buffer.from(crt), key: Buffer.from(key) }),
      });
      socket.once('secureConnect', () => {
        isOldServer = isBelowVersion3(socket.getPeerCertificate().raw);
      });
      return socket;
    },
    Boolean(tls),
  );
  if (byTls === 'ETIMEDOUT') return unavailable('timedOut', address, byTls);
  if (!tls) return unavailable(byTls === null ? 'tlsExpected' : 'notTemporal', address);
  const isSecured = isOldServer !== undefined;
  if (byTls !== null && !isSecured) return tlsFailed(address, byTls);
  // Workers take none of these, though Node and the Temporal CLI do.
  if (isOldServer) return tlsFailed(address, 'X509_VERSION', 'its certificate must be X.509 version 3');
  if (crt && isBelowVersion3(parseDer(crt))) {
    return tlsFailed(address, 'X509_VERSION', 'the client certificate must be X.509 version 3');
  }
  if (byTls !== null) return tlsFailed(address, `${byTls} after TLS`);
  return unavailable('notTemporal', address);
}

/** Remedies by the error codes of Node and of OpenSSL. */
const RIGHT: readonly [sign: RegExp, what: string][] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/,
    'server_ca_cert_path (TEMPORAL_TLS_SERVER_CA_CERT_PATH) must name its authority',
  ],
  [/ALTNAME_INVALID/, 'its certificate must have the name of the address, or server_name be one that it has'],
  [/^CERT_HAS_EXPIRED|^CERT_NOT_YET_VALID/, 'its certificate must be valid today'],
  [/ALERT|^ECONNRESET after TLS/, 'it must trust the client certificate (client_cert_path), which must be valid today'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH/, 'it must speak TLS'],
  [/KEY_VALUES_MISMATCH/, 'client_key_path must be the key of client_cert_path'],
  [/PEM|ASN1/, 'certificates and key must be PEM'],
];

/** @param code of Node or OpenSSL, which has nothing of a certificate */
function tlsFailed(
  address: string,
  code: string,
  right = RIGHT.find(([sign]) => sign.test(code))?.[1],
): TemporalUnavailableError {
  return unavailable('tlsFailed', `${address} (${code})${right === undefined ? '' : `: ${right}`}`, code);
}

/** Reads the DER of the first certificate; empty if the text has none. */
function parseDer(pem: string | Uint8Array): Buffer {
  try {
    return new X509Certificate(Buffer.from(pem)).raw;
  } catch {
    return Buffer.alloc(0);
  }
}

/** X.509 says its version first, in a field of its own (`[0]`), and leaves that out in version 1. RFC 5280, 4.1 */
function isBelowVersion3(der: Uint8Array | undefined): boolean {
  if (!der || der.length < 20) return false;
  const inner = afterHeader(der, afterHeader(der, 0));
  return der[inner] !== 0xa0 || der[inner + 4] !== 2;
}

/** Returns the offset of the content of the DER element at `at`, behind its tag and its length. */
function afterHeader(der: Uint8Array, at: number): number {
  const length = der[at + 1] ?? 0;
  return at + 2 + (length & 0x80 ? length & 0x7f : 0);
}

function unavailable(code: TemporalUnavailableCode, address: string, systemCode?: string): TemporalUnavailableError {
  const cause = systemCode === undefined ? {} : { cause: new Error(systemCode) };
  return new TemporalUnavailableError(`${UNREACHABLE[code]} ${address}`, code, cause);
}

/** How long a server may take, after TLS, to refuse the client's certificate (TLS 1.3) or to begin HTTP/2. */
const FIRST_BYTES_MS = 1_000;

/**
 * `null` once connected, else the code of the system or of OpenSSL.
 *
 * @param waitsForBytes until the server has said something, or nothing for a second
 */
async function attempt(
  withinMs: number,
  event: 'connect' | 'secureConnect',
  open: () => Socket,
  waitsForBytes = false,
): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let timer = setTimeout(() => resolve('ETIMEDOUT'), withinMs);
  let socket: Socket | undefined;
  try {
    socket = open();
    socket.once(event, () => {
      if (!waitsForBytes) return resolve(null);
      socket?.once('data', () => resolve(null));
      clearTimeout(timer);
      timer = setTimeout(() => resolve(null), Math.min(FIRST_BYTES_MS, withinMs));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'));
    socket.once('close', () => resolve('ECONNRESET'));
    return await promise;
  } catch (error) {
    // Certificates that cannot be parsed.
    return (error as NodeJS.ErrnoException).code ?? 'failed';
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
}
