/** The step before `npm run demo` and `npm test`, in temporary repositories, with an npm that only records its calls. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const SCRIPT = 'scripts/install-packages.js';

interface Entry {
  version: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  libc?: string[];
}

const LOCKED: Record<string, Entry> = {
  'node_modules/zod': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/node': { version: '24.0.0', integrity: 'sha512-b', dev: true },
  'node_modules/for-another-system': { version: '1.0.0', optional: true, os: ['plan9'] },
  'node_modules/for-another-library': { version: '1.0.0', optional: true, os: [process.platform], libc: ['musl'] },
};
const INSTALLED = ['node_modules/zod', 'node_modules/node'];

interface Repository {
  root: string;
  path(name: string): string;
  remove(name: string): void;
  writeJson(name: string, packages: object): void;
  /** Runs the step. */
  run(): Promise<{ code: number | null; said: string }>;
  /** The calls of npm so far, one a line: its arguments, and whether it found the packages' own programs on its path. */
  calls(): string[];
}

/** A repository whose packages are all there. Its npm takes `npmSeconds`, installs all, and ends with `npmExit`. */
function createRepository(t: TestContext, { npmExit = 0, npmSeconds = 0 } = {}): Repository {
  const root = mkdtempSync(join(tmpdir(), 'credit-journey-install-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const path = (name: string) => join(root, name);
  const writeJson = (name: string, packages: object) => writeFileSync(path(name), JSON.stringify({ packages }));
  for (const directory of ['scripts', 'bin', 'complete/.bin', 'complete/zod', 'complete/node']) {
    mkdirSync(path(directory), { recursive: true });
  }
  copyFileSync(join(ROOT, SCRIPT), path(SCRIPT));
  // The step is an ES module.
  writeFileSync(path('package.json'), '{ "type": "module" }');
  writeJson('package-lock.json', { '': { name: 'example' }, ...LOCKED });
  writeJson('complete/.package-lock.json', Object.fromEntries(INSTALLED.map((name) => [name, LOCKED[name]])));
  for (const file of ['.bin/node', 'zod/package.json', 'node/package.json'])
    writeFileSync(path(`complete/${file}`), '{}');
  const npm = [
    '#!/bin/sh',
    `case ":$PATH:" in *"${path('node_modules/.bin')}"*) own=own ;; *) own=system ;; esac`,
    `echo "$* $own" >>"${path('calls')}"`,
    `sleep ${npmSeconds}`,
    `[ ${npmExit} = 0 ] || { echo "npm error code E404" >&2; exit ${npmExit}; }`,
    `rm -rf "${path('node_modules')}"`,
    `cp -R "${path('complete')}" "${path('node_modules')}"`,
  ];
  writeFileSync(path('bin/npm'), `${npm.join('\n')}\n`);
  chmodSync(path('bin/npm'), 0o755);
  const repository: Repository = {
    root,
    path,
    writeJson,
    remove: (name) => rmSync(path(name), { recursive: true }),
    async run() {
      const PATH = [path('node_modules/.bin'), path('bin'), process.env.PATH].join(delimiter);
      const child = spawn(process.execPath, [path(SCRIPT)], { env: { ...process.env, PATH }, stdio: 'pipe' });
      const [[code], said, errors] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
      return { code: code as number | null, said: said + errors };
    },
    calls: () => (existsSync(path('calls')) ? readFileSync(path('calls'), 'utf8').trim().split('\n') : []),
  };
  return repository;
}

/** A repository whose packages are installed. */
async function createInstalled(t: TestContext): Promise<Repository> {
  const repository = createRepository(t);
  await repository.run();
  rmSync(repository.path('calls'));
  return repository;
}

const NPM_CI = 'ci --include=dev --include=optional system';

test('the step runs npm ci once in a bare clone, with the machine’s own Node, and nothing in the next run', async (t) => {
  const repository = createRepository(t);
  const first = await repository.run();
  assert.equal(first.code, 0, first.said);
  assert.match(
    first.said,
    /^Installing the packages of package-lock\.json \(npm ci\), since there is no complete node_modules\.\n$/,
  );
  assert.deepEqual(await repository.run(), { code: 0, said: '' });
  assert.deepEqual(repository.calls(), [NPM_CI]);
});

const DIFFERENCES: [what: string, change: (repository: Repository) => void, said: RegExp][] = [
  ['an installation that was ended half-way', ({ remove }) => remove('node_modules/.package-lock.json'), /no complete/],
  ['a package whose files are gone', ({ remove }) => remove('node_modules/zod'), /node_modules\/zod is missing/],
  [
    'a package in another version',
    ({ writeJson }) =>
      writeJson('package-lock.json', { ...LOCKED, 'node_modules/zod': { version: '1.0.1', integrity: 'sha512-a' } }),
    /node_modules\/zod has another version/,
  ],
  [
    'a package with another content',
    ({ writeJson }) =>
      writeJson('package-lock.json', { ...LOCKED, 'node_modules/zod': { version: '1.0.0', integrity: 'sha512-c' } }),
    /node_modules\/zod has another version/,
  ],
  [
    'a package that the lock file no longer names',
    ({ writeJson }) => writeJson('package-lock.json', { 'node_modules/node': LOCKED['node_modules/node'] }),
    /node_modules\/zod is not in package-lock\.json/,
  ],
  [
    'an installation without packages for development',
    ({ writeJson }) => writeJson('node_modules/.package-lock.json', { 'node_modules/zod': LOCKED['node_modules/zod'] }),
    /node_modules\/node is missing/,
  ],
  ['an installation without scripts', ({ remove }) => remove('node_modules/.bin/node'), /own Node is missing/],
  [
    'a package for this platform that is missing',
    ({ writeJson }) =>
      writeJson('package-lock.json', { ...LOCKED, native: { version: '1', optional: true, os: [process.platform] } }),
    /native is missing/,
  ],
];

for (const [what, change, said] of DIFFERENCES) {
  test(`the step installs the packages again after ${what}`, async (t) => {
    const repository = await createInstalled(t);
    change(repository);
    const ran = await repository.run();
    assert.equal(ran.code, 0, ran.said);
    assert.match(ran.said, said);
    assert.deepEqual(repository.calls(), [NPM_CI]);
  });
}

test('the step fails and shows the error of npm when npm fails', async (t) => {
  const repository = createRepository(t, { npmExit: 7 });
  const { code, said } = await repository.run();
  assert.equal(code, 1);
  assert.match(said, /npm error code E404\nThe packages are not installed: npm says why above\.\n$/);
  assert.deepEqual(existsSync(repository.path('.npm-ci.lock')), false);
  await repository.run();
  assert.equal(repository.calls().length, 2);
});

test('when several steps begin at the same time, one of them installs and the others wait', async (t) => {
  const repository = createRepository(t, { npmSeconds: 1 });
  const ran = await Promise.all([repository.run(), repository.run(), repository.run()]);
  assert.deepEqual(
    ran.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.equal(ran.filter(({ said }) => said.startsWith('Installing')).length, 1);
  assert.deepEqual(repository.calls(), [NPM_CI]);
});

test('the step ignores the lock of a process that has ended', async (t) => {
  const repository = createRepository(t);
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'exit');
  symlinkSync(String(ended.pid), repository.path('.npm-ci.lock'));
  assert.equal((await repository.run()).code, 0);
  assert.deepEqual(repository.calls(), [NPM_CI]);
});

test('demo, test, test:all and check run the step first', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['demo', 'test', 'test:all', 'check']) assert.equal(scripts[`pre${name}`], `node ${SCRIPT}`, name);
});
