/**
 * Which addresses events may be sent to. A name says nothing of where it leads, and what it led to a moment ago may be
 * another address now (DNS rebinding): what is checked is what is connected to.
 */
import { type LookupAddress, lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { WebhookError } from './errors.ts';

/** Public by its range, and a cloud's inner service all the same: Azure's, for its virtual machines. */
const INNER_SERVICES = ['168.63.129.16'];

/** What the Internet routes for IPv6; the rest is private, reserved, or leads to IPv4 by a detour. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is one of the public Internet: not private, loopback, link-local, CGNAT, metadata, reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `::ffff:10.0.0.1` is 10.0.0.1.
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast' || INNER_SERVICES.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6);
}

export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface GuardOptions {
  /** How names are looked up, where not by the system. */
  lookup?: Lookup;
  /** Default: `isPublicAddress`. */
  isPermitted?: (address: string) => boolean;
}

/**
 * Connects to permitted addresses only, for undici's Agent. One refused address among those of a name refuses the name:
 * nothing public has an inner address beside it.
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
    // An address in the place of a name is never looked up.
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
