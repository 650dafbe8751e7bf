/** Deterministic text, chances and number sequences: the same parts always give the same result. */
import { createHash } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function hash(parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

/** `length` (at most 32) upper-case base-32 characters that depend on `parts` alone. */
export function digestText(length: number, ...parts: (string | number)[]): string {
  return Array.from(hash(parts).subarray(0, length), (byte) => ALPHABET[byte % 32]).join('');
}

/** A number in [0, 1) that depends on `parts` alone. */
export function chance(...parts: (string | number)[]): number {
  return hash(parts).readUIntBE(0, 6) / 2 ** 48;
}

/** Draws numbers in [0, 1), one after the other (mulberry32), from a start that depends on `parts` alone. */
export function sequence(...parts: (string | number)[]): () => number {
  let state = hash(parts).readUInt32BE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
