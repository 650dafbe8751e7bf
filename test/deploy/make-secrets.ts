/** Runs deploy/make-secrets.js into a directory of the test's own. */
import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from './checks.ts';

const run = promisify(execFile);

export interface MadeSecrets {
  directory: string;
  environmentFile: string;
  /** Once more; rejects where it refuses. */
  again(...args: string[]): Promise<unknown>;
  read(name: string): Promise<string>;
}

export async function makeSecrets(t: TestContext): Promise<MadeSecrets> {
  const root = await mkdtemp(join(tmpdir(), 'credit-journey-secrets-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const directory = join(root, 'secrets');
  const environmentFile = join(root, '.env');
  const env = { ...process.env, SECRETS_DIR: directory, COMPOSE_ENV_FILE: environmentFile };
  const again = (...args: string[]) => run(join(ROOT, 'deploy/make-secrets.js'), args, { env, timeout: 60_000 });
  await again();
  await giveBack(directory);
  return { directory, environmentFile, again, read: (name) => readFile(join(directory, name), 'utf8') };
}

/** Root's are the image's user's afterwards. */
async function giveBack(directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const entry of await readdir(directory, { recursive: true })) await chown(join(directory, entry), 0, 0);
  await chown(directory, 0, 0);
}
