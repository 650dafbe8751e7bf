import type { Agent, Dispatcher } from 'undici';
import { parseRetryAfterMs } from '../base/instants.ts';
import type { GatewayFailureType } from '../model/failure-types.ts';
import type { Answer, RefusalBody } from '../model/inquiry.ts';
import { readAnswer } from './answers.ts';
import { readBodyText, readRefusalBody } from './body-text.ts';
import { createConnections } from './connections.ts';
import { GatewayError } from './errors.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import { type ExchangeObserver, observe } from './observer.ts';
import { checkGatewayKind, type GatewayProfile, toRequestUrl } from './profile.ts';
import type { GatewayRequest } from './requests.ts';
import type { ExpectedApplicant } from './who-is-who.ts';

export interface SubmitOptions {
  /** A request from one of the builders in `requests.ts`. */
  request: GatewayRequest;
  accessToken: string;
  /** `performance.now()` after which no first byte is written, for any cause of waiting. */
  sendBy: number;
  /** Sets the same limit by `Date.now()`, which runs on while a machine is suspended. */
  sendByEpochMs?: number;
  /** The client obeys the signal before the first byte, and ignores it afterwards. */
  signal?: AbortSignal;
  /**
   * The applicants to match an answer against. Default: the request's own. FAILSAFE's request lacks identifiers, so
   * there they are required.
   */
  expectedApplicants?: readonly ExpectedApplicant[];
  /** Used by the observer alone. */
  attempt?: number;
}

export interface GatewayReply {
  httpStatus: number;
  answer: Answer;
  /** The answer's JSON text as it came. Personal throughout: the caller seals it. */
  body: string;
  /** The instant just before the first byte, RFC 3339. */
  requestedAt: string;
}

/** The mark on each answer of the sandbox. */
const SANDBOX_MARK = { header: 'x-sandbox-gateway', value: 'credit-journey' } as const;

type Answered = Extract<ExchangeOutcome, { kind: 'answered' }>;

/**
 * Sends one request once to the gateway of one profile (interface 4.2). The outcome is either a reply (the request was
 * posted) or a `GatewayError`; docs/protocol.md gives the table. Holds one connection pool: make one per profile and
 * process.
 */
export class GatewayClient {
  readonly #profile: GatewayProfile;
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #dispatcher: Dispatcher;
  readonly #observer: ExchangeObserver | undefined;
  #startsAreUnreported = false;

  /** @param interceptor composed around the pool; only tests use it */
  constructor(
    profile: GatewayProfile,
    interceptor?: Dispatcher.DispatcherComposeInterceptor,
    observer?: ExchangeObserver,
  ) {
    this.#profile = profile;
    this.#observer = observer;
    this.#url = toRequestUrl(profile);
    this.#agent = createConnections(profile, profile.limits.maxResponseBytes);
    this.#dispatcher = interceptor ? this.#agent.compose(interceptor) : this.#agent;
  }

  /**
   * Whether an answer arrived although undici never reported the start of the request. Then undici's reports prove
   * nothing: `submit` sends nothing more, and a request in flight that ends without an answer has an unknown outcome. The
   * readiness check reports the worker as not ready.
   */
  get startsAreUnreported(): boolean {
    return this.#startsAreUnreported;
  }

  /** Waits for the requests in flight, then closes. `sendBy` and the profile's limits bound each of them. */
  async close(): Promise<void> {
    await this.#agent.close();
  }

  /**
   * Sends the request. Rejects with `GatewayError`, or with the signal's own reason where it fired before the first
   * byte.
   *
   * From the first byte on an attempt ends within `headersTimeoutMs + bodyTimeoutMs`.
   */
  async submit(options: SubmitOptions): Promise<GatewayReply> {
    const { attempt, request } = options;
    const begun = { profile: this.#profile, productCode: request.productCode, url: this.#url, attempt };
    const submit = () => this.#submit(options);
    return observe(this.#observer, begun, submit, (reply) => ({
      startsAreUnreported: this.#startsAreUnreported,
      httpStatus: reply?.httpStatus,
      answer: reply?.answer.kind,
    }));
  }

  async #submit(options: SubmitOptions): Promise<GatewayReply> {
    const expected = listExpectedApplicants(options);
    if (!/^[\x21-\x7e]+$/.test(options.accessToken)) throw new GatewayError('CredentialsRefused', { sent: 'nothing' });
    // If undici does not report starts, it may still write an abandoned request later.
    if (this.#startsAreUnreported) throw new GatewayError('OutcomeUnknown', { sent: 'possibly' });
    const { headersTimeoutMs, bodyTimeoutMs } = this.#profile.limits;
    const outcome = await exchange({
      dispatcher: this.#dispatcher,
      url: this.#url,
      headers: {
        authorization: `Bearer ${options.accessToken}`,
        'content-type': 'application/json',
        accept: 'application/json',
        // The interface does not mention compression. The client still reads a compressed answer (body-text.ts).
        'accept-encoding': 'identity',
      },
      body: JSON.stringify(options.request),
      sendBy: options.sendBy,
      sendByEpochMs: options.sendByEpochMs,
      answerWithinMs: headersTimeoutMs + bodyTimeoutMs,
      signal: options.signal,
    });
    switch (outcome.kind) {
      case 'notBegun':
        throw this.#notBegun(outcome.reason);
      case 'lost':
        throw new GatewayError('OutcomeUnknown', { sent: 'possibly', requestedAt: outcome.startedAt });
      case 'answered':
        if (!outcome.startIsReported) this.#startsAreUnreported = true;
        return this.#reply(outcome, options.request, expected);
    }
  }

  #notBegun(reason: 'late' | 'tls' | 'connection'): GatewayError {
    // Another request may have shown in the meantime that the markers are broken.
    if (this.#startsAreUnreported) return new GatewayError('OutcomeUnknown', { sent: 'possibly' });
    return new GatewayError(reason === 'tls' ? 'GatewayUntrusted' : 'GatewayUnreachable', { sent: 'nothing' });
  }

  async #reply(
    answered: Answered,
    request: GatewayRequest,
    expected: readonly ExpectedApplicant[],
  ): Promise<GatewayReply> {
    const { status, headers, startedAt: requestedAt, complete } = answered;
    const foreign = checkGatewayKind(this.#profile, headers[SANDBOX_MARK.header] === SANDBOX_MARK.value);
    const { maxDecodedBytes } = this.#profile.limits;
    if (status < 200 || status > 299) {
      throw this.#toRefusalError(answered, foreign !== null, await readRefusalBody(answered, maxDecodedBytes));
    }
    const body = complete ? await readBodyText(answered.body, headers['content-encoding'], maxDecodedBytes) : null;
    const answer = body === null ? null : readAnswer(body, { profile: this.#profile, request, expected, requestedAt });
    // Truncated, too large, not text, or not JSON: the outcome of the request is unknown.
    if (body === null || answer === null) {
      throw new GatewayError('OutcomeUnknown', { httpStatus: status, sent: 'possibly', requestedAt });
    }
    const trusted: Answer = foreign ? { kind: 'unexpectedResponse', problems: [foreign] } : answer;
    return { httpStatus: status, answer: trusted, body, requestedAt };
  }

  /** Decides by the status alone: the shape of an error's body is not shown (interface 7.5). */
  #toRefusalError(answered: Answered, foreign: boolean, refusal: RefusalBody | undefined): GatewayError {
    const { status, headers, startedAt: requestedAt } = answered;
    // A status from the gateway of another environment proves nothing.
    const code = foreign ? 'OutcomeUnknown' : toRefusalFailureType(status, this.#profile.notProcessedStatuses);
    const details = { httpStatus: status, sent: 'possibly', requestedAt, refusal } as const;
    if (code !== 'Throttled') return new GatewayError(code, details);
    return new GatewayError(code, { ...details, retryAfterMs: parseRetryAfterMs(headers, Date.now()) });
  }
}

/**
 * The failure that a status means, by docs/protocol.md's table. The interface does not show which statuses the gateway
 * uses, and when (7.4).
 */
function toRefusalFailureType(status: number, notProcessed: readonly number[]): GatewayFailureType {
  if (status >= 400 && notProcessed.includes(status)) return status === 401 ? 'TokenRejected' : 'Throttled';
  if (status === 403) return 'NotEntitled';
  return [400, 404, 405, 413, 415, 422].includes(status) ? 'RequestRefused' : 'OutcomeUnknown';
}

function listExpectedApplicants({ request, expectedApplicants }: SubmitOptions): readonly ExpectedApplicant[] {
  if (request.productCode === 'SECONDUSE') return [];
  if (expectedApplicants) return expectedApplicants;
  if (request.productCode === 'FAILSAFE') throw new TypeError('FAILSAFE needs expectedApplicants');
  return request.applicants;
}
