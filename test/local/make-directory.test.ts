import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { makeDirectory } from '../../src/base/make-directory.ts';
import { CLI } from '../cli/run-cli.ts';
import { temporaryDirectory } from './fake-programs.ts';

test('a directory is made for its owner alone, with those above it, and one that exists stays', async (t) => {
  const path = join(await temporaryDirectory(t), 'a', 'b', 'c');
  makeDirectory(path);
  makeDirectory(path);
  for (const one of [path, join(path, '..')]) assert.equal((await stat(one)).mode & 0o777, 0o700);
  await writeFile(join(path, 'file'), '');
  assert.throws(() => makeDirectory(join(path, 'file')), { code: 'EEXIST' });
  assert.throws(() => makeDirectory(join(path, 'file', 'd')), { code: 'ENOTDIR' });
});

for (const [name, ...args] of [
  ['dev', '--headless', '--data-dir', '/proc/credit-journey'],
  ['sandbox', '--state-file', '/proc/credit-journey/of/postings'],
] as const) {
  test(`${name} ends with an error where its directory cannot be made`, {
    skip: process.platform !== 'linux' && 'only Linux has /proc',
  }, async () => {
    const options = { timeout: 30_000, killSignal: 'SIGKILL' } as const;
    const ended = promisify(execFile)(process.execPath, [CLI, name, ...args], options);
    await assert.rejects(ended, { code: 1, stderr: /ENOENT/ });
  });
}
