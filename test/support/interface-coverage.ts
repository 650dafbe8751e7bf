/** docs/interface-coverage.md as data, and what is wrong with it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INTERFACE_ROWS, OUTSIDE } from './interface-rows.ts';
import { missingBecause, type NamedTest } from './named-tests.ts';

export interface CoverageLine {
  section: string;
  row: string;
  kept: string;
  /** Of what the product does. */
  tests: NamedTest[];
  /** Of what the sandbox does. */
  sandboxTests: NamedTest[];
}

const root = join(import.meta.dirname, '../..');

const PAGE = 'docs/interface-coverage.md';

/** What stands in place of a test for what is not this software's to do. */
const NOBODY_HERE = 'outside this software';

const PARTS = /^## (?<section>[\d.]+) .*$|^\| (?!row \||---)(?<cells>.+) \|$/gm;

export function readCoverage(page = readFileSync(join(root, PAGE), 'utf8')): CoverageLine[] {
  const lines: CoverageLine[] = [];
  let section = '';
  for (const { groups = {} } of page.matchAll(PARTS)) {
    if (groups.section !== undefined) section = groups.section;
    // Before the first section stands what the columns are.
    else if (section !== '') lines.push(lineOf(section, (groups.cells ?? '').split(' | ')));
  }
  return lines;
}

function lineOf(section: string, cells: string[]): CoverageLine {
  const [row = '', , kept = '', tests = '', sandboxTests = ''] = cells;
  if (cells.length !== 5) throw new Error(`${PAGE}: section ${section}, ${row}: five cells, not ${cells.length}`);
  const testsIn = (cell: string) => (cell === '' ? [] : cell.split('<br>').map((test) => testOf(section, row, test)));
  return {
    section,
    row: row.replaceAll('`', ''),
    kept,
    tests: tests === NOBODY_HERE ? [] : testsIn(tests),
    sandboxTests: testsIn(sandboxTests),
  };
}

function testOf(section: string, row: string, text: string): NamedTest {
  const { file, title } = /^`(?<file>test\/\S+\.test\.ts)` › (?<title>.+)$/.exec(text)?.groups ?? {};
  if (!file || !title) throw new Error(`${PAGE}: section ${section}, ${row}: a test is \`file\` › title`);
  return { file, title };
}

/** Everything that keeps the page from being true, as far as files tell; one sentence each. */
export function problemsOf(lines: readonly CoverageLine[]): string[] {
  const wanted = Object.entries(INTERFACE_ROWS).flatMap(([section, rows]) => rows.map((row) => `${section} ${row}`));
  const had = lines.map(({ section, row }) => `${section} ${row}`);
  return [
    ...wanted.filter((id) => !had.includes(id)).map((id) => `${id}: no line`),
    ...had.filter((id) => !wanted.includes(id)).map((id) => `${id}: the interface has no such row`),
    ...had.filter((id, index) => had.indexOf(id) !== index).map((id) => `${id}: two lines`),
    ...lines.flatMap(problemsOfLine),
  ];
}

function problemsOfLine({ section, row, kept, tests, sandboxTests }: CoverageLine): string[] {
  const id = `${section} ${row}`;
  const files = [...kept.matchAll(/`((?:src|sandbox|docs|schemas)\/[^`]*)`/g)].map(([, file = '']) => file);
  return [
    ...files.filter((file) => !existsSync(join(root, file))).map((file) => `${id}: ${file}: no such file`),
    ...(files.length === 0 && tests.length > 0 ? [`${id}: names no file that keeps it`] : []),
    ...(tests.length === 0 && !OUTSIDE.has(id) ? [`${id}: no test`] : []),
    ...tests.filter(isOfSandbox).map(({ title }) => `${id}: ${title}: a test of the sandbox in the product's place`),
    ...[...tests, ...sandboxTests].flatMap((test) => {
      const why = missingBecause(test);
      return why === null ? [] : [`${id}: ${test.file} › ${test.title}: ${why}`];
    }),
  ];
}

function isOfSandbox({ file, title }: NamedTest): boolean {
  return file.startsWith('test/sandbox/') || title.includes('the sandbox holds it');
}
