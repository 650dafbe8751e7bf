/** Which addresses an environment may have: environments cannot be confused (docs/protection.md). */
import type { Environment } from '../model/products.ts';

/** The rule that an address breaks, or `null`. */
export function addressProblem(address: string, environment: Environment): string | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an http or https address';
  if (url.username || url.password) return 'must not hold credentials';
  if (url.search || url.hash) return 'must not have a query or a fragment';
  if (environment === 'sandbox') return null;
  if (environment === 'production') {
    if (url.protocol !== 'https:') return 'must be https in production';
    if (isLoopback(url.hostname)) return 'must not be this machine in production';
    if (/(^|[.-])sandbox([.-]|$)/.test(url.hostname)) return 'must not be a sandbox in production';
    return null;
  }
  // A stand-in on the same machine sends nothing over a wire that others share.
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return 'must be https outside the sandbox';
  return null;
}

/** What two environments may not have in common: the host, and on one machine host and port. */
export function hostOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { host, hostname } = new URL(address);
  return isLoopback(hostname) ? host : hostname;
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    hostname === '0.0.0.0' ||
    hostname === '[::]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname) ||
    /^\[::ffff:7f/.test(hostname)
  );
}
