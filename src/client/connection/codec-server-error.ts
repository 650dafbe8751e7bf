/** Errors between a client and the codec server. */
import { CreditJourneyError } from '../../model/credit-journey-error.ts';

/**
 * - `unreachable`: no server answers in time, or not by TLS that is trusted
 * - `busy`: it answers that it cannot now
 * - `tokenMissing`: the token cannot be read here
 * - `tokenRefused`: expired, or not one that it takes
 * - `roleTooLow`: the token's roles do not allow this
 * - `namespaceRefused`: the token has no role in the namespace
 * - `keyUnknown`: it lacks the key that a payload was encrypted under
 * - `masked`: what was shown masked was about to be sent as input
 * - `refused`: it takes the request for wrong
 * - `tooLarge`: the request, or the answer
 * - `unexpected`: what answers is no codec server, or one that failed
 */
export type CodecServerErrorCode =
  | 'unreachable'
  | 'busy'
  | 'tokenMissing'
  | 'tokenRefused'
  | 'roleTooLow'
  | 'namespaceRefused'
  | 'keyUnknown'
  | 'masked'
  | 'refused'
  | 'tooLarge'
  | 'unexpected';

const MESSAGES: Record<CodecServerErrorCode, string> = {
  unreachable:
    'the codec server cannot be reached: is CODEC_SERVER_URL right, and its certificate trusted (CODEC_SERVER_CA_FILE)?',
  busy: 'the codec server has too much to do: try again',
  tokenMissing: 'there is no token for the codec server: the file that CODEC_SERVER_TOKEN_FILE names is empty or away',
  tokenRefused: 'the codec server refuses the token',
  roleTooLow:
    'the codec server refuses this to the roles of the token: sending takes encode, reading decode or decode-redacted',
  namespaceRefused: 'the codec server refuses this to the token in the namespace of TEMPORAL_NAMESPACE',
  keyUnknown: 'the codec server lacks the key that this was encrypted under: its key ring is not the workers’',
  masked: 'what was shown masked cannot be sent as input: ask for the real value, or enter it anew',
  refused: 'the codec server refuses what it was asked',
  tooLarge: 'this is more than the codec server takes or gives at once',
  unexpected: 'what answers at CODEC_SERVER_URL does not answer as a codec server does',
};

/** Why a token was refused, in the server's words; any other is left out: an answer may hold anything. */
const TOKEN_REASONS: Record<string, string> = {
  noToken: 'there is none (CODEC_SERVER_TOKEN_FILE)',
  malformed: 'it is not a token',
  expired: 'it has expired',
  notYetValid: 'it is not valid yet',
  audience: 'it is for somebody else (its audience)',
  issuer: 'it is from somebody else (its issuer)',
  algorithm: 'it is not signed in a way that is taken',
  signature: 'it is not signed by a key that is trusted',
  claims: 'it lacks what a token must say',
};

/** Thrown when the codec server did not do what the client asked. Holds no body, header, address or token. */
export class CodecServerError extends CreditJourneyError {
  override readonly name = 'CodecServerError';
  override readonly code: CodecServerErrorCode;

  /** @param reason of `tokenRefused`, as the server says it */
  constructor(code: CodecServerErrorCode, reason?: string) {
    const why = reason !== undefined && Object.hasOwn(TOKEN_REASONS, reason) ? `: ${TOKEN_REASONS[reason]}` : '';
    super(`${MESSAGES[code]}${why}`);
    this.code = code;
  }

  /** Whether the same request may succeed in a moment. */
  get mayPass(): boolean {
    return this.code === 'unreachable' || this.code === 'busy';
  }
}
