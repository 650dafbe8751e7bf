/** Changes to JSON values, their text, and bytes. A change is data, so that a failing case can be shrunk and shown. */
import fc from 'fast-check';
import { SENTINEL } from './sentinel.ts';
import { hostileText, hostileValue, setOwn } from './values.ts';

/** `at` counts through all places of the value and starts again after the last place. */
export type TreeMutation =
  | { kind: 'replace'; at: number; value: unknown }
  | { kind: 'raw'; at: number; text: string }
  | { kind: 'remove'; at: number }
  | { kind: 'add'; at: number; key: string; value: unknown }
  | { kind: 'twice'; at: number; value: unknown }
  | { kind: 'copy'; at: number; from: number }
  | { kind: 'rename'; at: number; key: string };

/** Values that `JSON.stringify` cannot write. */
const RAW_TEXTS = [
  ...['1e999', '-1e999', '123456789012345678901234567890', '-0', '0.1e-400', '01', 'NaN', 'undefined', '', '"'],
  ...['"\\ud800"', '"\\u0000"', '"\\u002f"', '{"a":1,"a":2}', '{"__proto__":{"returnCode":"Record"}}', '/**/1', '[1,]'],
  ...[`${'['.repeat(99)}${']'.repeat(99)}`, `${'['.repeat(5_000)}${']'.repeat(5_000)}`, '['.repeat(20_000)],
  `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`,
] as const;

const at = fc.nat({ max: 10_000 });

export function treeMutations(keys: readonly string[], maxLength = 4): fc.Arbitrary<TreeMutation[]> {
  const key = fc.oneof(
    fc.constantFrom(...keys),
    fc.constantFrom('__proto__', 'constructor', 'toString', SENTINEL),
    hostileText,
  );
  const mutation: fc.Arbitrary<TreeMutation> = fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('replace' as const), at, value: hostileValue }), weight: 6 },
    { arbitrary: fc.record({ kind: fc.constant('raw' as const), at, text: fc.constantFrom(...RAW_TEXTS) }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant('remove' as const), at }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant('add' as const), at, key, value: hostileValue }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant('twice' as const), at, value: hostileValue }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant('copy' as const), at, from: at }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant('rename' as const), at, key }), weight: 1 },
  );
  return fc.array(mutation, { maxLength });
}

interface Place {
  parent: Record<string, unknown> | unknown[];
  key: string;
}

function placesOf(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    found.push({ parent: value as Place['parent'], key });
    placesOf(inner, found);
  }
  return found;
}

const valueAt = ({ parent, key }: Place) => (parent as Record<string, unknown>)[key];

/** Returns a copy of the value with the changes, except those that only text can have. */
export function changedValue<T>(value: T, mutations: readonly TreeMutation[]): unknown {
  return JSON.parse(
    JSON.stringify(
      changed(
        value,
        mutations.filter(({ kind }) => kind !== 'raw' && kind !== 'twice'),
      ).copy,
    ),
  );
}

/** Returns the value with the changes as JSON text, well-formed or not. */
export function changedText(value: unknown, mutations: readonly TreeMutation[]): string {
  const { copy, raw } = changed(value, mutations);
  let text = JSON.stringify(copy) ?? '';
  for (const [mark, put] of raw) text = text.replaceAll(`"${mark}"`, () => put);
  return text;
}

/** Copies each value: a later change must not alter the case, which is used more than once. */
function changed(value: unknown, mutations: readonly TreeMutation[]): { copy: unknown; raw: [string, string][] } {
  const root = { value: structuredClone(value) };
  const raw: [string, string][] = [];
  for (const [index, mutation] of mutations.entries()) {
    const places = placesOf(root);
    const place = places[mutation.at % places.length];
    if (!place) continue;
    const { parent, key } = place;
    switch (mutation.kind) {
      case 'replace':
        setOwn(parent, key, structuredClone(mutation.value));
        break;
      case 'copy': {
        const from = places[mutation.from % places.length];
        if (from) setOwn(parent, key, structuredClone(valueAt(from)));
        break;
      }
      case 'raw':
        raw.push([`@raw${index}@`, mutation.text]);
        setOwn(parent, key, `@raw${index}@`);
        break;
      case 'twice':
        if (Array.isArray(parent)) break;
        raw.push([`@twice${index}@`, JSON.stringify(key)]);
        setOwn(parent, `@twice${index}@`, structuredClone(mutation.value));
        break;
      case 'remove':
        if (Array.isArray(parent)) parent.splice(Number(key), 1);
        else if (parent !== (root as object)) delete parent[key];
        break;
      case 'add': {
        const target = valueAt(place);
        if (Array.isArray(target)) target.push(structuredClone(mutation.value));
        else if (typeof target === 'object' && target !== null)
          setOwn(target, mutation.key, structuredClone(mutation.value));
        break;
      }
      case 'rename':
        if (Array.isArray(parent) || parent === (root as object)) break;
        setOwn(parent, mutation.key, parent[key]);
        if (mutation.key !== key) delete parent[key];
        break;
    }
  }
  return { copy: root.value, raw };
}

export type ByteMutation =
  | { kind: 'set'; at: number; byte: number }
  | { kind: 'insert'; at: number; bytes: Uint8Array }
  | { kind: 'cut'; at: number; length: number }
  | { kind: 'end'; at: number }
  | { kind: 'repeat'; at: number; length: number; to: number };

const anywhere = fc.nat({ max: 1_000_000 });

export function byteMutations(maxLength = 4): fc.Arbitrary<ByteMutation[]> {
  const mutation: fc.Arbitrary<ByteMutation> = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), at: anywhere, byte: fc.nat({ max: 255 }) }),
    fc.record({
      kind: fc.constant('set' as const),
      at: anywhere,
      byte: fc.constantFrom(0, 10, 34, 44, 58, 91, 92, 123, 125, 128, 255),
    }),
    fc.record({
      kind: fc.constant('insert' as const),
      at: anywhere,
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
    }),
    fc.record({ kind: fc.constant('cut' as const), at: anywhere, length: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('end' as const), at: anywhere }),
    fc.record({
      kind: fc.constant('repeat' as const),
      at: anywhere,
      length: fc.integer({ min: 1, max: 200 }),
      to: anywhere,
    }),
  );
  return fc.array(mutation, { maxLength });
}

export function changedBytes(bytes: Uint8Array, mutations: readonly ByteMutation[]): Buffer {
  let current = Buffer.from(bytes);
  for (const mutation of mutations) {
    const place = mutation.at % (current.length + 1);
    switch (mutation.kind) {
      case 'set':
        if (place < current.length) current[place] = mutation.byte;
        break;
      case 'insert':
        current = Buffer.concat([current.subarray(0, place), mutation.bytes, current.subarray(place)]);
        break;
      case 'cut':
        current = Buffer.concat([current.subarray(0, place), current.subarray(place + mutation.length)]);
        break;
      case 'end':
        current = current.subarray(0, place);
        break;
      case 'repeat': {
        const to = mutation.to % (current.length + 1);
        const piece = current.subarray(place, place + mutation.length);
        current = Buffer.concat([current.subarray(0, to), piece, current.subarray(to)]);
        break;
      }
    }
  }
  return current;
}
