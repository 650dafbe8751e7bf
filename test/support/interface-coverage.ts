/** Reads docs/interface-coverage.md, adds the rows that it leaves out, and finds its problems. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INTERFACE_ROWS, OUTSIDE } from './interface-rows.ts';
import { findTests, INTERFACE_TESTS } from './interface-tests.ts';
import { missingBecause, type NamedTest } from './named-tests.ts';

/** How a row holds: exactly, by a deployer's setting, or by a choice where the interface leaves a question open. */
const KINDS = ['exact', 'setting', 'choice'] as const;

export interface CoverageLine {
  section: string;
  row: string;
  /** One of `KINDS` with its explanation, or `–` for a row outside this software. */
  here: string;
  tests: NamedTest[];
}

const root = join(import.meta.dirname, '../..');

const PAGE = 'docs/interface-coverage.md';

/** Marks a row that is outside this software. */
const NOT_OURS = '–';

const PARTS = /^## (?<section>[\d.]+) .*$|^\| (?!row \||---)(?<cells>.+) \|$/gm;

export function readCoverage(
  page = readFileSync(join(root, PAGE), 'utf8'),
  tests: Readonly<Record<string, readonly string[]>> = INTERFACE_TESTS,
): CoverageLine[] {
  const lines: CoverageLine[] = [];
  let section = '';
  for (const { groups = {} } of page.matchAll(PARTS)) {
    if (groups.section !== undefined) section = groups.section;
    // The lines before the first section explain the columns.
    else if (section !== '') lines.push(lineOf(section, (groups.cells ?? '').split(' | '), tests));
  }
  return [...lines, ...linesNotOnPage(lines, tests)];
}

/** The rows that the page does not list: they are exact, unless they are outside this software. */
function linesNotOnPage(
  lines: readonly CoverageLine[],
  tests: Readonly<Record<string, readonly string[]>>,
): CoverageLine[] {
  const listed = new Set(lines.map(({ section, row }) => `${section} ${row}`));
  return Object.entries(INTERFACE_ROWS).flatMap(([section, rows]) =>
    rows
      .filter((row) => !listed.has(`${section} ${row}`) && !OUTSIDE.has(`${section} ${row}`))
      .map((row) => lineOf(section, [row, '', 'exact'], tests)),
  );
}

function lineOf(section: string, cells: string[], tests: Readonly<Record<string, readonly string[]>>): CoverageLine {
  const [name = '', , here = ''] = cells;
  const row = name.replaceAll('`', '');
  if (cells.length !== 3) throw new Error(`${PAGE}: section ${section}, ${row}: three cells, not ${cells.length}`);
  const named = OUTSIDE.has(`${section} ${row}`) ? [] : findTests(`${section} ${row}`, tests);
  return { section, row, here, tests: named.map((test) => testOf(`${section} ${row}`, test)) };
}

function testOf(id: string, text: string): NamedTest {
  const { file, title } = /^(?<file>test\/\S+\.test\.ts) › (?<title>.+)$/.exec(text)?.groups ?? {};
  if (!file || !title) throw new Error(`${id}: a test is file › title`);
  return { file, title };
}

/** Finds the problems of the page that the files show, one sentence each. */
export function problemsOf(lines: readonly CoverageLine[]): string[] {
  const wanted = Object.entries(INTERFACE_ROWS).flatMap(([section, rows]) => rows.map((row) => `${section} ${row}`));
  const had = lines.map(({ section, row }) => `${section} ${row}`);
  return [
    ...wanted.filter((id) => !had.includes(id)).map((id) => `${id}: no line`),
    ...had.filter((id) => !wanted.includes(id)).map((id) => `${id}: the interface has no such row`),
    ...had.filter((id, index) => had.indexOf(id) !== index).map((id) => `${id}: two lines`),
    ...Object.keys(INTERFACE_TESTS).flatMap((id) => (wanted.includes(id) ? [] : [`${id}: tests of no row`])),
    ...lines.flatMap(problemsOfLine),
  ];
}

function problemsOfLine({ section, row, here, tests }: CoverageLine): string[] {
  const id = `${section} ${row}`;
  return [
    ...problemsOfKind(here, OUTSIDE.has(id)).map((problem) => `${id}: ${problem}`),
    ...(tests.length === 0 && !OUTSIDE.has(id) ? [`${id}: no test`] : []),
    ...tests.filter(isOfSandbox).map(({ title }) => `${id}: ${title}: a test of the sandbox in the product's place`),
    ...tests.flatMap((test) => {
      const why = missingBecause(test);
      return why === null ? [] : [`${id}: ${test.file} › ${test.title}: ${why}`];
    }),
  ];
}

function problemsOfKind(here: string, isOutside: boolean): string[] {
  if (isOutside) return here === NOT_OURS ? [] : [`${here}: this row is not this software's to do`];
  const { kind = '', words } = /^(?<kind>\w+)(?:: (?<words>.+))?$/.exec(here)?.groups ?? {};
  if (!(KINDS as readonly string[]).includes(kind)) return [`${here}: not exact, a setting or a choice`];
  if ((kind === 'exact') !== (words === undefined))
    return [`${kind}: a setting or a choice says which, and nothing else`];
  return kind === 'setting' && !/`\w+`/.test(words ?? '') ? [`${here}: names no setting`] : [];
}

function isOfSandbox({ file, title }: NamedTest): boolean {
  return file.startsWith('test/sandbox/') || title.includes('the sandbox validates it');
}
