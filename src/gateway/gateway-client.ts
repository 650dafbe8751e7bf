import type { Agent, Dispatcher } from 'undici';
import type { Answer } from '../model/inquiry.ts';
import { requestUrl } from './addresses.ts';
import { readAnswer } from './answers.ts';
import { bodyText } from './body-text.ts';
import { createConnections } from './connections.ts';
import { GatewayError, type GatewayErrorCode } from './errors.ts';
import { type ExchangeOutcome, exchange, type ResponseHeaders } from './exchange.ts';
import { type ExchangeObserver, observed } from './observer.ts';
import type { GatewayProfile } from './profile.ts';
import type { GatewayRequest } from './requests.ts';
import { retryAfterMs } from './retry-after.ts';
import type { ExpectedApplicant } from './who-is-who.ts';

export interface SubmitOptions {
  /** As one of the builders in `requests.ts` made it. */
  request: GatewayRequest;
  accessToken: string;
  /** `performance.now()` after which no first byte is written, whatever the request was waiting for. */
  sendBy: number;
  /** Honoured before the first byte, ignored after it. */
  signal?: AbortSignal;
  /** To decide who is who. Default: the request's own, which FAILSAFE's lacks identifiers for: required there. */
  expectedApplicants?: readonly ExpectedApplicant[];
  /** For the observer alone. */
  attempt?: number;
}

export interface GatewayReply {
  httpStatus: number;
  answer: Answer;
  /** The answer's JSON text as it came. Personal throughout: to be sealed. */
  body: string;
  /** The instant just before the first byte, RFC 3339. */
  requestedAt: string;
}

/** What the sandbox marks each of its answers with. */
const SANDBOX_MARK = { header: 'x-sandbox-gateway', value: 'credit-journey' } as const;

type Answered = Extract<ExchangeOutcome, { kind: 'answered' }>;

/**
 * Sends one request once to the gateway of one profile (interface 4.2). What came of it is either a reply (the
 * request was posted) or a `GatewayError`; docs/protocol.md gives the table. Holds one connection pool: make one per
 * profile and process.
 */
export class GatewayClient {
  readonly #profile: GatewayProfile;
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #dispatcher: Dispatcher;
  readonly #observer: ExchangeObserver | undefined;
  #markersBroken = false;

  /** @param interceptor composed around the pool; only tests have one */
  constructor(
    profile: GatewayProfile,
    interceptor?: Dispatcher.DispatcherComposeInterceptor,
    observer?: ExchangeObserver,
  ) {
    this.#profile = profile;
    this.#observer = observer;
    this.#url = requestUrl(profile);
    this.#agent = createConnections(profile, profile.limits.maxResponseBytes);
    this.#dispatcher = interceptor ? this.#agent.compose(interceptor) : this.#agent;
  }

  /**
   * Whether an answer came to a request of which undici never said that it began to write it. Then its silence
   * proves nothing any more: `submit` sends nothing, calls everything unknown, and the worker is not ready.
   */
  get markersBroken(): boolean {
    return this.#markersBroken;
  }

  /** Ends after the requests in flight have; each is bounded by its `sendBy` and the profile's limits. */
  async close(): Promise<void> {
    await this.#agent.close();
  }

  /**
   * Rejects with `GatewayError`, or with the signal's own reason where it fired before the first byte.
   *
   * From the first byte on an attempt ends within `headersTimeoutMs + bodyTimeoutMs`.
   */
  async submit(options: SubmitOptions): Promise<GatewayReply> {
    const begun = {
      profile: this.#profile,
      productCode: options.request.productCode,
      url: this.#url,
      ...(options.attempt === undefined ? {} : { attempt: options.attempt }),
    };
    return observed(
      this.#observer,
      begun,
      () => this.#submit(options),
      (reply) => ({
        markersBroken: this.#markersBroken,
        ...(reply ? { httpStatus: reply.httpStatus, answer: reply.answer.kind } : {}),
      }),
    );
  }

  async #submit(options: SubmitOptions): Promise<GatewayReply> {
    const expected = expectedOf(options);
    if (!/^[\x21-\x7e]+$/.test(options.accessToken)) throw new GatewayError('CredentialsRefused', { sent: 'nothing' });
    // Without markers nothing would keep a request that was given up from being written later.
    if (this.#markersBroken) throw new GatewayError('OutcomeUnknown', { sent: 'possibly' });
    const { headersTimeoutMs, bodyTimeoutMs } = this.#profile.limits;
    const outcome = await exchange({
      dispatcher: this.#dispatcher,
      url: this.#url,
      headers: {
        authorization: `Bearer ${options.accessToken}`,
        'content-type': 'application/json',
        accept: 'application/json',
        // Compression is nowhere in the interface; an answer that is compressed all the same is read (body-text.ts).
        'accept-encoding': 'identity',
      },
      body: JSON.stringify(options.request),
      sendBy: options.sendBy,
      answerWithinMs: headersTimeoutMs + bodyTimeoutMs,
      signal: options.signal,
    });
    switch (outcome.kind) {
      case 'notBegun':
        throw this.#notBegun(outcome.reason);
      case 'lost':
        throw new GatewayError('OutcomeUnknown', { sent: 'possibly', requestedAt: outcome.startedAt });
      case 'answered':
        if (!outcome.marked) this.#markersBroken = true;
        return this.#reply(outcome, options.request, expected);
    }
  }

  #notBegun(reason: 'late' | 'tls' | 'connection'): GatewayError {
    // Another request may have shown meanwhile that the markers are broken.
    if (this.#markersBroken) return new GatewayError('OutcomeUnknown', { sent: 'possibly' });
    return new GatewayError(reason === 'tls' ? 'GatewayUntrusted' : 'GatewayUnreachable', { sent: 'nothing' });
  }

  async #reply(
    answered: Answered,
    request: GatewayRequest,
    expected: readonly ExpectedApplicant[],
  ): Promise<GatewayReply> {
    const { status, headers, startedAt: requestedAt, complete } = answered;
    const foreign = this.#profile.environment !== 'sandbox' && headers[SANDBOX_MARK.header] === SANDBOX_MARK.value;
    if (status < 200 || status > 299) throw this.#refusal(answered, foreign);
    const { maxDecodedBytes } = this.#profile.limits;
    const body = complete ? await bodyText(answered.body, headers['content-encoding'], maxDecodedBytes) : null;
    const answer = body === null ? null : readAnswer(body, { profile: this.#profile, request, expected, requestedAt });
    // Truncated, too large, not text, or not JSON: nothing is known of what came of it.
    if (body === null || answer === null) {
      throw new GatewayError('OutcomeUnknown', { httpStatus: status, sent: 'possibly', requestedAt });
    }
    if (foreign) {
      const problems = ["/ is the sandbox's answer, and the profile is not the sandbox's"];
      return { httpStatus: status, answer: { kind: 'unexpectedResponse', problems }, body, requestedAt };
    }
    return { httpStatus: status, answer, body, requestedAt };
  }

  /** The status alone decides: the shape of an error's body is not shown (interface 7.5). */
  #refusal({ status, headers, startedAt: requestedAt }: Answered, foreign: boolean): GatewayError {
    // A status by a gateway of another environment means nothing here.
    const code = foreign ? 'OutcomeUnknown' : refusalCode(status, this.#profile.notProcessedStatuses);
    const details = { httpStatus: status, sent: 'possibly', requestedAt } as const;
    if (code !== 'Throttled') return new GatewayError(code, details);
    return new GatewayError(code, { ...details, retryAfterMs: retryAfterOf(headers) });
  }
}

/** docs/protocol.md's table. Which statuses the gateway uses, and when, is not shown (interface 7.4). */
function refusalCode(status: number, notProcessed: readonly number[]): GatewayErrorCode {
  if (status >= 400 && notProcessed.includes(status)) return status === 401 ? 'TokenRejected' : 'Throttled';
  if (status >= 300 && status <= 399) return 'RequestRefused';
  switch (status) {
    case 403:
      return 'NotEntitled';
    case 400:
    case 404:
    case 405:
    case 413:
    case 415:
    case 422:
      return 'RequestRefused';
    default:
      return 'OutcomeUnknown';
  }
}

function retryAfterOf(headers: ResponseHeaders): number | undefined {
  const { 'retry-after': retryAfter, date } = headers;
  return retryAfterMs(
    {
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      date: typeof date === 'string' ? date : undefined,
    },
    Date.now(),
  );
}

function expectedOf({ request, expectedApplicants }: SubmitOptions): readonly ExpectedApplicant[] {
  if (request.productCode === 'SECONDUSE') return [];
  if (expectedApplicants) return expectedApplicants;
  if (request.productCode === 'FAILSAFE') throw new TypeError('FAILSAFE needs expectedApplicants');
  return request.applicants;
}
