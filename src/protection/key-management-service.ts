/** The port to a key management service (types and errors). */

/**
 * Wraps and unwraps the key ring's keys. Bytes that were wrapped under one context open under no other. Services log
 * contexts, so nothing in a context is secret.
 */
export interface KeyManagementService {
  /**
   * `kms` names the key that will open it. It may differ from the given name, since an alias can move to another key.
   */
  wrap(plain: Uint8Array, context: Record<string, string>): Promise<{ wrapped: Uint8Array; kms: string }>;
  unwrap(wrapped: Uint8Array, context: Record<string, string>): Promise<Uint8Array>;
  close(): void;
}

export type KmsFailure =
  /** The service cannot be reached, is too slow, or fails. A later attempt may succeed. */
  | 'unreachable'
  | 'credentials'
  | 'denied'
  /** The service's key is missing, disabled or about to be deleted. */
  | 'keyUnusable'
  /** The bytes were wrapped by another key, or under another context. */
  | 'notOpened'
  /** Its address is not an https one. */
  | 'insecure'
  | 'region'
  | 'notInstalled'
  | 'unknown';

/** Thrown when a service failed. Says what to do, and nothing of the service's answer. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
  readonly code: KmsFailure;

  constructor(code: KmsFailure, message: string) {
    super(message);
    this.code = code;
  }
}
