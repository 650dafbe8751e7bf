import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { publishedChecks, ROOT } from './checks.ts';

let checks: Awaited<ReturnType<typeof publishedChecks>>;
before(async () => {
  checks = await publishedChecks();
});

/** The file with one thing in it changed, under the same name elsewhere. */
async function doctored(t: TestContext, file: string, change: (text: string) => string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-deploy-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const text = await readFile(join(ROOT, file), 'utf8');
  const changed = change(text);
  assert.notEqual(changed, text);
  const copy = join(directory, file.replaceAll('/', '-'));
  await writeFile(copy, changed);
  return copy;
}

test('docker-compose.yml keeps to the compose specification, and a misspelt key would be noticed', async (t) => {
  await checks.compose('docker-compose.yml');
  const wrong = await doctored(t, 'docker-compose.yml', (text) => text.replace('stop_grace_period', 'stop_grace'));
  await assert.rejects(checks.compose(wrong));
});

test('the Kubernetes manifests keep to the API, and a misspelt key would be noticed', async (t) => {
  const files = (await readdir(join(ROOT, 'deploy/kubernetes'))).map((file) => `deploy/kubernetes/${file}`);
  assert.match(await checks.kubernetes(...files), /credit-journey-worker/);
  const wrong = await doctored(t, 'deploy/kubernetes/worker.yaml', (text) =>
    text.replace('readinessProbe', 'readynessProbe'),
  );
  await assert.rejects(checks.kubernetes(wrong));
});

test('the Dockerfile passes hadolint, which would notice an image without a tag', async (t) => {
  assert.equal(await checks.dockerfile('Dockerfile'), '');
  const wrong = await doctored(t, 'Dockerfile', (text) => text.replaceAll(/FROM node:\S+/g, 'FROM node'));
  await assert.rejects(checks.dockerfile(wrong));
});
