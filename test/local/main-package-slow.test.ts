/** Tests the project as a deployer gets it: built, packed, installed in an empty folder, imported and run there. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { bareEnvironment } from '../cli/run-cli.ts';
import { until } from '../support/process-world.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const STEP_TIMEOUT_MS = 240_000;
/** The folders that a build and a package need. */
const SOURCES = ['bin', 'docs', 'examples', 'page', 'sandbox', 'schemas', 'scripts', 'src'];
const FILES = ['package.json', 'tsconfig.json', 'tsconfig.build.json'];

let folder: string;
let project: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'credit-journey-main-package-'));
  const source = join(folder, 'source');
  mkdirSync(source);
  // Other tests may read the repository's own `dist`.
  for (const name of [...SOURCES, ...FILES]) cpSync(join(ROOT, name), join(source, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  await run(process.execPath, ['scripts/build.ts'], { cwd: source, timeout: STEP_TIMEOUT_MS });
  const { stdout } = await run('npm', ['pack', '--json'], { cwd: source, timeout: STEP_TIMEOUT_MS });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  project = join(folder, 'deployment');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['--prefer-offline', '--no-audit', '--no-fund', join(source, filename)];
  await run('npm', ['install', ...options], { cwd: project, env: environment(), timeout: STEP_TIMEOUT_MS });
});

after(() => {
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** The environment of a machine with this version of Node, on which the package can be installed. */
function environment(): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  // `npm test` sets variables with the path of the repository, and turns payload encryption off.
  const outer = Object.entries(bareEnvironment()).filter(
    ([name]) => !/^(npm_|INIT_CWD$|PAYLOAD_ENCRYPTION$)/i.test(name),
  );
  return { ...Object.fromEntries(outer), PATH: path, NO_COLOR: '1' };
}

function npx(...args: string[]): Promise<{ stdout: string }> {
  const options = { cwd: project, env: environment(), timeout: STEP_TIMEOUT_MS };
  return run('npx', ['--no-install', 'credit-journey', ...args], options);
}

test('the package exports only its main entry, and its command prints help and version', async () => {
  const program = `
    import { CreditJourneys } from 'credit-journey';
    const inner = await import('credit-journey/operator').catch((error) => error.code);
    console.log(typeof CreditJourneys.connect, inner);`;
  writeFileSync(join(project, 'program.mjs'), program);
  const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: project, timeout: STEP_TIMEOUT_MS });
  assert.equal(stdout.trim(), 'function ERR_PACKAGE_PATH_NOT_EXPORTED');
  assert.match((await npx('--help')).stdout, /^Usage: npx credit-journey/);
  const page = join(project, 'node_modules/credit-journey/dist/page/index.html');
  assert.match(readFileSync(page, 'utf8'), /<html lang="en"/);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  assert.equal((await npx('--version')).stdout.trim(), version);
});

test('the package starts a development environment in which a journey reaches its gate', async (t) => {
  const ports = ['--temporal-port', '0', '--ui-port', '0', '--sandbox-port', '0'];
  const bin = join('node_modules', 'credit-journey', 'bin', 'credit-journey.js');
  const dev = spawn(process.execPath, [bin, 'dev', '--json', ...ports], { cwd: project, env: environment() });
  t.after(() => ended(dev));
  const complaints: Buffer[] = [];
  dev.stderr.on('data', (chunk: Buffer) => complaints.push(chunk));
  const [line] = (await Promise.race([once(createInterface(dev.stdout), 'line'), once(dev, 'exit')])) as unknown[];
  assert.match(String(line), /^\{/, Buffer.concat(complaints).toString());

  const { stdout } = await npx('start', '--sample', '--journey-id', 'LOAN-1');
  assert.equal((JSON.parse(stdout) as { journeyId: string }).journeyId, 'LOAN-1');
  await until('it waits at its gate', async () => {
    const status = JSON.parse((await npx('status', 'LOAN-1')).stdout) as JourneyStatus;
    return status.state === 'waitingAtGate' && status.stages[0]?.state === 'record';
  });
});

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGINT');
  await once(child, 'exit');
}
