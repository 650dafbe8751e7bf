import { CreditJourneyError } from '../model/credit-journey-error.ts';
import type { Problem } from '../model/problems.ts';
import { UNDECODABLE_WORDS, type UndecodableReason } from '../model/undecodable.ts';

/** Thrown when a key service fails. Names the remedy, and no part of the service's answer. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
}

/**
 * Thrown when the key ring file cannot be used: missing, readable by others, or malformed. Names a place and a problem,
 * never a value.
 */
export class KeyRingError extends CreditJourneyError {
  override readonly code: string = 'keyRingUnusable';
  /** Empty if the problem concerns the whole file. */
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly Problem[] = []) {
    super(problems.length === 0 ? message : `${message}: ${problems.map((p) => `${p.path} ${p.rule}`).join('; ')}`);
    this.problems = problems;
  }
}

/**
 * Thrown when a key management service did not wrap or unwrap keys of the ring. Names the keys and what to do. The file
 * is unchanged, and a later attempt may succeed.
 */
export class KeyServiceError extends KeyRingError {
  override readonly code = 'keyServiceFailed';
}

/** Thrown when the key ring lacks the key that sealed or encrypted something. Names the key and what to do. */
export class UnknownKeyError extends CreditJourneyError {
  override readonly code = 'keyUnknown';
  readonly keyId: string;

  constructor(keyId: string, use: 'payload' | 'ledger' = 'ledger') {
    super(
      `the key ring has no key "${keyId}": put the key ring that holds it where KEY_RING_FILE points, ` +
        'or add that key to it as a retired one; ' +
        (use === 'ledger'
          ? 'what it sealed cannot be read without it'
          : `what it encrypted waits for it, unless \`credit-journey keys refuse ${keyId}\` says that it will never come`),
    );
    this.keyId = keyId;
  }
}

/** Thrown when a payload can never be decoded. Names the reason, and nothing of its content. */
export class UndecodablePayloadError extends CreditJourneyError {
  override readonly code = 'payloadUndecodable';
  readonly reason: UndecodableReason;

  constructor(reason: UndecodableReason, keyId?: string) {
    const under = keyId === undefined ? 'a payload' : `a payload under the key "${keyId}"`;
    super(`${under} cannot be decoded: ${UNDECODABLE_WORDS[reason]}`);
    this.reason = reason;
  }
}

/** Thrown when sealed bytes were changed, or are read in another place than the one they were sealed for. */
export class SealBrokenError extends CreditJourneyError {
  override readonly code = 'sealBroken';
}
