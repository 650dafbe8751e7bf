import type { Problem } from '../model/problems.ts';
import type { UndecodableReason } from '../model/undecodable.ts';
import type { KmsFailure } from './key-management-service.ts';

/** The key ring file cannot be used: missing, readable by others, malformed. Says where and what, never a value. */
export class KeyRingError extends Error {
  override readonly name: string = 'KeyRingError';
  /** Empty where the file as a whole is at fault. */
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly Problem[] = []) {
    super(problems.length === 0 ? message : `${message}: ${problems.map((p) => `${p.path} ${p.rule}`).join('; ')}`);
    this.problems = problems;
  }
}

/**
 * A key management service did not wrap or unwrap keys of the ring. Says which keys and what to do. The file is as it
 * was, and the same may succeed later without a change to it.
 */
export class KeyServiceError extends KeyRingError {
  override readonly name = 'KeyServiceError';
  /** Why, each different reason once for each service. */
  readonly failures: readonly KmsFailure[];

  constructor(message: string, failures: readonly KmsFailure[]) {
    super(message);
    this.failures = failures;
  }
}

/** Something was sealed under a key that this key ring does not hold. Says which one, and what to do. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
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

const UNDECODABLE: Record<UndecodableReason, string> = {
  foreignEncoding: 'it has an encoding that is not read here',
  malformed: 'it says that it is encrypted, and does not have that form',
  tampered:
    'its bytes, key id or namespace are not those that were encrypted, or the key ring has another key under that id: compare it with its copy',
  foreignNamespace: 'it was encrypted for a namespace that is not on the allow-list',
  inTheClear: 'it came in the clear, although it can lead to a posting',
  keyRefused: 'it was encrypted under a key that was refused by `credit-journey keys refuse`',
  unparsable: 'it is not JSON in UTF-8, or is nested too deeply',
};

/** A payload cannot be decoded, now or later. Says why, and nothing of what is in it. */
export class UndecodablePayloadError extends Error {
  override readonly name = 'UndecodablePayloadError';
  readonly reason: UndecodableReason;

  constructor(reason: UndecodableReason, keyId?: string) {
    const under = keyId === undefined ? 'a payload' : `a payload under the key "${keyId}"`;
    super(`${under} cannot be decoded: ${UNDECODABLE[reason]}`);
    this.reason = reason;
  }
}

/** The bytes, or what they are bound to, are not those that were sealed. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';
}
