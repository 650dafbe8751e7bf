/** Packs the client, installs it in an empty folder as an integrator does, type-checks and runs it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { packClient } from '../../scripts/pack-client.ts';
import { testServer } from '../support/temporal.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const STEP_TIMEOUT_MS = 240_000;
const MOST_BYTES = 60_000_000;

let folder: string;
let project: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'credit-journey-package-'));
  const dist = join(folder, 'dist');
  await node(ROOT, TSC, '--project', join(ROOT, 'tsconfig.build.json'), '--outDir', dist);
  const tarball = packClient(dist, join(folder, 'packed', 'credit-journey-client'));
  project = join(folder, 'platform');
  mkdirSync(project);
  write('package.json', JSON.stringify({ private: true }));
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, tarball, 'openapi-fetch@0.17.0'], {
    cwd: project,
    timeout: STEP_TIMEOUT_MS,
  });
});

after(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function node(cwd: string, ...args: string[]): Promise<{ stdout: string }> {
  return run(process.execPath, args, { cwd, timeout: STEP_TIMEOUT_MS });
}

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

test('the client package has no native module, no worker and no ledger, and stays small', () => {
  const files = globSync('node_modules/**/*', { cwd: project }).map((name) => join(project, name));
  assert.deepEqual(
    files.filter((file) => file.endsWith('.node')),
    [],
  );
  const bytes = files.reduce((sum, file) => sum + (statSync(file).isFile() ? statSync(file).size : 0), 0);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  const own = globSync('**/*.js', { cwd: join(project, 'node_modules', 'credit-journey-client', 'lib') });
  assert.ok(own.includes('client.js'));
  assert.deepEqual(
    own.filter((file) => /^(ledger|operator|worker|workflows|activities|telemetry|codec|cli)\b/.test(file)),
    [],
  );
});

test('the client package and its types of the API check without skipLibCheck, and name no type of Temporal’s SDK', async () => {
  const lib = join(project, 'node_modules', 'credit-journey-client', 'lib');
  for (const file of globSync('**/*.d.ts', { cwd: lib })) {
    assert.ok(!readFileSync(join(lib, file), 'utf8').includes("'@temporalio"), file);
  }
  write(
    'platform.mts',
    `import { type ConnectOptions, CreditJourneyError, CreditJourneys } from 'credit-journey-client';
    import type { JourneyStatus, LendingJourneyInput, ReceivedEvent } from 'credit-journey-client';
    export async function main(input: LendingJourneyInput, options: ConnectOptions): Promise<JourneyStatus> {
      await using journeys = await CreditJourneys.connect(options);
      const journey = await journeys.start(input, { workClass: 'batch', timeoutMs: 1_000 });
      const event = JSON.parse('{}') as ReceivedEvent;
      if (event.type === 'gate.reached') console.log(event.data.journeyId, event.data.stage === 'PREAPP');
      for await (const { state } of journey.watch()) console.log(state);
      const code = await journey.result().catch((error: unknown) => error instanceof CreditJourneyError && error.code);
      console.log(code);
      return journey.status({ signal: AbortSignal.timeout(1) });
    }`,
  );
  const example = readFileSync(join(ROOT, 'examples/typescript/first-program.ts'), 'utf8');
  write('first-program.mts', example.replaceAll("'credit-journey", "'credit-journey-client"));
  write(
    'wrong-address.mts',
    `import type { paths } from 'credit-journey-client/api';
    import createClient from 'openapi-fetch';
    const api = createClient<paths>();
    // @ts-expect-error the API has no such address
    await api.GET('/v1/hold');
    // @ts-expect-error nor such a kind
    await api.GET('/v1/holds', { params: { query: { kind: 'waiting' } } });
    const { data } = await api.GET('/v1/holds', { params: { query: { kind: 'held' } } });
    // @ts-expect-error nor such a member
    console.log(data?.data[0]?.holdId, data?.data[0]?.id);
    for (const hold of data?.data ?? []) console.log(hold.allowedActions.includes('seen'));`,
  );
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
  };
  const files = ['platform.mts', 'first-program.mts', 'wrong-address.mts'];
  write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
  await node(project, TSC, '--project', '.').catch((error: { stdout?: string }) => assert.fail(error.stdout ?? 'tsc'));
});

test('the client package loads by import and by require(), and connects to a server', async () => {
  const { address, namespace } = await testServer();
  // The codec server's address makes the client load its data converter. The server gets no request.
  const options = { address, namespace, taskQueue: 'none', codecServer: { url: 'http://127.0.0.1:1' } };
  const body = `(async () => {
    const journeys = await CreditJourneys.connect(${JSON.stringify(options)});
    const code = await journeys.get('never-was').result().catch((error) => error.code);
    console.log(code, journeys instanceof CreditJourneys);
    await journeys.close();
  })();`;
  write('by-import.mjs', `import { CreditJourneys } from 'credit-journey-client';\n${body}`);
  write('by-require.cjs', `const { CreditJourneys } = require('credit-journey-client');\n${body}`);
  for (const program of ['by-import.mjs', 'by-require.cjs']) {
    const { stdout } = await node(project, program);
    assert.equal(stdout.trim(), 'notFound true', program);
  }
});

test('on a Node that is too old the client package loads, and connect names the version that it needs', async () => {
  const body = 'CreditJourneys.connect().catch(({ message }) => console.log(message));';
  write('old-node.mjs', `import { CreditJourneys } from 'credit-journey-client';\n${body}`);
  write('old-node.cjs', `const { CreditJourneys } = require('credit-journey-client');\n${body}`);
  for (const program of ['old-node.mjs', 'old-node.cjs']) {
    const onNode20 = ['--yes', '--prefer-offline', '-p', 'node@20', 'node', program];
    const { stdout } = await run('npx', onNode20, { cwd: project, timeout: STEP_TIMEOUT_MS });
    assert.match(
      stdout,
      /^invalid configuration: Node\.js must be 22\.19 or later: this program runs on 20\./,
      program,
    );
  }
});
