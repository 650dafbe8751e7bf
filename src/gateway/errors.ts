import { FAILURES, type GatewayFailureType } from '../model/failure-types.ts';
import type { RefusalBody } from '../model/inquiry.ts';

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
  readonly code: GatewayFailureType;
  readonly httpStatus?: number;
  /** The wait that the gateway asked for, in milliseconds; not bounded here. */
  readonly retryAfterMs?: number;
  /** Whether a byte of the request may have reached the gateway. For the token service always `nothing`. */
  readonly sent: 'nothing' | 'possibly';
  /** The instant just before the first byte, RFC 3339; absent where nothing was written. */
  readonly requestedAt?: string;
  /** Private, so that neither JSON nor `util.inspect` shows it. */
  readonly #refusal: RefusalBody | undefined;

  constructor(code: GatewayFailureType, details: GatewayErrorDetails) {
    // Constant: the message contains nothing that came over the wire.
    super(FAILURES[code].message);
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
