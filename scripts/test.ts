/**
 * The only entry of `npm test`: runs every `*.test.ts` under `test/`, most of them in processes that several share, and
 * prints `N passed, N failed`. Arguments select tests: a file, a directory, a glob, or a part of a path;
 * `--name=<pattern>` selects by title. `--all` runs slow tests as well; `--times` prints what each file took.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, type TestsStream } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { cpuSeconds } from '../test/support/cpu-seconds.ts';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';
import { describeMissingPrograms } from '../test/support/needed-programs.ts';

const OLDEST_NODE = 24;
/** Most tests wait for servers, so these are more than the two cores of a small machine. Slow ones load it more. */
const CONCURRENCY = { all: 4, usual: 5 };
/** The longest files after the slow ones. They begin first, so that none of them runs alone at the end. */
const BEGUN_FIRST = ['test/workflows/long-waits', 'test/hazards', 'test/workflows', 'test/client', 'test/cli'];
/**
 * Files that start no program and change nothing outside of what they make. They share one process, which loads the
 * sources once.
 */
const TOGETHER = [
  'test/activities/inquiry-request',
  'test/architecture',
  'test/bench/',
  'test/broken-builds/',
  'test/changes/',
  'test/chaos/invariants',
  'test/cli/document-lines',
  'test/cli/hold-lines',
  'test/cli/listing-lines',
  'test/cli/search-attribute-setup',
  'test/cli/status-lines',
  'test/config/',
  'test/deploy/cloud-actions',
  'test/deploy/compose',
  'test/docs',
  'test/doctor/doctor-lines',
  'test/doctor/ledger-durability',
  'test/examples',
  'test/gateway/',
  'test/health/readiness',
  'test/ledger/claim',
  'test/ledger/decision',
  'test/ledger/observed-ledger',
  'test/ledger/outcome',
  'test/ledger/share-explorer',
  'test/model/',
  'test/portfolio/rows-read-again',
  'test/prose',
  'test/protection/key-ring',
  'test/protection/payload-codec',
  'test/protection/sealing',
  'test/protection/sentinels',
  'test/sandbox/',
  'test/telemetry/metrics',
  'test/telemetry/safe-spans',
  'test/validation/',
  'test/webhooks/address-guard',
  'test/workflow-source',
  'test/workflows/current-details',
  'test/workflows/handed-over-state',
  'test/workflows/message-checks',
];
/**
 * Files that change their process, or end it: each has one of its own. The others run one after another in shared
 * processes, since loading the SDK costs more than most of them do.
 */
const ALONE: readonly string[] = [
  'test/chaos',
  'test/hazards/process-',
  'test/ledger/explorer',
  'test/local',
  'test/logging',
  'test/start-up',
  'test/telemetry',
  'test/workflows/long-waits',
];
/** The number of files that share a process, in the order of their paths: neighbours cost about the same. */
const FILES_IN_A_PROCESS = 8;
/** Files that take minutes by nature, or need more than npm and Python: run by `npm run test:all`, or where one is named. */
const SLOW = '-slow.test.ts';
/** For one test: the explorer needs about half of it on two cores that four files share. */
const TEST_TIMEOUT_MS = 12 * 60_000;
/** For the run: one that hangs without a word tells a reader nothing. */
const RUN_TIMEOUT_MS = 80 * 60_000;
/** Ends a process that hangs; node:test would wait for it. */
const ENDS_BY_ITSELF = join(import.meta.dirname, '..', 'test/support/ends-by-itself.ts');
const CPU_RECORD = join(import.meta.dirname, '..', 'test/support/cpu-record.ts');

/** By their loader. */
const sharedProcesses = new Map<string, readonly string[]>();

const root = join(import.meta.dirname, '..');

// Hundreds of processes load the same modules: they are compiled once, and the cache serves the next run too.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'credit-journey-tests');

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  fail(`tests need Node ${OLDEST_NODE} or newer, this is ${process.version}: use \`npm test\`, which brings its own`);
}
const given = process.argv.slice(2);
const filters = given.filter((argument) => !argument.startsWith('-'));
const names = given.filter((argument) => argument.startsWith('--name='));
const isAll = given.includes('--all');
const hasTimes = given.includes('--times');
const unknown = given.filter(
  (argument) => argument.startsWith('-') && !names.includes(argument) && argument !== '--all' && argument !== '--times',
);
if (unknown.length > 0) fail(`unknown option ${unknown.join(' ')}; known: --all, --times, --name=<pattern>`);
const scratch = mkdtempSync(join(tmpdir(), 'credit-journey-tests-'));
const timesFile = join(scratch, 'times.jsonl');
if (hasTimes) process.env.TEST_TIMES_FILE = timesFile;

// Said before the half hour that the run takes, and once more at its end. A named file says itself what it misses.
const missing = isAll && filters.length === 0 ? describeMissingPrograms(process.env) : null;
if (missing !== null) console.log(missing);

if (!isAll && filters.length === 0) process.env.TEST_SLOW_PARTS = 'off';

const files = selectFiles();
if (files.length === 0) fail('no test file matches');

/** Of the Temporal server that has ended, in seconds. */
let serverCpu = 0;
let outcome: Outcome = { isGood: false, lines: ['0 passed, 1 failed'] };
setTimeout(() => fail('the run is not over after 80 minutes\n0 passed, 1 failed'), RUN_TIMEOUT_MS).unref();
try {
  // Called here and not by the runner, which neither ends nor tears down when its global setup fails.
  await globalSetup();
  outcome = await runTests();
} catch (error) {
  console.error(error);
} finally {
  const untilThen = cpuSeconds();
  await globalTeardown();
  serverCpu = cpuSeconds() - untilThen;
}
if (hasTimes) console.log(timesOf(timesFile));
rmSync(scratch, { recursive: true, force: true });
if (missing !== null) console.log(missing);
console.log(outcome.lines.join('\n'));
// Exits explicitly: a handle that was left open must not hang the run.
process.exit(outcome.isGood && missing === null ? 0 : 1);

interface Outcome {
  isGood: boolean;
  /** For the end of the output; the last one has the counts. */
  lines: string[];
}

function runTests(): Promise<Outcome> {
  return report(
    run({
      // A process of several files would look for the title in the first one only.
      files: names.length > 0 ? files : inProcesses(files),
      cwd: root,
      concurrency: isAll ? CONCURRENCY.all : CONCURRENCY.usual,
      timeout: TEST_TIMEOUT_MS,
      execArgv: ['--import', ENDS_BY_ITSELF, ...(hasTimes ? ['--import', CPU_RECORD] : [])],
      ...(names.length > 0 ? { testNamePatterns: names.map((name) => new RegExp(name.slice('--name='.length))) } : {}),
    }),
  );
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

/** Every file except slow ones, or the files that any of the filters names. */
function selectFiles(): string[] {
  const turn = (file: string) => {
    if (file.endsWith(SLOW)) return -1;
    const first = BEGUN_FIRST.findIndex((prefix) => file.startsWith(prefix));
    return first === -1 ? BEGUN_FIRST.length : first;
  };
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort((a, b) => turn(a) - turn(b) || (a < b ? -1 : 1));
  if (filters.length === 0) return all.filter((file) => isAll || !file.endsWith(SLOW)).map((file) => join(root, file));
  const named = filters.flatMap((filter) => {
    const plain = filter.replace(/^\.\//, '').replace(`${root}/`, '');
    const matches = /[*?{[]/.test(plain) ? globSync(plain, { cwd: root }) : [];
    const isDirectory = statSync(join(root, plain), { throwIfNoEntry: false })?.isDirectory() ?? false;
    const prefix = `${plain.replace(/\/$/, '')}/`;
    return all.filter(
      (file) => matches.includes(file) || (isDirectory ? file.startsWith(prefix) : file.includes(plain)),
    );
  });
  return [...new Set(named)].map((file) => join(root, file));
}

/**
 * A line for each file, the dearest first: seconds of CPU with those of its ended children, and from start to end. What
 * a shared process takes besides (loading, processes that stay) has a line of its own. The sum is the whole run's, with
 * the bundle.
 */
function timesOf(path: string): string {
  const text = statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : '';
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { file: string; cpu: number; seconds: number });
  const lines = rows
    .sort((a, b) => b.cpu - a.cpu)
    .map(({ file, cpu, seconds }) => `${cpu.toFixed(1).padStart(7)} ${seconds.toFixed(1).padStart(7)}  ${named(file)}`);
  const server = `${serverCpu.toFixed(1).padStart(7)}          the Temporal server`;
  return ['   cpu s  wall s', ...lines, server, `${cpuSeconds().toFixed(0)} s of CPU in all`].join('\n');
}

function inProcesses(wanted: readonly string[]): string[] {
  const isOneOf = (file: string, prefixes: readonly string[]) =>
    prefixes.some((prefix) => file.startsWith(join(root, prefix)));
  const alone = wanted.filter((file) => file.endsWith(SLOW) || isOneOf(file, ALONE));
  const others = wanted.filter((file) => !alone.includes(file));
  const together = others.filter((file) => isOneOf(file, TOGETHER));
  const inTurn = others.filter((file) => !together.includes(file));
  const groups = Array.from({ length: Math.ceil(inTurn.length / FILES_IN_A_PROCESS) }, (_, index) =>
    inTurn.slice(index * FILES_IN_A_PROCESS, (index + 1) * FILES_IN_A_PROCESS),
  );
  return [...alone, ...[together, ...groups].filter((group) => group.length > 0).map(inOneProcess)];
}

/** Files that run one after another in one process. Each is a suite, so that its hooks are its own. */
function inOneProcess(group: readonly string[]): string {
  const [first = ''] = group;
  if (group.length === 1) return first;
  const loader = join(scratch, `in-turn-${sharedProcesses.size + 1}.mjs`);
  sharedProcesses.set(loader, group);
  const imports = [
    "import { after, before, describe } from 'node:test';",
    `import { endsSoon } from ${JSON.stringify(pathToFileURL(ENDS_BY_ITSELF).href)};`,
    `import { recordEnd, recordStart } from ${JSON.stringify(pathToFileURL(CPU_RECORD).href)};`,
  ];
  const suites = group.map((file) => {
    const [title, url] = [JSON.stringify(file.replace(`${root}/`, '')), JSON.stringify(pathToFileURL(file).href)];
    return `await describe(${title}, () => { before(recordStart); after(() => recordEnd(${title})); return import(${url}); });`;
  });
  writeFileSync(loader, [...imports, ...suites, 'endsSoon();', ''].join('\n'));
  return loader;
}

/** `failed` is not yet in @types/node. */
interface SummaryCounts {
  passed: number;
  failed: number;
  cancelled: number;
  skipped: number;
}

/** The counts come from the runner's own summary of the whole run. Without a summary the run did not finish. */
async function report(tests: TestsStream): Promise<Outcome> {
  let counts: SummaryCounts | undefined;
  const failedFiles = new Set<string>();
  const emptyFiles = new Set<string>();
  const silentFiles = new Set([...sharedProcesses.values()].flat());
  tests.on('test:summary', (summary) => {
    if (summary.file === undefined) counts = summary.counts as typeof summary.counts & SummaryCounts;
  });
  tests.on('test:fail', ({ file }) => {
    if (file) failedFiles.add(file);
    silentFiles.delete(file ?? '');
  });
  // The runner reports a file without tests as one passed test of the file's name.
  tests.on('test:pass', ({ file, name }) => {
    if (file && file === name) emptyFiles.add(file);
    silentFiles.delete(file ?? '');
  });
  const output = tests.compose(new spec());
  output.pipe(process.stdout, { end: false });
  await new Promise<void>((resolve, reject) => output.once('end', resolve).once('error', reject));

  if (!counts) throw new Error('the test run ended without a summary');
  const passed = counts.passed - emptyFiles.size;
  const failed = counts.failed + counts.cancelled;
  // Under `--name` most files have nothing to run.
  const unexpectedlyEmpty = names.length > 0 ? new Set<string>() : new Set([...emptyFiles, ...silentFiles]);
  return {
    isGood: failed === 0 && failedFiles.size === 0 && unexpectedlyEmpty.size === 0 && passed > 0,
    lines: [
      ...listed('failed files', failedFiles),
      ...listed('files without a test', unexpectedlyEmpty),
      ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : []),
      ...(passed + failed === 0 ? ['no test ran'] : []),
      `${passed} passed, ${failed} failed`,
    ],
  };
}

function listed(title: string, found: ReadonlySet<string>): string[] {
  return found.size === 0 ? [] : [`${title}:`, ...[...found].map((file) => `  ${named(file)}`)];
}

function named(file: string): string {
  const group = sharedProcesses.get(file);
  const name = (group?.[0] ?? file).replace(`${root}/`, '');
  return group ? `the process of ${name} and ${group.length - 1} more` : name;
}
