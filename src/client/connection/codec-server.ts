/** The payload codec of a client without keys: it asks the codec server, by a small bounded pool. Its errors quote nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Agent } from 'undici';
import { z } from 'zod';
import { getErrorCode } from '../../base/error-code.ts';
import { parseJson } from '../../base/json-safety.ts';
import type { CodecServerAccess } from '../../config/codec-server-access.ts';
import { createConnections } from '../../gateway/connections.ts';
import { parseJsonValue, readPayloads, toPayloadJson } from '../../http/payload-json.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { UndecodablePayloadError } from '../../protection/errors.ts';
import { toBytes, wasEncrypted } from '../../protection/payloads/payload-codec.ts';
import { hasBullets } from '../../protection/redaction/redaction.ts';
import { CodecServerError, type CodecServerErrorCode } from './errors.ts';

const LIMITS = {
  // The codec server processes 16 requests at once, over all callers.
  connections: 4,
  connectTimeoutMs: 5_000,
  // The codec server queues a request for up to 10 s.
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 15_000,
  // Shorter than the keep-alive time of servers and proxies: a request on a closing connection must be repeated.
  keepAliveTimeoutMs: 4_000,
};
const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** The most that the server decodes for one request, in base64. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/**
 * Delays before each repetition, long enough for a restart of the server and short enough for a caller. A request
 * changes no data, so it may be repeated.
 */
const REPEAT_AFTER_MS = [250, 1_000];
const LONGEST_REPEAT_AFTER_MS = 2_000;

interface Answer {
  status: number;
  text: string;
  retryAfterMs: number;
}

/**
 * Both directions throw `CodecServerError`. `decode` also throws `UndecodablePayloadError`, as the codec with keys does.
 */
export class CodecServer implements PayloadCodec {
  readonly #agent: Agent;
  readonly #base: URL;
  readonly #namespace: string;
  readonly #readToken: (() => Promise<string>) | undefined;
  #asking = 0;

  constructor({ url, readToken, caCertificate }: CodecServerAccess, namespace: string) {
    this.#base = new URL(url);
    this.#namespace = namespace;
    this.#readToken = readToken;
    // Ignores NODE_TLS_REJECT_UNAUTHORIZED: a token is at stake.
    this.#agent = createConnections({ limits: LIMITS, caCertificate }, MAX_RESPONSE_BYTES);
  }

  /** Whether a call waits for this server. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    if (payloads.some(({ data }) => hasBullets(toBytes(data).toString('utf8')))) throw new CodecServerError('masked');
    const encoded = await this.#convert('/encode', payloads);
    // A proxy or another server may have answered, so the client sends no payload in the clear.
    if (!encoded.every(wasEncrypted)) throw new CodecServerError('unexpected');
    return encoded;
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    // Only encrypted payloads go to the codec server.
    const decoded = (await this.#convert('/decode', payloads.filter(wasEncrypted))).values();
    return payloads.map((payload) => (wasEncrypted(payload) ? requireReadable(decoded.next().value) : payload));
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Sends all payloads in one request: a message to Temporal has at most 4 MB, which is below the codec server's limit. */
  async #convert(route: '/encode' | '/decode', payloads: readonly Payload[]): Promise<Payload[]> {
    if (payloads.length === 0) return [];
    const body = JSON.stringify({ payloads: payloads.map(toPayloadJson) });
    this.#asking++;
    try {
      for (let tries = 0; ; tries++) {
        const answer = await this.#post(route, body);
        if (answer?.status === 200) return parsePayloadList(answer.text, payloads.length);
        const error = answer === null ? new CodecServerError('unreachable') : toError(answer);
        const ownMs = REPEAT_AFTER_MS[tries];
        if (!error.mayPass || ownMs === undefined) throw error;
        await sleep(Math.min(Math.max(ownMs, answer?.retryAfterMs ?? 0), LONGEST_REPEAT_AFTER_MS));
      }
    } finally {
      this.#asking--;
    }
  }

  /** `null` where the connection failed. A server that is only slow is not asked again: it may be busy with it. */
  async #post(route: string, body: string): Promise<Answer | null> {
    const headers = {
      'x-namespace': this.#namespace,
      ...(await this.#authorization()),
      'content-type': 'application/json',
    };
    try {
      const response = await this.#agent.request({
        origin: this.#base.origin,
        path: `${this.#base.pathname.replace(/\/+$/, '')}${route}`,
        method: 'POST',
        headers,
        body,
      });
      const seconds = Number(response.headers['retry-after']);
      return {
        status: response.statusCode,
        text: await response.body.text(),
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0,
      };
    } catch (error) {
      const code = getErrorCode(error);
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') throw new CodecServerError('tooLarge');
      if (TIMEOUTS.has(code)) throw new CodecServerError('unreachable');
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
      // The client drops the error: a file's error names its path, and a caller's function may throw any text.
    }
    throw new CodecServerError('tokenMissing');
  }
}

/** docs/codec-server.md, "Errors". What a code does not say, the status does; a proxy gives no code. */
const SIGNS: readonly [code: CodecServerErrorCode, ...signs: (string | number)[]][] = [
  ['roleTooLow', 'role'],
  ['namespaceRefused', 'namespace'],
  ['masked', 'redacted'],
  ['keyUnknown', 'unknownKey'],
  ['tokenRefused', 401],
  ['tooLarge', 413],
  ['refused', 400, 403, 415, 422],
  ['busy', 429, 502, 503, 504],
];

const errorBody = z.object({ error: z.object({ code: z.string() }) });

function toError({ status, text }: Answer): CodecServerError {
  const code = errorBody.safeParse(parseJson(text)?.[0]).data?.error.code ?? '';
  const findCode = (sign: string | number) => SIGNS.find(([, ...signs]) => signs.includes(sign))?.[0];
  return new CodecServerError(findCode(code) ?? findCode(status) ?? 'unexpected', code);
}

function parsePayloadList(text: string, count: number): Payload[] {
  try {
    const payloads = readPayloads(text, count).map(({ payload }) => payload);
    if (payloads.length === count) return payloads;
  } catch {
    // Its message blames a request, and here the answer is wrong.
  }
  throw new CodecServerError('unexpected');
}

const MARKER = Buffer.from('{"undecodable":');

/** Throws if the server shows a marker in place of a payload that it could not decode: the marker was never sent. */
function requireReadable(payload: Payload | undefined): Payload {
  if (!payload || wasEncrypted(payload)) throw new CodecServerError('unexpected');
  const bytes = toBytes(payload.data);
  // Parses the payload only if it begins like the marker. Most payloads are long, and none of this project begins so.
  if (!bytes.subarray(0, MARKER.length).equals(MARKER)) return payload;
  const [value] = parseJsonValue(bytes) ?? [];
  if (isUndecodable(value)) throw new UndecodablePayloadError(value.undecodable.reason);
  // For people, the codec server returns a marker instead of an error if a key is unknown.
  const { undecodable } = (value ?? {}) as { undecodable?: { reason?: unknown } };
  if (undecodable?.reason === 'unknownKey') throw new CodecServerError('keyUnknown');
  return payload;
}
