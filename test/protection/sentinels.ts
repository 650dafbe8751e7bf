/**
 * Looks for values in bytes, in every spelling that a careless program may have given them: other case, separators,
 * URL encoding, hex, UTF-16, and base64 at each of its three offsets.
 */

/** The kinds of places to search. */
export type PlaceKind = 'temporal' | 'ledger' | 'log' | 'commandLine';

export interface Sentinel {
  /** Findings print this name instead of the value. */
  name: string;
  value: string;
  /** The places that have the value by design. Default: none. */
  mayBeIn?: readonly PlaceKind[];
}

export interface Finding {
  sentinel: Sentinel;
  spelling: string;
  /** The text around the first occurrence, each letter as an `a` and each digit as a `0`. */
  around: string;
}

interface Shape extends Pick<Finding, 'sentinel' | 'spelling'> {
  bytes: Uint8Array;
  /** Matches letters of either case. Not for base64, where another case is another text. */
  folds: boolean;
}

/** Shorter ones turn up by chance in base64 and in numbers. */
const MIN_SHAPE_BYTES = 5;
const MIN_BASE64_BYTES = 7;
/** Digits alone that are not longer must stand by themselves: a ZIP code, a birth date without separators. */
const BOUNDED_DIGITS = 8;

const PREFIX_BYTES = 4;
const FILTER_BITS = 22;

const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

/** Sentinels, prepared once; then any number of places are searched, each in one pass. */
export class SentinelSearch {
  readonly sentinels: readonly Sentinel[];
  /** By the first bytes: in most positions of most texts nothing begins, and this is known at once. */
  readonly #filter = new Uint8Array(1 << FILTER_BITS);
  readonly #exact = new Map<number, Shape[]>();
  readonly #folding = new Map<number, Shape[]>();

  constructor(sentinels: readonly Sentinel[]) {
    this.sentinels = [...new Map(sentinels.map((sentinel) => [sentinel.value, sentinel])).values()];
    for (const shape of this.sentinels.flatMap(shapesOf)) this.#add(shape);
  }

  /** Each sentinel that is there, in each of its spellings once. */
  find(bytes: Uint8Array): Finding[] {
    const found = new Map<string, Finding>();
    let raw = 0;
    let folded = 0;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      // The last four bytes, the newest on top.
      raw = ((raw >>> 8) | (byte << 24)) >>> 0;
      folded = ((folded >>> 8) | ((FOLDED[byte] as number) << 24)) >>> 0;
      const at = index - PREFIX_BYTES + 1;
      if (this.#filter[slotOf(raw)]) this.#compare(bytes, at, this.#exact.get(raw), found);
      if (this.#filter[slotOf(folded)]) this.#compare(bytes, at, this.#folding.get(folded), found);
    }
    return [...found.values()];
  }

  #add(shape: Shape): void {
    const prefix = new DataView(shape.bytes.buffer, shape.bytes.byteOffset).getUint32(0, true);
    this.#filter[slotOf(prefix)] = 1;
    const shapes = shape.folds ? this.#folding : this.#exact;
    const same = shapes.get(prefix);
    if (same) same.push(shape);
    else shapes.set(prefix, [shape]);
  }

  #compare(bytes: Uint8Array, at: number, shapes: Shape[] | undefined, found: Map<string, Finding>): void {
    for (const shape of shapes ?? []) {
      if (!isAt(bytes, at, shape) || isNumberByChance(bytes, at, shape)) continue;
      const { sentinel, spelling } = shape;
      const key = `${sentinel.value} ${spelling}`;
      if (!found.has(key)) found.set(key, { sentinel, spelling, around: around(bytes, at, shape.bytes.length) });
    }
  }
}

const AROUND_BYTES = 16;

function around(bytes: Uint8Array, at: number, length: number): string {
  const text = Buffer.from(bytes.subarray(Math.max(0, at - AROUND_BYTES), at + length + AROUND_BYTES));
  return text
    .toString('latin1')
    .replaceAll(/[a-z]/gi, 'a')
    .replaceAll(/\d/g, '0')
    .replaceAll(/[^\x20-\x7e]/g, '.');
}

function slotOf(prefix: number): number {
  return Math.imul(prefix, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

function isAt(bytes: Uint8Array, at: number, { bytes: wanted, folds }: Shape): boolean {
  if (at + wanted.length > bytes.length) return false;
  for (let index = 0; index < wanted.length; index++) {
    const byte = bytes[at + index] as number;
    if ((folds ? FOLDED[byte] : byte) !== wanted[index]) return false;
  }
  return true;
}

/** Digits in the fraction of a number or of a second are a figure; few digits in a longer number or in an id are, too. */
function isNumberByChance(bytes: Uint8Array, at: number, { bytes: wanted }: Shape): boolean {
  if (!wanted.every(isDigit)) return false;
  const end = at + wanted.length;
  const [start, numberEnd] = runAround(bytes, at, end, isDigit);
  const before = Buffer.from(bytes.subarray(Math.max(0, start - NANOS.length), start)).toString('latin1');
  if (/\d\.$/.test(before) || before === NANOS) return true;
  return wanted.length <= BOUNDED_DIGITS && (start < at || numberEnd > end || isInId(bytes, at, end));
}

/** The fraction of a second, as the JSON of Temporal's API has it. */
const NANOS = '"nanos":';

/**
 * Ids and digests are drawn or computed, so that a given run of five digits occurs in one of some ten thousand digests
 * by chance. Each run of this test has hundreds of them.
 */
const MIN_ID_LENGTH = 12;

function isInId(bytes: Uint8Array, at: number, end: number): boolean {
  const [start, idEnd] = runAround(bytes, at, end, (byte) => isDigit(byte) || isLetter(byte) || byte === DASH);
  return idEnd - start >= MIN_ID_LENGTH;
}

/** The begin and the end of the unbroken bytes of that kind around it. */
function runAround(bytes: Uint8Array, at: number, end: number, isOfKind: (byte: number) => boolean): [number, number] {
  let [from, to] = [at, end];
  while (from > 0 && isOfKind(bytes[from - 1] as number)) from--;
  while (to < bytes.length && isOfKind(bytes[to] as number)) to++;
  return [from, to];
}

const DASH = 0x2d;

function isLetter(byte: number): boolean {
  const lower = FOLDED[byte] as number;
  return lower >= 0x61 && lower <= 0x7a;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Every spelling of it, each in every encoding. */
function shapesOf(sentinel: Sentinel): Shape[] {
  const shapes = new Map<string, Shape>();
  const add = (spelling: string, bytes: Uint8Array, folds: boolean, minBytes: number) => {
    if (bytes.length < minBytes) return;
    const folded = folds ? bytes.map((byte) => FOLDED[byte] as number) : bytes;
    const key = `${folds} ${Buffer.from(folded).toString('latin1')}`;
    // If two spellings have the same bytes, findings name the plainer spelling.
    if (!shapes.has(key)) shapes.set(key, { sentinel, spelling, bytes: folded, folds });
  };
  for (const [how, text] of Object.entries(spellingsOf(sentinel.value))) {
    add(how, Buffer.from(text), true, MIN_SHAPE_BYTES);
    add(`${how}, URL-encoded`, Buffer.from(encodeURIComponent(text)), true, MIN_SHAPE_BYTES);
    add(`${how}, percent-encoded`, Buffer.from(percentEncoded(text)), true, MIN_SHAPE_BYTES);
    const cases = { '': text, ', upper case': text.toUpperCase(), ', lower case': text.toLowerCase() };
    for (const [which, cased] of Object.entries(cases)) {
      const utf8 = Buffer.from(cased);
      const utf16 = Buffer.from(cased, 'utf16le');
      add(`${how}${which}, hex`, Buffer.from(utf8.toString('hex')), true, MIN_SHAPE_BYTES);
      add(`${how}${which}, UTF-16 little-endian`, utf16, true, MIN_SHAPE_BYTES);
      add(`${how}${which}, UTF-16 big-endian`, Buffer.from(utf16).swap16(), true, MIN_SHAPE_BYTES);
      for (const offset of [0, 1, 2]) {
        const base64 = base64At(utf8, offset);
        add(`${how}${which}, base64 at ${offset}`, Buffer.from(base64), false, MIN_BASE64_BYTES);
        add(`${how}${which}, base64url at ${offset}`, Buffer.from(urlSafe(base64)), false, MIN_BASE64_BYTES);
      }
    }
  }
  return [...shapes.values()];
}

/** The value unchanged, and with the usual separators of its kind. */
function spellingsOf(value: string): Record<string, string> {
  const between = (groups: RegExp, separator: string) => value.replace(groups, separator);
  const date = /^(\d{4})-(\d{2})-(\d{2})$/;
  if (date.test(value)) {
    return {
      'as it is': value,
      'year first, together': between(date, '$1$2$3'),
      'year first, slashes': between(date, '$1/$2/$3'),
      'month first, slashes': between(date, '$2/$3/$1'),
      'month first, dashes': between(date, '$2-$3-$1'),
      'month first, together': between(date, '$2$3$1'),
      'day first, dots': between(date, '$3.$2.$1'),
    };
  }
  const groups = GROUPS.find((pattern) => pattern.test(value));
  if (groups) {
    const inGroups = (separator: string) => between(groups, ['$1', '$2', '$3'].join(separator));
    const separated = { dashes: inGroups('-'), spaces: inGroups(' '), dots: inGroups('.'), parentheses: '' };
    separated.parentheses = between(groups, '($1) $2-$3');
    return { 'as it is': value, ...separated };
  }
  const words = /[\s,/]+/g;
  if (!words.test(value)) return { 'as it is': value };
  return {
    'as it is': value,
    together: between(words, ''),
    dashes: between(words, '-'),
    underscores: between(words, '_'),
    pluses: between(words, '+'),
  };
}

/** An SSN, a phone number. */
const GROUPS = [/^(\d{3})(\d{2})(\d{4})$/, /^(\d{3})(\d{3})(\d{4})$/];

function percentEncoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** The characters that these bytes alone decide, where so many others stand before them in their group of three. */
function base64At(bytes: Uint8Array, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}
