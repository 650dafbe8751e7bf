/** Sends one event to one endpoint, once. Independent of Temporal, and shares no connection with the gateway. */

import { type LookupAddress, lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { getErrorCode, isTlsRefusal } from '../base/error-code.ts';
import { parseRetryAfterMs } from '../base/instants.ts';
import { WEBHOOK_FAILURES, type WebhookEndpoint, type WebhookFailureType } from '../messages/webhooks/delivery.ts';
import { checkWebhookSecret, signHeaders } from './signature.ts';

/** For the whole exchange, from the look-up of the name to the status; the webhook specification asks for 15 to 30 s. */
const TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** The body is not used. This is enough for a page that says "ok", so that the connection can be used again. */
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** A worker's messages to one endpoint at a time: a hanging endpoint must leave the worker's slots to the others. */
export const MOST_AT_ONCE = 8;
/** Undici's default. It is the maximum too: an endpoint's `Keep-Alive` cannot make it longer. */
const IDLE_CONNECTION_MS = 4_000;

export interface SenderOptions extends GuardOptions {
  timeoutMs?: number;
}

export class WebhookSender {
  readonly #toPublic: Agent;
  readonly #toAny: Agent;
  readonly #timeoutMs: number;
  /** How many messages are under way, by the endpoint's URL. */
  readonly #sending = new Map<string, number>();

  constructor({ timeoutMs = TIMEOUT_MS, ...guard }: SenderOptions = {}) {
    this.#timeoutMs = timeoutMs;
    const tls = { timeout: CONNECT_TIMEOUT_MS, minVersion: 'TLSv1.2' } as const;
    const lookup = shareLookups(guard.lookup ?? lookUp);
    this.#toPublic = createAgent(createGuardedConnector(tls, { ...guard, lookup }));
    this.#toAny = createAgent(createGuardedConnector(tls, { lookup, isPermitted: () => true }));
  }

  /**
   * Resolves with the status of a success. Does not look at the answer's body, and follows no redirects.
   *
   * @throws WebhookError
   */
  async send(endpoint: WebhookEndpoint, message: { id: string; body: string }, signal?: AbortSignal): Promise<number> {
    const atOnce = this.#sending.get(endpoint.url) ?? 0;
    if (atOnce >= MOST_AT_ONCE) throw new WebhookError('WebhookBusy', { retryAfterMs: 1_000 + Math.random() * 4_000 });
    this.#sending.set(endpoint.url, atOnce + 1);
    try {
      return await this.#exchange(endpoint, message, signal);
    } finally {
      const left = (this.#sending.get(endpoint.url) ?? 1) - 1;
      if (left > 0) this.#sending.set(endpoint.url, left);
      else this.#sending.delete(endpoint.url);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#toPublic.destroy(), this.#toAny.destroy()]);
  }

  async #exchange(
    endpoint: WebhookEndpoint,
    message: { id: string; body: string },
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const secrets = await readSecrets(endpoint);
    const tooLong = AbortSignal.timeout(this.#timeoutMs);
    const stop = signal ? AbortSignal.any([signal, tooLong]) : tooLong;
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(endpoint.url, {
        dispatcher: endpoint.allowPrivateAddresses ? this.#toAny : this.#toPublic,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'credit-journey',
          ...signHeaders(secrets, { ...message, sentAt: new Date() }),
        },
        body: message.body,
        signal: stop,
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw tooLong.aborted ? new WebhookError('WebhookTimedOut') : translateError(error);
    }
    // The status has decided already: the body changes nothing.
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal: stop }).catch(() => undefined);
    return judgeStatus(answer);
  }
}

function createAgent(connect: buildConnector.connector): Agent {
  return new Agent({
    connect,
    connections: MOST_AT_ONCE,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

async function readSecrets(endpoint: WebhookEndpoint): Promise<string[]> {
  const secrets = await endpoint.readSecrets().catch(() => []);
  // One invalid secret stops the delivery: a receiver that has only that secret would refuse the message.
  if (secrets.length === 0 || secrets.some(checkWebhookSecret)) throw new WebhookError('WebhookSecretUnreadable');
  return secrets;
}

function judgeStatus({ statusCode, headers }: Dispatcher.ResponseData): number {
  if (statusCode >= 200 && statusCode < 300) return statusCode;
  if (statusCode === 410) throw new WebhookError('WebhookGone', { httpStatus: statusCode });
  const retryAfterMs = parseRetryAfterMs(headers, Date.now());
  throw new WebhookError('WebhookRefused', { httpStatus: statusCode, retryAfterMs });
}

const TIMEOUT_CODES = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'];

function translateError(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  if (TIMEOUT_CODES.includes(getErrorCode(error))) return new WebhookError('WebhookTimedOut');
  return new WebhookError(isTlsRefusal(error) ? 'WebhookUntrusted' : 'WebhookUnreachable');
}

/** Thrown when an event was not delivered. Carries no body, no header, no address and no cause. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookFailureType;
  readonly httpStatus: number | undefined;
  /** The wait that the endpoint asked for, in milliseconds; not bounded here. */
  readonly retryAfterMs: number | undefined;

  constructor(code: WebhookFailureType, details: { httpStatus?: number; retryAfterMs?: number } = {}) {
    super(WEBHOOK_FAILURES[code]);
    this.code = code;
    this.httpStatus = details.httpStatus;
    this.retryAfterMs = details.retryAfterMs;
  }
}

// The addresses that events may be sent to. A name can lead to any address, and to another one a moment later (DNS
// rebinding). So the guard checks the very address that the worker connects to.

/** Internal services of a cloud within a public range: Azure's, for its virtual machines. */
const INNER_SERVICES = ['168.63.129.16'];

/** The IPv6 range that the Internet routes. The rest is private, reserved, or leads to IPv4. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is on the public Internet: not private, loopback, link-local, CGNAT, metadata, reserved. */
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

interface GuardOptions {
  /** How names are looked up. Default: by the system. */
  lookup?: Lookup;
  /** Default: `isPublicAddress`. */
  isPermitted?: (address: string) => boolean;
}

/**
 * Looks each name up once at a time, for all who ask meanwhile. Node has two threads for all look-ups of a process. One
 * that gets no answer keeps its thread for longer than the connection waits, and the gateway and the ledger have names.
 */
function shareLookups(lookup: Lookup): Lookup {
  const asking = new Map<string, Parameters<Lookup>[2][]>();
  return (hostname, options, callback) => {
    const others = asking.get(hostname);
    if (others) {
      others.push(callback);
      return;
    }
    const callbacks = [callback];
    asking.set(hostname, callbacks);
    lookup(hostname, options, (...answer) => {
      asking.delete(hostname);
      for (const each of callbacks) each(...answer);
    });
  };
}

/**
 * A connector for undici's Agent that connects to permitted addresses only. One refused address of a name refuses the
 * whole name: no public service has an inner address too.
 */
function createGuardedConnector(
  options: { timeout: number; minVersion: 'TLSv1.2' },
  { lookup, isPermitted = isPublicAddress }: GuardOptions & { lookup: Lookup },
): buildConnector.connector {
  const lookUpGuarded: LookupFunction = (hostname, { all }, callback) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) callback(error ?? new WebhookError('WebhookUnreachable'), '', 0);
      else if (!addresses.every(({ address }) => isPermitted(address))) callback(refusal(), '', 0);
      else if (all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ ...options, allowH2: false, rejectUnauthorized: true, lookup: lookUpGuarded });
  return (to, callback) => {
    const host = to.hostname.replace(/^\[(.*)\]$/, '$1');
    // A host that is an address is never looked up.
    if (isIP(host) !== 0 && !isPermitted(host)) {
      callback(refusal(), null);
      return;
    }
    connect(to, (...result) => {
      const [error, socket] = result;
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
