/** docs/interface-coverage.md as data, and what is wrong with it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INTERFACE_ROWS, OUTSIDE } from './interface-rows.ts';
import { missingBecause, type NamedTest } from './named-tests.ts';

/** What holds of a row: what the interface says, what a deployer sets, or what was chosen where it leaves a question open. */
const KINDS = ['exact', 'setting', 'choice'] as const;

export interface CoverageLine {
  section: string;
  row: string;
  /** One of `KINDS` with its words, or `–` for what is not this software's to do. */
  here: string;
  tests: NamedTest[];
}

const root = join(import.meta.dirname, '../..');

const PAGE = 'docs/interface-coverage.md';

/** What stands in place of a test for what is not this software's to do. */
const NOBODY_HERE = 'outside this software';
const NOT_OURS = '–';

/** Stands for the test that every field of a request has, under the section and the row. */
const HELD_TO_ITS_ROW = 'held to its row';

const PARTS = /^## (?<section>[\d.]+) .*$|^\| (?!row \||---)(?<cells>.+) \|$/gm;

export function readCoverage(page = readFileSync(join(root, PAGE), 'utf8')): CoverageLine[] {
  const lines: CoverageLine[] = [];
  const keys = new Map<string, string>();
  let section = '';
  for (const { groups = {} } of page.matchAll(PARTS)) {
    if (groups.section !== undefined) section = groups.section;
    else if (section !== '') lines.push(lineOf(section, (groups.cells ?? '').split(' | '), keys));
    else {
      // Before the first section the page gives tests that several rows share a key.
      const [key = '', test = ''] = (groups.cells ?? '').split(' | ');
      keys.set(key, test);
    }
  }
  return lines;
}

function lineOf(section: string, cells: string[], keys: ReadonlyMap<string, string>): CoverageLine {
  const [row = '', , here = '', tests = ''] = cells;
  if (cells.length !== 4) throw new Error(`${PAGE}: section ${section}, ${row}: four cells, not ${cells.length}`);
  return {
    section,
    row: row.replaceAll('`', ''),
    here,
    tests:
      tests === NOBODY_HERE ? [] : tests.split('<br>').map((test) => testOf(section, row, keys.get(test) ?? test)),
  };
}

function testOf(section: string, row: string, text: string): NamedTest {
  if (text === HELD_TO_ITS_ROW) {
    const title = `${section} ${row.replaceAll('`', '')}: is ${HELD_TO_ITS_ROW}`;
    return { file: 'test/gateway/interface-rows.test.ts', title };
  }
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
  return file.startsWith('test/sandbox/') || title.includes('the sandbox holds it');
}
