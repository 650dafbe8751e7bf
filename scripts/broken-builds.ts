/**
 * Breaks one thing at a time in a copy of this tree, runs the tests that should notice, and prints which did. Where no
 * test fails in a broken build, the script prints SURVIVED and exits with 1. A few minutes in all. Arguments: parts of
 * the names of builds; default: all. With `--chaos` the storm of docs/reliability.md must notice, in one run of each
 * build that names a seed: a few minutes for each.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BROKEN_BUILDS, type BrokenBuild } from '../test/broken-builds/builds.ts';

/** Everything that the tests of the builds read. */
const COPIED = ['bin', 'docs', 'sandbox', 'schemas', 'scripts', 'src', 'test', 'package.json', 'tsconfig.json'];
/** The limit of a test's waits. In the sound tree the slowest of them takes half of it. */
const WAIT_LIMIT_MS = 12_000;
/** A broken build may hang for good. */
const TIMEOUT_MS = 90_000;
const CHAOS_TIMEOUT_MS = 10 * 60_000;

const root = join(import.meta.dirname, '..');
const withChaos = process.argv.includes('--chaos');
const wanted = process.argv.slice(2).filter((argument) => argument !== '--chaos');
const builds = BROKEN_BUILDS.filter(
  ({ name, chaos }) =>
    (wanted.length === 0 || wanted.some((part) => name.includes(part))) && (!withChaos || chaos !== undefined),
);
if (builds.length === 0) {
  console.error(`no such build; known: ${BROKEN_BUILDS.map(({ name }) => name).join('; ')}`);
  process.exit(2);
}

interface TestRun {
  exitCode: number | null;
  failed: string[];
  output: string;
}

const tree = await mkdtemp(join(tmpdir(), 'credit-journey-broken-'));
let isGood = false;
try {
  await copyTree();
  isGood = (await soundTreePasses()) && (await everyBuildIsCaught());
} finally {
  await rm(tree, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);

async function copyTree(): Promise<void> {
  for (const name of COPIED) {
    if (existsSync(join(root, name))) await cp(join(root, name), join(tree, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'), 'dir');
}

/** A test that fails anyway detects nothing. */
async function soundTreePasses(): Promise<boolean> {
  const run = withChaos ? await runChaosOfAll() : await runTests(builds.flatMap(({ tests }) => tests));
  if (run.exitCode === 0) {
    console.log('the sound tree passes\n');
    return true;
  }
  console.log(`the sound tree fails: ${run.failed.join('; ')}\n${run.output}`);
  return false;
}

async function everyBuildIsCaught(): Promise<boolean> {
  let caught = 0;
  for (const build of builds) {
    const startedAt = performance.now();
    const run = await breakAndTest(build);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const verdict = verdictOf(run);
    if (verdict === 'caught') caught++;
    console.log(`${verdict.padEnd(8)}  ${build.name} (${seconds} s)`);
    for (const name of run.failed) console.log(`          failed: ${name}`);
    if (verdict === 'NO TEST') console.log(run.output);
  }
  console.log(`\n${caught} of ${builds.length} broken builds were caught`);
  return caught === builds.length;
}

/** No test has noticed a tree that cannot even be loaded. */
function verdictOf({ exitCode, failed }: TestRun): 'caught' | 'SURVIVED' | 'NO TEST' {
  if (exitCode === 0) return 'SURVIVED';
  return failed.some((name) => !name.endsWith('.test.ts')) ? 'caught' : 'NO TEST';
}

async function breakAndTest({ edits, tests, chaos }: BrokenBuild): Promise<TestRun> {
  const sound = new Map<string, string>();
  try {
    for (const { file, find, replace } of edits) {
      const path = join(tree, file);
      const text = await readFile(path, 'utf8');
      if (!sound.has(path)) sound.set(path, text);
      const found = text.split(find).length - 1;
      if (found !== 1) throw new Error(`${file} has the text to be broken ${found} times, not once:\n${find}`);
      await writeFile(
        path,
        text.replace(find, () => replace),
      );
    }
    return withChaos && chaos ? await runChaos(chaos) : await runTests(tests);
  } finally {
    for (const [path, text] of sound) await writeFile(path, text);
  }
}

async function runTests(tests: readonly { path: string; title: string }[]): Promise<TestRun> {
  const paths = new Set(tests.map(({ path }) => path));
  const titles = new Set(tests.map(({ title }) => title));
  const names = [...titles].map((title) => `--name=${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
  const env = { ...process.env, TEST_WAIT_LIMIT_MS: String(WAIT_LIMIT_MS) };
  const run = await runProgram([join('scripts', 'test.ts'), ...paths, ...names], env, TIMEOUT_MS);
  return { ...run, failed: failedIn(run.output) };
}

/** Each storm once, for any number of builds. */
async function runChaosOfAll(): Promise<TestRun> {
  const storms = new Map(builds.map(({ chaos }) => [JSON.stringify(chaos), chaos]));
  for (const chaos of storms.values()) {
    const run = chaos && (await runChaos(chaos));
    if (run && run.exitCode !== 0) return run;
  }
  return { exitCode: 0, failed: [], output: '' };
}

/** A run without a verdict has noticed nothing. */
async function runChaos({ seed, journeys, minutes }: NonNullable<BrokenBuild['chaos']>): Promise<TestRun> {
  const options = ['--seed', String(seed), '--journeys', String(journeys), '--minutes', String(minutes)];
  const run = await runProgram([join('test', 'chaos', 'main.ts'), ...options], process.env, CHAOS_TIMEOUT_MS);
  // Each failure with the first of its details.
  const found = run.output.matchAll(/^ {2}FAILED (.+)(?:\n {11}(.+))?/gm);
  const failed = [...found].map(([, what, first]) => (first === undefined ? `${what}` : `${what}; ${first}`));
  return { ...run, failed };
}

async function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  timeout: number,
): Promise<Omit<TestRun, 'failed'>> {
  const child = spawn(process.execPath, args, { cwd: tree, env, stdio: ['ignore', 'pipe', 'pipe'], timeout });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  return { exitCode, output };
}

/** The titles under the spec reporter's last heading. */
function failedIn(output: string): string[] {
  const [, failing = ''] = output.split('failing tests:');
  return [...failing.matchAll(/^✖ (.+) \([\d.]+ms\)$/gm)].flatMap(([, title]) => (title ? [title] : []));
}
