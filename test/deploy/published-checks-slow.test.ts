import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { publishedChecks, ROOT } from './checks.ts';
import { isDefinedElsewhere, kustomizedText, OVERLAYS } from './kustomized.ts';

let checks: Awaited<ReturnType<typeof publishedChecks>>;
before(async () => {
  checks = await publishedChecks();
});

/** A copy of the file with one change, under the same name in another directory. */
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

test('docker-compose.yml matches the compose specification, and a misspelt key is found', async (t) => {
  await checks.compose('docker-compose.yml');
  const wrong = await doctored(t, 'docker-compose.yml', (text) => text.replace('stop_grace_period', 'stop_grace'));
  await assert.rejects(checks.compose(wrong));
});

test('the Kubernetes manifests match the API, and a misspelt key is found', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-deploy-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const overlay of OVERLAYS) {
    const documents = (await kustomizedText(t, overlay)).split(/^---$/m);
    // Resources of other projects have their own definitions: kubernetes-slow.test.ts.
    const ours = documents.filter((text) => !isDefinedElsewhere(/^kind: (\w+)$/m.exec(text)?.[1] ?? ''));
    const file = join(directory, `${overlay}.yaml`);
    await writeFile(file, ours.join('---'));
    assert.match(await checks.kubernetes(file), /credit-journey-setup/);
    await writeFile(file, ours.join('---').replace('readinessProbe', 'readynessProbe'));
    await assert.rejects(checks.kubernetes(file));
  }
});

test('the Dockerfile passes hadolint, which finds a shell around the program', async (t) => {
  assert.equal(await checks.dockerfile('Dockerfile'), '');
  const wrong = await doctored(t, 'Dockerfile', (text) => text.replace(/^CMD \[.*\]$/m, 'CMD worker'));
  await assert.rejects(checks.dockerfile(wrong));
});
