/** The port to a key management service (types and errors). */

/**
 * Wraps and unwraps the key ring's keys. What is wrapped under one context opens under no other; nothing in a context is
 * secret, since services log it.
 */
export interface KeyManagementService {
  /** `kms` names the key that will open it: not always the name that was asked for, which may be moved to another key. */
  wrap(plain: Uint8Array, context: Record<string, string>): Promise<{ wrapped: Uint8Array; kms: string }>;
  unwrap(wrapped: Uint8Array, context: Record<string, string>): Promise<Uint8Array>;
  /** Lets connections go. */
  close(): void;
}

export type KmsFailure =
  /** Nothing answers, or not in time, or the service itself fails: the same may succeed later. */
  | 'unreachable'
  | 'credentials'
  | 'denied'
  /** The service's key is missing, disabled or about to be deleted. */
  | 'keyUnusable'
  /** These bytes were not wrapped by that key, or under another context. */
  | 'notOpened'
  /** Its address is not an https one. */
  | 'insecure'
  | 'region'
  | 'notInstalled'
  | 'unknown';

/** A service did not do its part. Says what to do, and nothing of what it answered. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
  readonly code: KmsFailure;

  constructor(code: KmsFailure, message: string) {
    super(message);
    this.code = code;
  }
}
