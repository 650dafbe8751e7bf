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

test('dev ends with an error where its data directory cannot be made', {
  skip: process.platform !== 'linux' && 'only Linux has /proc',
}, async () => {
  const args = [CLI, 'dev', '--headless', '--data-dir', '/proc/credit-journey'];
  const ended = promisify(execFile)(process.execPath, args, { timeout: 30_000, killSignal: 'SIGKILL' });
  await assert.rejects(ended, { code: 1, stderr: /ENOENT/ });
});
