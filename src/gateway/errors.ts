import type { FailureType } from '../model/failure-types.ts';
import type { RefusalBody } from '../model/inquiry.ts';

/** The failure types that the gateway and its token service can cause (docs/protocol.md). */
export const GATEWAY_ERROR_CODES = [
  'TokenUnavailable',
  'CredentialsRefused',
  'GatewayUnreachable',
  'GatewayUntrusted',
  'TokenRejected',
  'Throttled',
  'NotEntitled',
  'RequestRefused',
  'OutcomeUnknown',
] as const satisfies readonly FailureType[];
export type GatewayErrorCode = (typeof GATEWAY_ERROR_CODES)[number];

/** Constant: no message contains anything that came over the wire. */
const MESSAGES: Record<GatewayErrorCode, string> = {
  TokenUnavailable: 'the token service could not be reached or did not answer properly; nothing was sent',
  CredentialsRefused: 'the token service refused the credentials, or answered without a bearer token',
  GatewayUnreachable: 'the request never began to be written; nothing was sent',
  GatewayUntrusted: 'the TLS connection to the gateway was refused before anything was sent',
  TokenRejected: 'the gateway rejected the access token, or the address of the caller',
  Throttled: 'the gateway did not process the request and asks for a later one',
  NotEntitled: 'the gateway says that the caller is not entitled to this request',
  RequestRefused: 'the gateway refused the request',
  OutcomeUnknown: 'the request may have been posted, and its answer is not known',
};

interface GatewayErrorDetails {
  httpStatus?: number | undefined;
  retryAfterMs?: number | undefined;
  sent: 'nothing' | 'possibly';
  requestedAt?: string | undefined;
  refusal?: RefusalBody | undefined;
}

/**
 * Thrown when a request to the gateway or its token service got no usable answer. Shows no body, no header, no token
 * and no cause, so that it may be logged whole.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;
  readonly httpStatus?: number;
  /** The wait that the gateway asked for, in milliseconds; not bounded here. */
  readonly retryAfterMs?: number;
  /** Whether a byte of the request may have reached the gateway. For the token service always `nothing`. */
  readonly sent: 'nothing' | 'possibly';
  /** The instant just before the first byte, RFC 3339; absent where nothing was written. */
  readonly requestedAt?: string;
  /** Private, so that neither JSON nor `util.inspect` shows it. */
  readonly #refusal: RefusalBody | undefined;

  constructor(code: GatewayErrorCode, details: GatewayErrorDetails) {
    super(MESSAGES[code]);
    this.code = code;
    this.sent = details.sent;
    this.#refusal = details.refusal;
    if (details.httpStatus !== undefined) this.httpStatus = details.httpStatus;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (details.requestedAt !== undefined) this.requestedAt = details.requestedAt;
  }

  /** Returns the gateway's text beside the status. Only the ledger gets it, and seals it. */
  refusal(): RefusalBody | undefined {
    return this.#refusal;
  }
}
