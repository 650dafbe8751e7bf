/**
 * The addresses that events may be sent to. A name can lead to any address, and to another one a moment later (DNS
 * rebinding). So the guard checks the very address that the worker connects to.
 */
import { type LookupAddress, lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { WebhookError } from './errors.ts';

/** Inner services of a cloud within a public range: Azure's, for its virtual machines. */
const INNER_SERVICES = ['168.63.129.16'];

/** The IPv6 range that the Internet routes. The rest is private, reserved, or leads to IPv4. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is one of the public Internet: not private, loopback, link-local, CGNAT, metadata, reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `::ffff:10.0.0.1` means 10.0.0.1.
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast' || INNER_SERVICES.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6);
}

type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface GuardOptions {
  /** How names are looked up. Default: by the system. */
  lookup?: Lookup;
  /** Default: `isPublicAddress`. */
  isPermitted?: (address: string) => boolean;
}

/**
 * A connector for undici's Agent that connects to permitted addresses only. One refused address of a name refuses the
 * whole name: no public service has an inner address too.
 */
export function guardedConnector(
  options: { timeout: number; minVersion: 'TLSv1.2' },
  { lookup = lookUp, isPermitted = isPublicAddress }: GuardOptions = {},
): buildConnector.connector {
  const guarded: LookupFunction = (hostname, { all }, callback) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) callback(error ?? new WebhookError('WebhookUnreachable'), '', 0);
      else if (!addresses.every(({ address }) => isPermitted(address))) callback(refusal(), '', 0);
      else if (all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ ...options, allowH2: false, rejectUnauthorized: true, lookup: guarded });
  return (to, callback) => {
    const host = to.hostname.replace(/^\[(.*)\]$/, '$1');
    // A host that is an address is never looked up.
    if (isIP(host) !== 0 && !isPermitted(host)) {
      callback(refusal(), null);
      return;
    }
    connect(to, (...ends) => {
      const [error, socket] = ends;
      if (error) {
        callback(error, null);
      } else if (isPermitted(socket.remoteAddress ?? '')) {
        callback(null, socket);
      } else {
        socket.destroy();
        callback(refusal(), null);
      }
    });
  };
}

function refusal(): WebhookError {
  return new WebhookError('WebhookAddressRefused');
}
