/** Draws values that are wrong or extreme for a field. */
import fc from 'fast-check';
import { SENTINEL, SSNS } from './sentinel.ts';

/** Texts near the limits of every rule, and some far beyond. Many contain the sentinel. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\t',
    '\u0000',
    '\u00a0',
    '\u2028',
    '\u200b',
    '\ufeff',
    '\ud800',
    '\u202e',
    '١٢٣',
    'null',
    '-',
    '.',
  ),
  fc.constantFrom(
    ...SSNS,
    '912-34-5678',
    '*****5678',
    '5678',
    'XXX-XX-5678',
    '2023-02-29',
    'P1D',
    'PT0S',
    '1A',
    '2A',
    'CP',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'Record',
    'No Record',
    'PREQUAL',
    'granted',
  ),
  fc.constantFrom(
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.123456789+23:59',
    '0000-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
  ),
  fc.constant(SENTINEL),
  fc
    .tuple(fc.string({ unit: 'binary', maxLength: 6 }), fc.string({ unit: 'grapheme', maxLength: 6 }))
    .map(([before, after]) => before + SENTINEL + after),
  fc.constantFrom(
    `'${SENTINEL}'`,
    `"${SENTINEL}`,
    `${SENTINEL}\n`,
    `/${SENTINEL}~1/`,
    `\u001b[31m${SENTINEL}`,
    `${SENTINEL}@example.com`,
  ),
  fc.integer({ min: 1, max: 120 }).map((length) => SENTINEL.repeat(10).slice(0, length)),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

export const hostileNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 1.5, 1e21, 1e308, 5e-324, 2 ** 31, 2 ** 53, 912345678, 100_000, 100_001),
  fc.integer(),
);

/** JSON values of every type, with hostile leaves. */
export const hostileValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { arbitrary: hostileText, weight: 6 },
    { arbitrary: fc.oneof(hostileNumber, fc.boolean(), fc.constant(null)), weight: 3 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }), weight: 1 },
    { arbitrary: fc.array(fc.tuple(hostileText, tie('value')), { maxLength: 3 }).map(objectOf), weight: 1 },
  ),
})).value;

/** Creates an object with exactly these own members, possibly with `__proto__`. */
export function objectOf(members: readonly (readonly [string, unknown])[]): object {
  const made = {};
  for (const [key, value] of members) setOwn(made, key, value);
  return made;
}

export function setOwn(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Draws `value` for `weight` cases in each `weight + others`, and shrinks towards it. */
export function usually<T, U>(value: T, weight: number, other: fc.Arbitrary<U>, others = 1): fc.Arbitrary<T | U> {
  return fc.oneof({ arbitrary: fc.constant(value), weight }, { arbitrary: other, weight: others });
}
