/**
 * `npm run prose`, a part of `npm run lint`: measures the comments and names of `src` and the length of the documents.
 * It fails where a figure is above its limit in lint/prose-limits.json, and prints each place of that kind.
 * `npm run prose -- <kind>` prints the places of one kind; `npm run prose -- --tighten` lowers limits to the figures.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each kind of place that the gate counts, with its meaning for a reader. */
const KINDS = {
  fragments: 'comments that open with a fragment',
  tics: 'comments that hide the actor, or have a tic',
  longSentences: 'comments with a sentence of more than 25 words',
  namesInOf: 'functions named …Of: a name begins with a verb',
  participles: 'functions named by a past participle alone: a name begins with a verb',
  one: '`one` as a name in code: a name says what the thing is',
  freshSpreads: 'spreads of a literal that is written in place: its members stand by themselves',
  words: 'words in the documents',
} as const;

type Kind = keyof typeof KINDS;
type Limits = Readonly<Record<Kind, number>>;

export interface Source {
  path: string;
  text: string;
}

/** `count` is above 1 only for words, which are counted by page. */
interface Place {
  where: string;
  count: number;
}

export type Places = Readonly<Record<Kind, readonly Place[]>>;

const MOST_WORDS = 25;
const FRAGMENT = /^(?:Of|What|As|The same|Where|So|For so|No,|None|Nothing|And|But|Which|Who|Whose|That|Those|Such)\b/;
const TIC = new RegExp(
  [
    String.raw`\b(?:told|hear[sd]?|heard|stands?|stood|com(?:e|es|ing) to|came (?:to|of)|anew|goes on|go on|its word`,
    String.raw`what (?:that|it) is|by whose|nobody|somebody|whoever|whatever|no more than|as it (?:was|is)|is there\b`,
    String.raw`are there\b|what (?:is|was|came|comes|has|had|can|may|must|needs?)\b)`,
  ].join('|'),
  'i',
);
const TOOL_COMMENT = /^(?:eslint|biome|prettier|ts-|@ts|istanbul|c8|v8|Copyright|SPDX|License)/;
const COMMENT = /\/\*\*?(?<block>.*?)\*\/|(?<lines>(?:^[ \t]*\/\/[^\n]*\n?)+)/gms;
/** A declaration, a constant that holds an arrow function, or a method. */
const FUNCTIONS = [
  /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(?<name>[A-Za-z_$][\w$]*)/gm,
  /^\s*(?:export\s+)?const\s+(?<name>[A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|[A-Za-z_$][\w$]*)\s*(?::[^=]+)?=>/gm,
  /^\s+(?:public |private |protected |static |async |readonly )*#?(?<name>[a-z_$][\w$]*)\([^)]*\)\s*(?::[^{;=]+)?\{\s*$/gm,
];
const KEYWORDS = new Set('if for while switch catch function return constructor super do else with'.split(' '));
const PARTICIPLE =
  /^(?:taken|told|kept|withdrawn|heard|seen|given|found|held|begun|known|made|sent|written|read|left|lost|shown|[a-z]{3,}ed)$/;
const VERBS = new Set('read need feed seed embed speed exceed proceed succeed shed'.split(' '));

const root = join(import.meta.dirname, '..');
const LIMITS = join(root, 'lint/prose-limits.json');

/** Finds the places of each kind in TypeScript sources, and counts the words of pages. */
export function measure(sources: readonly Source[], pages: readonly Source[]): Places {
  const places: Record<Kind, Place[]> = {
    fragments: [],
    tics: [],
    longSentences: [],
    namesInOf: [],
    participles: [],
    one: [],
    freshSpreads: [],
    words: pages.map(({ path, text }) => ({ where: path, count: text.split(/\s+/).filter(Boolean).length })),
  };
  for (const { path, text } of sources) {
    const add = (kind: Kind, line: number, what: string) =>
      places[kind].push({ where: `${path}:${line} ${what}`, count: 1 });
    for (const { line, body } of readComments(text)) {
      const opening = body.slice(0, 80);
      if (FRAGMENT.test(body)) add('fragments', line, opening);
      const tic = TIC.exec(body);
      if (tic !== null) add('tics', line, `"${tic[0]}": ${opening}`);
      const sentences = body.split(/(?<=[.!?:])\s+/);
      if (sentences.some((sentence) => sentence.split(/\s+/).length > MOST_WORDS)) add('longSentences', line, opening);
    }
    const code = blank(text, /\/\*.*?\*\/|(?<!:)\/\/[^\n]*/gs);
    for (const { line, name } of readFunctionNames(code)) {
      if (/[a-z]Of$/.test(name)) add('namesInOf', line, name);
      if (PARTICIPLE.test(name) && !VERBS.has(name)) add('participles', line, name);
    }
    const lines = blank(code, /'[^'\n]*'|`[^`]*`|"[^"\n]*"/g).split('\n');
    for (const [index, line] of lines.entries()) {
      for (const _ of line.matchAll(/\bone\b/g)) add('one', index + 1, line.trim());
      if (/\.\.\.\{/.test(line)) add('freshSpreads', index + 1, line.trim());
    }
  }
  return places;
}

/** Reads each block comment and each run of line comments as one text, without its tags. */
function readComments(text: string): { line: number; body: string }[] {
  return [...text.matchAll(COMMENT)].flatMap(({ index, groups }) => {
    const lines = groups?.block ?? groups?.lines?.replaceAll(/^\s*\/\/+/gm, '') ?? '';
    const [untagged = ''] = lines
      .replaceAll(/^\s*\* ?/gm, '')
      .trim()
      .split(/^\s*@\w+/m);
    const body = untagged.trim().replaceAll(/\s+/g, ' ');
    return /[A-Za-z]{3}/.test(body) && !TOOL_COMMENT.test(body) ? [{ line: findLine(text, index), body }] : [];
  });
}

/** Takes comments or strings out of a source; each line keeps its number. */
function blank(code: string, pattern: RegExp): string {
  return code.replaceAll(pattern, (match) => match.replaceAll(/[^\n]+/g, ' '));
}

function readFunctionNames(code: string): { line: number; name: string }[] {
  return FUNCTIONS.flatMap((pattern) => [...code.matchAll(pattern)]).flatMap(({ index, groups, 0: match }) => {
    const name = groups?.name ?? '';
    const start = index + match.length - match.trimStart().length;
    return KEYWORDS.has(name) ? [] : [{ line: findLine(code, start), name }];
  });
}

function findLine(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function listKinds(): Kind[] {
  return Object.keys(KINDS) as Kind[];
}

/** Counts the places of each kind. */
export function count(places: Places): Limits {
  const sum = (kind: Kind) => places[kind].reduce((total, place) => total + place.count, 0);
  return Object.fromEntries(listKinds().map((kind) => [kind, sum(kind)])) as Limits;
}

/** Describes each figure that is above its limit, with its places; empty where the gate passes. A missing limit is 0. */
export function describeExcesses(places: Places, limits: Partial<Limits>): string[] {
  const figures = count(places);
  return listKinds()
    .filter((kind) => figures[kind] > (limits[kind] ?? 0))
    .flatMap((kind) => [
      `${figures[kind]} ${KINDS[kind]}; the limit (${kind}) is ${limits[kind] ?? 0}. All places:`,
      ...describePlaces(places[kind]),
    ]);
}

function describePlaces(places: readonly Place[]): string[] {
  return places.map(({ where, count }) => (count === 1 ? `  ${where}` : `  ${where} ${count}`));
}

/** Lowers each limit to its figure; never raises one. */
export function tighten(figures: Limits, limits: Partial<Limits>): Limits {
  const lowest = (kind: Kind) => Math.min(figures[kind], limits[kind] ?? 0);
  return Object.fromEntries(listKinds().map((kind) => [kind, lowest(kind)])) as Limits;
}

function readAll(paths: readonly string[]): Source[] {
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function main(argument: string | undefined): void {
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.d.ts'));
  const pages = globSync('{docs/**/*.md,README.md,ARCHITECTURE.md,CONTRIBUTING.md,CHANGELOG.md}', { cwd: root });
  const places = measure(readAll(sources.sort()), readAll(pages.sort()));
  const kind = listKinds().find((known) => known === argument);
  if (kind !== undefined) {
    console.log(describePlaces(places[kind]).join('\n'));
    return;
  }
  if (argument !== undefined && argument !== '--tighten')
    throw new Error(`unknown argument ${argument}; known: --tighten, ${listKinds().join(', ')}`);
  const limits = JSON.parse(readFileSync(LIMITS, 'utf8')) as Partial<Limits>;
  const figures = count(places);
  if (argument === '--tighten') writeFileSync(LIMITS, `${JSON.stringify(tighten(figures, limits), null, 2)}\n`);
  for (const known of listKinds())
    console.log(String(figures[known]).padStart(6), `of ${limits[known] ?? 0}`.padEnd(10), KINDS[known]);
  const excesses = describeExcesses(places, limits);
  if (excesses.length === 0) return;
  console.error(excesses.join('\n'));
  process.exitCode = 1;
}

if (import.meta.main) main(process.argv[2]);
