/** Rules for single texts of the configuration. Each function returns the rule that a text breaks, or `null`. */
import { type Stats, statSync } from 'node:fs';
import { isLoopback } from '../base/loopback.ts';
import { ENVIRONMENTS, type Environment } from '../model/products.ts';

/** Checks an address in any environment, so that environments cannot be confused (docs/protection.md). */
export function checkAddress(address: string, environment: Environment): string | null {
  const url = parseHttpAddress(address);
  if (typeof url === 'string') return url;
  if (url.search || url.hash) return 'must not have a query or a fragment';
  if (environment === 'sandbox') return null;
  if (environment === 'production') {
    if (url.protocol !== 'https:') return 'must be https in production';
    if (isLoopback(url.hostname)) return 'must not be this machine in production';
    if (isCalledSandbox(url.hostname)) return 'must not be a sandbox in production';
    return null;
  }
  // Loopback sends nothing over a shared network.
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return 'must be https outside the sandbox';
  return null;
}

/**
 * Checks an address of a gateway or its token service. The sandbox environment may run unencrypted and makes ledgers by
 * itself, so it must never reach a gateway that posts.
 */
export function checkGatewayAddress(address: string, environment: Environment): string | null {
  const rule = checkAddress(address, environment);
  if (rule || environment !== 'sandbox') return rule;
  return isStandIn(new URL(address).hostname) ? null : `must be a stand-in in the sandbox: ${STAND_INS}`;
}

const STAND_INS =
  'this machine, a private address, a name without a dot, a service of a cluster (.svc), or a host called sandbox';

/** Checks an address of a rehearsal, in addition to the rules of its environment. */
export function checkRehearsalAddress(address: string): string | null {
  const url = URL.parse(address);
  return !url || isStandIn(url.hostname) ? null : `must be a stand-in in a rehearsal: ${STAND_INS}`;
}

/** Returns true for hosts where no provider's gateway can be: container networks name their hosts without a dot. */
function isStandIn(hostname: string): boolean {
  if (isLoopback(hostname) || isCalledSandbox(hostname)) return true;
  if (!hostname.includes('.') && !hostname.startsWith('[')) return true;
  if (/\.svc(\.cluster\.local)?$/.test(hostname)) return true;
  return /^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+$/.test(hostname);
}

function isCalledSandbox(hostname: string): boolean {
  return /(^|[.-])sandbox([.-]|$)/.test(hostname);
}

/** Finds the part that two environments may not share: the host, and on one machine host and port. */
export function findHost(address: string): string | null {
  const url = URL.parse(address);
  return url && (isLoopback(url.hostname) ? url.host : url.hostname);
}

/** Checks an endpoint for events. The connector checks where its name leads. */
export function checkWebhookAddress(address: string, environment: Environment): string | null {
  const url = parseHttpAddress(address);
  if (typeof url === 'string') return url;
  if (url.protocol !== 'https:' && environment !== 'sandbox') return 'must be https outside the sandbox';
  return url.hash ? 'must not have a fragment' : null;
}

/**
 * Checks a collector of traces. Spans hold journey ids, and the hosts and times of calls, so they must not cross a
 * network in the clear.
 */
export function checkCollectorAddress(address: string, environment: Environment): string | null {
  const url = parseHttpAddress(address);
  if (typeof url === 'string') return url;
  if (url.search || url.hash) return 'must not have a query or a fragment';
  if (environment === 'sandbox' || url.protocol === 'https:' || isLoopback(url.hostname)) return null;
  return 'must be https outside the sandbox, or this machine';
}

/** Checks the origin of a page that may call. */
export function checkOrigin(origin: string, environment: Environment): string | null {
  const url = URL.parse(origin);
  if (!url || url.origin !== origin || origin === 'null') {
    return 'must be origins such as https://temporal.example.com, with commas between';
  }
  const { protocol, hostname } = url;
  if (protocol === 'https:' || environment === 'sandbox') return null;
  return environment === 'production' || !isLoopback(hostname) ? 'must be https outside the sandbox' : null;
}

/** Returns the address, or the rule that it breaks. */
function parseHttpAddress(address: string): URL | string {
  // The parser leaves white space out, but not where a path is added behind it.
  if (/\s/.test(address)) return 'must not hold white space';
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return 'must be an http or https address';
  return url.username || url.password ? 'must not hold credentials' : url;
}

const LEDGER_ADDRESSES = 'file:<path> or postgres://<host>/<database>';

/**
 * Checks the address of a ledger. In production a connection over a network is encrypted, and the server's certificate
 * is checked.
 */
export function checkLedgerAddress(url: string, environment: Environment): string | null {
  if (/^file:./.test(url)) return null;
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return `must be ${LEDGER_ADDRESSES}`;
  if (environment !== 'production') return null;
  const { hostname, searchParams } = new URL(url);
  // The driver uses the last of repeated parameters.
  const last = (name: string) => searchParams.getAll(name).at(-1);
  // A Unix socket names its directory in `host`.
  const host = last('host') || hostname;
  // The driver would connect to PGHOST.
  if (host === '') return 'must name its host in production, or the directory of a Unix socket in `?host=`';
  if (host.startsWith('/') || host.startsWith('%2F') || isLoopback(host)) return null;
  const isChecked = last('sslmode') === 'verify-full' && !searchParams.has('ssl');
  return isChecked ? null : 'must have sslmode=verify-full in production, unless the database is on this machine';
}

/** Checks a ledger's address in a variable. In production a password comes from a file (docs/protection.md). */
export function checkLedgerVariable(url: string, environment: Environment): string | null {
  if (environment === 'production' && url.startsWith('postgres') && URL.canParse(url)) {
    const { password, searchParams } = new URL(url);
    const hasPassword = password !== '' || searchParams.has('password');
    if (hasPassword) return 'must not hold a password in production: name a file in LEDGER_URL_FILE';
  }
  return checkLedgerAddress(url, environment);
}

export function checkApiVersion(value: string): string | null {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(value) ? null : 'must be one part of a path, such as grs_v001';
}

export function checkTimeZone(value: string): string | null {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: value });
    // An offset has no daylight saving time; the interface's times are those of a place.
    return /^[+-]/.test(value) ? 'must be an IANA name, not an offset' : null;
  } catch {
    return 'must be an IANA time zone, such as America/Chicago';
  }
}

/** Checks a task queue. Workers of two environments never take each other's work. */
export function checkTaskQueue(name: string, environment: Environment): string | null {
  if (!/^[A-Za-z0-9._/-]{1,200}$/.test(name)) {
    return 'must be 1 to 200 letters, digits, dots, dashes, underscores or slashes';
  }
  const other = findOtherEnvironment(name, environment);
  return other ? `must not contain the name of the environment ${other}` : null;
}

/** Returns the environment in a task queue's name if it is not this one. */
export function findOtherEnvironment(taskQueue: string, environment: Environment): Environment | undefined {
  const words = taskQueue.split(/[._/-]/);
  return ENVIRONMENTS.find((name) => name !== environment && words.includes(name));
}

/**
 * Checks a secret's file in production. Its group may read it: containers get files that way (`fsGroup`). A missing
 * file breaks no rule here; its reader reports it.
 */
export function checkOpenFile(path: string): string | null {
  if (process.platform === 'win32') return null;
  const isOpen = ((findStats(path)?.mode ?? 0) & 0o007) !== 0;
  return isOpen ? 'must be in a file that is closed to other users in production: `chmod o-rwx` it' : null;
}

/** Returns `undefined` for a path that leads nowhere. Never throws: an error would show the path, which may be a secret. */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
