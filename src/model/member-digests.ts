/** A message's members as digests. With them a run compares a later copy without keeping anything personal. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isRecord } from '../base/is-record.ts';

/**
 * Enough that two contents never match by chance. Deliberate collisions are no concern: the senders are trusted with
 * the inquiry.
 */
const HEX_DIGITS = 16;

/** The first digits of each member's SHA-256. `differingPaths` compares them, and then names members alone. */
export function memberDigests(message: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(message).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))).slice(0, HEX_DIGITS)]],
    ),
  );
}

/** JSON without spaces and with the members of objects in order, as RFC 8785 defines it for what messages hold. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
