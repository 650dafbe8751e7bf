import type { Problem } from '../model/problems.ts';

/** The key ring file cannot be used: missing, readable by others, malformed. Says where and what, never a value. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
  /** Empty where the file as a whole is at fault. */
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly Problem[] = []) {
    super(problems.length === 0 ? message : `${message}: ${problems.map((p) => `${p.path} ${p.rule}`).join('; ')}`);
    this.problems = problems;
  }
}

/** Something was sealed under a key that this key ring does not hold. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
  readonly keyId: string;

  constructor(keyId: string) {
    super(
      `the key ring has no key "${keyId}": put the key ring that holds it where KEY_RING_FILE points, ` +
        'or add that key to it as a retired one; what it sealed cannot be read without it',
    );
    this.keyId = keyId;
  }
}

/** The bytes, or what they are bound to, are not those that were sealed. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';
}
