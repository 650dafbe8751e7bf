/** The addresses that each environment may have, so that environments cannot be confused (docs/protection.md). */
import { isLoopback } from '../base/loopback.ts';
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
    if (isCalledSandbox(url.hostname)) return 'must not be a sandbox in production';
    return null;
  }
  // A local stand-in sends nothing over a shared network.
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return 'must be https outside the sandbox';
  return null;
}

/**
 * The rule that an address of a gateway or its token service breaks, or `null`. The sandbox environment may run
 * unencrypted and makes ledgers by itself, so it must never reach a gateway that posts.
 */
export function gatewayAddressProblem(address: string, environment: Environment): string | null {
  const rule = addressProblem(address, environment);
  if (rule || environment !== 'sandbox') return rule;
  return isStandIn(new URL(address).hostname) ? null : `must be a stand-in in the sandbox: ${STAND_INS}`;
}

const STAND_INS =
  'this machine, a private address, a name without a dot, a service of a cluster (.svc), or a host called sandbox';

/** The rule that an address of a rehearsal breaks beside those of its environment, or `null`. */
export function rehearsalAddressProblem(address: string): string | null {
  if (!URL.canParse(address) || isStandIn(new URL(address).hostname)) return null;
  return `must be a stand-in in a rehearsal: ${STAND_INS}`;
}

/** Hosts where no provider's gateway can be: container networks name their hosts without a dot. */
function isStandIn(hostname: string): boolean {
  if (isLoopback(hostname) || isCalledSandbox(hostname)) return true;
  if (!hostname.includes('.') && !hostname.startsWith('[')) return true;
  if (/\.svc(\.cluster\.local)?$/.test(hostname)) return true;
  return /^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+$/.test(hostname);
}

function isCalledSandbox(hostname: string): boolean {
  return /(^|[.-])sandbox([.-]|$)/.test(hostname);
}

/** The part that two environments may not share: the host, and on one machine host and port. */
export function hostOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { host, hostname } = new URL(address);
  return isLoopback(hostname) ? host : hostname;
}
