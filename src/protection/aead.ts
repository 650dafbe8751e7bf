/** AES-256-GCM in one layout for everything that this project seals: nonce (12 bytes), ciphertext, tag (16 bytes). */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { SealBrokenError } from './errors.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts under a fresh nonce. Authenticates `bound` without storing it. A key as bytes would cost Node ten times the
 * cipher.
 */
export function encrypt(key: KeyObject, plaintext: Uint8Array, bound: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts bytes of `encrypt`. Throws `SealBrokenError` if key, bytes or `bound` differ from those of the sealing. */
export function decrypt(key: KeyObject, sealed: Uint8Array, bound: Uint8Array): Buffer {
  if (sealed.byteLength < NONCE_BYTES + TAG_BYTES) throw new SealBrokenError('sealed bytes are too short');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(bound);
  decipher.setAuthTag(sealed.subarray(sealed.byteLength - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new SealBrokenError('sealed bytes were changed, or belong to something else');
  }
}

/** Joins the parts unambiguously: no two lists of strings have the same JSON text. */
export function toAssociatedData(...parts: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(parts), 'utf8');
}
