/** Finds out why a connection to Temporal did not come about: gRPC itself says only that it took too long. */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ClientSettings } from '../../config/config-shape.ts';
import { type TemporalUnavailableCode, TemporalUnavailableError } from './errors.ts';

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
  if (byTcp !== null) return unavailable(TCP[byTcp] ?? 'unavailable', address, byTcp);
  const config = typeof tls === 'object' ? tls : {};
  const byTls = await attempt(leftMs(), 'secureConnect', () =>
    connectTls({
      ...at,
      ALPNProtocols: ['h2'],
      // Without TLS in the configuration it only matters whether the server speaks it.
      rejectUnauthorized: Boolean(tls),
      servername: config.serverNameOverride ?? (at.host.includes(':') || /^[\d.]+$/.test(at.host) ? '' : at.host),
      ...(config.serverRootCACertificate && { ca: Buffer.from(config.serverRootCACertificate) }),
      ...(config.clientCertPair && {
        cert: Buffer.from(config.clientCertPair.crt),
        key: Buffer.from(config.clientCertPair.key),
      }),
    }),
  );
  if (tls) return byTls === null ? unavailable('notTemporal', address) : unavailable('tlsFailed', address, byTls);
  return unavailable(byTls === null ? 'tlsExpected' : 'notTemporal', address);
}

const TCP: Record<string, TemporalUnavailableCode> = {
  ENOTFOUND: 'addressUnknown',
  EAI_AGAIN: 'addressUnknown',
  ECONNREFUSED: 'connectionRefused',
  ETIMEDOUT: 'timedOut',
};

const WHAT: Record<TemporalUnavailableCode, string> = {
  addressUnknown: 'there is no host of the name in',
  connectionRefused: 'nothing answers at',
  timedOut: 'no answer comes in time from',
  tlsFailed: 'TLS fails, or the certificate is not trusted, at',
  tlsExpected: 'TLS is wanted, and not configured (TEMPORAL_TLS), at',
  notTemporal: 'no Temporal server answers at',
  unavailable: 'it is away or overloaded at',
};

function unavailable(code: TemporalUnavailableCode, address: string, systemCode?: string): TemporalUnavailableError {
  const cause = systemCode === undefined ? {} : { cause: new Error(systemCode) };
  return new TemporalUnavailableError(`${WHAT[code]} ${address}`, code, cause);
}

/** `null` once connected, else the code of the system or of OpenSSL. */
async function attempt(withinMs: number, event: 'connect' | 'secureConnect', open: () => Socket) {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const timer = setTimeout(() => resolve('ETIMEDOUT'), withinMs);
  let socket: Socket | undefined;
  try {
    socket = open();
    socket.once(event, () => resolve(null));
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
