/** Tells this machine and trusted proxies from other hosts. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

export type ProxyCheck = (address: string | undefined) => boolean;

/** Returns `undefined` if there is no proxy. @throws Error for a text that is no address and no CIDR block */
export function createProxyCheck(proxies: readonly string[] = []): ProxyCheck | undefined {
  if (proxies.length === 0) return undefined;
  const trusted = proxies.map((proxy) =>
    ipaddr.parseCIDR(proxy.includes('/') ? proxy : `${proxy}/${isIP(proxy) === 6 ? 128 : 32}`),
  );
  // A socket that listens on :: names IPv4 peers as `::ffff:10.0.0.1`, which `process` takes for 10.0.0.1.
  return (address = '') =>
    ipaddr.isValid(address) && ipaddr.subnetMatch(ipaddr.process(address), { trusted }, 'other') === 'trusted';
}
