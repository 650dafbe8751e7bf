/** One client's connection to the codec server: a small bounded pool, and errors that quote nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent } from 'undici';
import { isRecord } from '../../base/is-record.ts';
import { member, parseJson } from '../../base/json-safety.ts';
import type { CodecServerAccess } from '../../config/client.ts';
import { CodecServerError, type CodecServerErrorCode } from './codec-server-error.ts';

/** The server works on 16 requests at once, of all its callers. */
const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
/** The server lets a request wait for 10 s before it begins. */
const HEADERS_TIMEOUT_MS = 20_000;
const BODY_TIMEOUT_MS = 15_000;
/** Below what servers and proxies keep an idle connection for: one that is being closed costs a repetition. */
const KEEP_ALIVE_TIMEOUT_MS = 4_000;
const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** What the server decodes for one request, in base64. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/**
 * Before each repetition: a server that is restarted is back by then, and who waits has noticed little. Nothing that is
 * asked changes anything, so it may be asked again.
 */
const REPEAT_AFTER_MS = [250, 1_000];
const LONGEST_REPEAT_AFTER_MS = 2_000;

interface Answer {
  status: number;
  text: string;
  retryAfterMs: number;
}

export class CodecServerConnection {
  readonly #agent: Agent;
  readonly #base: URL;
  readonly #namespace: string;
  readonly #readToken: (() => Promise<string>) | undefined;
  #asking = 0;

  constructor({ url, readToken, caCertificate }: CodecServerAccess, namespace: string) {
    this.#base = new URL(url);
    this.#namespace = namespace;
    this.#readToken = readToken;
    const trusted = caCertificate === undefined ? undefined : [...getCACertificates('default'), caCertificate];
    this.#agent = new Agent({
      connections: CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      connect: {
        timeout: CONNECT_TIMEOUT_MS,
        // Overrides NODE_TLS_REJECT_UNAUTHORIZED: a token is at stake.
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        ...(trusted && { secureContext: createSecureContext({ ca: trusted, minVersion: 'TLSv1.2' }) }),
      },
      headersTimeout: HEADERS_TIMEOUT_MS,
      bodyTimeout: BODY_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
  }

  /** Whether a call waits for this server. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /**
   * The text of the server's answer.
   *
   * @param route such as `/encode`, behind the address
   * @throws CodecServerError
   */
  async ask(route: string, body: string): Promise<string> {
    this.#asking++;
    try {
      return await this.#ask(route, body);
    } finally {
      this.#asking--;
    }
  }

  async #ask(route: string, body: string): Promise<string> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#answerOf(route, body);
      if (answer !== null && answer.status === 200) return answer.text;
      const failure = answer === null ? { code: 'unreachable' as const } : failureOf(answer);
      const error = new CodecServerError(failure.code, failure.reason);
      const ownMs = REPEAT_AFTER_MS[tries];
      if (!error.mayPass || ownMs === undefined) throw error;
      await sleep(Math.min(Math.max(ownMs, answer?.retryAfterMs ?? 0), LONGEST_REPEAT_AFTER_MS));
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** `null` where the connection failed. A server that is only slow is not asked again: it may be busy with it. */
  async #answerOf(route: string, body: string): Promise<Answer | null> {
    const headers = {
      'x-namespace': this.#namespace,
      ...(await this.#authorization()),
      'content-type': 'application/json',
    };
    try {
      const {
        statusCode,
        headers: answered,
        body: received,
      } = await this.#agent.request({
        origin: this.#base.origin,
        path: `${this.#base.pathname.replace(/\/+$/, '')}${route}`,
        method: 'POST',
        headers,
        body,
      });
      const seconds = Number(answered['retry-after']);
      return {
        status: statusCode,
        text: await received.text(),
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0,
      };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') throw new CodecServerError('tooLarge');
      if (typeof code === 'string' && TIMEOUTS.has(code)) throw new CodecServerError('unreachable');
      return null;
    }
  }

  async #authorization(): Promise<{ authorization?: string }> {
    if (!this.#readToken) return {};
    try {
      const token = await this.#readToken();
      // Text that is not a token must not go into a header.
      if (/^[\w.~+/=-]+$/.test(token)) return { authorization: `Bearer ${token}` };
    } catch {
      // A file's error names its path, and what a program's own function throws is not known here.
    }
    throw new CodecServerError('tokenMissing');
  }
}

interface Failure {
  code: CodecServerErrorCode;
  reason?: string;
}

/** docs/codec-server.md, "Errors". */
function failureOf({ status, text }: Answer): Failure {
  const { code, reason } = errorIn(text);
  switch (status) {
    case 401:
      return { code: 'tokenRefused', reason };
    case 403:
      if (reason === 'role') return { code: 'roleTooLow' };
      return { code: reason === 'namespace' ? 'namespaceRefused' : 'refused' };
    case 413:
      return { code: 'tooLarge' };
    case 400:
    case 415:
    case 422:
      return { code: reason === 'redacted' ? 'masked' : 'refused' };
    case 429:
    case 502:
    case 504:
      return { code: 'busy' };
    case 503:
      return { code: code === 'UnknownKey' ? 'keyUnknown' : 'busy' };
    default:
      return { code: 'unexpected' };
  }
}

/** Code and reason of an error answer; empty where the answer is none of the codec server's. */
function errorIn(text: string): { code: string; reason: string } {
  const [answer] = parseJson(text) ?? [];
  const error = isRecord(answer) ? member(answer, 'error') : undefined;
  const word = (name: string) => {
    const value = isRecord(error) ? member(error, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  return { code: word('code'), reason: word('reason') };
}
