/**
 * `npm run coverage`: checks docs/interface-coverage.md against the list of the interface's rows and against the
 * existing tests, and prints the counts. `-- --list` also prints each row with its tests. `-- --run` also runs the named
 * tests, and fails where one of them did not run and pass. After either, sections (`2.3`) select a part.
 */
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';
import { type CoverageLine, problemsOf, readCoverage } from '../test/support/interface-coverage.ts';
import { escaped } from '../test/support/named-tests.ts';

const CONCURRENCY = 2;
const TIMEOUT_MS = 10 * 60_000;

const root = resolve(import.meta.dirname, '..');
const [mode, ...sections] = process.argv.slice(2);
if (mode !== undefined && mode !== '--run' && mode !== '--list') {
  console.error('usage: npm run coverage -- [--list|--run [section …]]');
  process.exit(2);
}

const lines = readCoverage();
const problems = problemsOf(lines);
for (const [section, ofSection] of Map.groupBy(lines, (line) => line.section)) {
  console.log(`${section.padEnd(4)} ${counted(ofSection)}`);
}
console.log(`all  ${counted(lines)}`);
const chosen = lines.filter(({ section }) => sections.length === 0 || sections.includes(section));
if (chosen.length === 0) problems.push('no such section');
if (mode === '--list') {
  for (const line of chosen) console.log([`${line.section} ${line.row}`, ...namesOf([line])].join('\n    '));
}
if (mode === '--run' && problems.length === 0) {
  problems.push(...(await whatDidNotPass(chosen)));
}
for (const problem of problems) console.error(problem);
// Exits explicitly: a handle that was left open must not hang the run.
process.exit(problems.length === 0 ? 0 : 1);

function counted(some: readonly CoverageLine[]): string {
  const tests = new Set(namesOf(some));
  const outside = some.filter((line) => line.tests.length === 0).length;
  const of = (kind: string) => some.filter(({ here }) => here.startsWith(kind)).length;
  const kinds = `${of('exact')} exact, ${of('setting')} settings, ${of('choice')} choices`;
  return `${some.length} rows, ${kinds}, ${tests.size} tests${outside > 0 ? `, ${outside} outside this software` : ''}`;
}

function namesOf(some: readonly CoverageLine[]): string[] {
  return some.flatMap(({ tests }) => tests.map(({ file, title }) => `${file} › ${title}`));
}

/** Runs the tests of these lines; returns a sentence for each that did not run, was skipped or failed. */
async function whatDidNotPass(some: readonly CoverageLine[]): Promise<string[]> {
  const tests = some.flatMap((line) => line.tests);
  const files = [...new Set(tests.map(({ file }) => resolve(root, file)))];
  const titles = [...new Set(tests.map(({ title }) => title))];
  const passed = new Set<string>();
  const failed = new Set<string>();
  await globalSetup();
  try {
    const testNamePatterns = titles.map((title) => new RegExp(`${escaped(title)}$`));
    const stream = run({ files, cwd: root, concurrency: CONCURRENCY, timeout: TIMEOUT_MS, testNamePatterns });
    stream.on('test:pass', ({ file, name, skip, todo }) => {
      if (file && !skip && !todo) passed.add(`${relative(root, file)} › ${name}`);
    });
    stream.on('test:fail', ({ file, name }) => {
      if (file) failed.add(`${relative(root, file)} › ${name}`);
    });
    // Read to its end: the run ends with it.
    for await (const _ of stream);
  } finally {
    await globalTeardown();
  }
  const named = [...new Set(namesOf(some))];
  console.log(
    `${named.filter((name) => passed.has(name) && !failed.has(name)).length} of ${named.length} tests ran and passed`,
  );
  return [
    ...named.filter((name) => failed.has(name)).map((name) => `${name}: failed`),
    ...named.filter((name) => !failed.has(name) && !passed.has(name)).map((name) => `${name}: did not run`),
  ];
}
