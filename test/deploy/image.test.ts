import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from './checks.ts';

const run = promisify(execFile);
/** The base image as every stage names it. */
const BASE = ['$', '{NODE_IMAGE}'].join('');
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
  scripts: Record<string, string>;
};

test('the image is built from existing files that .dockerignore allows, on the Node version of the tests', () => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const allowed = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) => from.split(' '));
  assert.ok(copied.length > 8);
  for (const path of copied) {
    assert.ok(existsSync(join(ROOT, path)), path);
    assert.ok(allowed.includes(path), `.dockerignore keeps ${path} out`);
  }
  for (const path of allowed) assert.ok(copied.includes(path), `${path} is let in and not copied`);
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  // All stages have the same base.
  assert.deepEqual([...new Set(images)], [BASE]);
  const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
  const [tag, digest = ''] = base?.split('@') ?? [];
  assert.equal(tag, `node:${packageJson.devDependencies.node}-bookworm-slim`);
  assert.match(digest, /^sha256:[0-9a-f]{64}$/);
  for (const [, script = ''] of dockerfile.matchAll(/npm run (\S+)/g)) assert.ok(script in packageJson.scripts, script);
});

test('the final image runs as an unprivileged user, without development packages or sources', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  assert.match(last, /^USER 1000:1000$/m);
  assert.doesNotMatch(last, /COPY.* src|npm /);
  assert.match(dockerfile, /npm ci --omit=dev/);
  assert.match(dockerfile, /node scripts\/prune-platforms\.ts node_modules 250 && /);
  for (const what of ['title', 'version', 'revision', 'base.name']) {
    assert.ok(last.includes(`org.opencontainers.image.${what}=`), what);
  }
  for (const [, path = ''] of last.matchAll(/"\/app\/([\w./-]+)"/g)) assert.ok(existsSync(join(ROOT, path)), path);
});

test('the exit code of the health check shows whether an address answers with success', async (t) => {
  let status = 200;
  const server = createServer((_request, response) => response.writeHead(status).end());
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
  const check = () => run(process.execPath, [join(ROOT, 'deploy/health-check.js'), url], { timeout: 20_000 });
  await check();
  status = 503;
  await assert.rejects(check(), { code: 1 });
  server.close();
  server.closeAllConnections();
  await assert.rejects(check(), { code: 1 });
});

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'credit-journey-image-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('a key ring that a group may read is copied for its owner only, and again when it changes', async (t) => {
  const path = await directory(t);
  const [from, to] = [join(path, 'mounted.json'), join(path, 'keys.json')];
  await writeFile(from, 'one', { mode: 0o440 });
  const child = spawn('sh', [join(ROOT, 'deploy/follow-key-ring.sh'), from, to], { stdio: 'inherit' });
  t.after(() => child.kill('SIGKILL'));
  await untilContent(to, 'one');
  assert.equal((await stat(to)).mode & 0o777, 0o600);
  await writeFile(`${from}.new`, 'two');
  await rename(`${from}.new`, from);
  await untilContent(to, 'two');
  assert.equal((await stat(to)).mode & 0o777, 0o600);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('copying once fails if the source is missing', async (t) => {
  const path = await directory(t);
  const once = ['--once', join(path, 'missing.json'), join(path, 'keys.json')];
  await assert.rejects(run('sh', [join(ROOT, 'deploy/follow-key-ring.sh'), ...once], { timeout: 20_000 }));
});

async function untilContent(file: string, content: string): Promise<void> {
  const endsAt = performance.now() + 30_000;
  while ((await readFile(file, 'utf8').catch(() => '')) !== content) {
    assert.ok(performance.now() < endsAt, `${file} never held ${content}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
