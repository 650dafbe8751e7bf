/** A refusal's body on its way through Temporal, while the ledger cannot be reached: sealed, so that only the ledger's keys open it. */
import type { SealedRefusal } from './reading.ts';

/** Base64. Bound to its ledger, inquiry and attempt, as in the ledger. */
export interface CarriedRefusal {
  body: string;
  wrappedKey: string;
  keyId: string;
  algorithm: string;
  isWhole: boolean;
}

/** In characters. Temporal drops the details of a failure of 2 MB, and the protocol needs them: a longer body is lost. */
const MOST_CARRIED = 400_000;

/** `undefined` where it is too long to be carried. */
export function carriedRefusal({ sealed, isWhole }: SealedRefusal): CarriedRefusal | undefined {
  const { body, wrappedKey, keyId, algorithm } = sealed;
  const carried = { body: inBase64(body), wrappedKey: inBase64(wrappedKey), keyId, algorithm, isWhole };
  return carried.body.length > MOST_CARRIED ? undefined : carried;
}

export function sealedRefusal({ body, wrappedKey, keyId, algorithm, isWhole }: CarriedRefusal): SealedRefusal {
  const sealed = { body: Buffer.from(body, 'base64'), wrappedKey: Buffer.from(wrappedKey, 'base64'), keyId, algorithm };
  return { sealed, isWhole };
}

function inBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
