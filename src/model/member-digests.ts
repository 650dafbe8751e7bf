/** A message's members as digests, so that a run can compare a later copy and keeps nothing personal of it. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Enough to tell two contents apart by chance alone; both are said by people who are trusted with the inquiry. */
const HEX_DIGITS = 16;

/** Each member's first digits of SHA-256; compared by `differingPaths`, which then names members alone. */
export function memberDigests(message: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(message).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))).slice(0, HEX_DIGITS)]],
    ),
  );
}

/** JSON without spaces and with the members of objects in order, as RFC 8785 has it for what messages hold. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
