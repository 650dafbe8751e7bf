import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonPackages } from '../support/python.ts';
import { clear, directory, startServer, token } from './fixtures.ts';

const SCHEMATHESIS = 'schemathesis==4.32.5';

const file = fileURLToPath(new URL('../../schemas/codec-server.openapi.json', import.meta.url));
const document: { paths: Record<string, Record<string, object>> } = JSON.parse(readFileSync(file, 'utf8'));

test('each path of the OpenAPI document exists, and each but the health check needs a token', async (t) => {
  const server = await startServer(t);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of Object.keys(operations)) {
      const body = method === 'post' ? { payloads: [clear(1)] } : undefined;
      const { status } = await server.call(path, { method: method.toUpperCase(), body });
      assert.equal(status, path === '/healthz' ? 200 : 401, path);
    }
  }
});

test('schemathesis finds no answer that differs from the OpenAPI document', {
  timeout: 280_000,
}, async (t) => {
  const packages = await pythonPackages(SCHEMATHESIS);
  const server = await startServer(t);
  const caller = await token({ roles: ['encode', 'decode'] });
  const checks = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';
  const command = ['-m', 'schemathesis.cli', 'run', file, '--url', server.url, '--checks', checks];
  // One worker: CPython 3.11 fails when two threads parse at once.
  const bounds = ['--phases', 'examples,coverage,fuzzing', '--max-examples', '6', '--seed', '1', '--workers', '1'];
  const run = promisify(execFile)(
    'python3',
    [
      ...command,
      ...bounds,
      '--header',
      `Authorization: Bearer ${caller}`,
      '--no-color',
      '--suppress-health-check',
      'all',
    ],
    { cwd: directory, env: { ...process.env, PYTHONPATH: packages }, maxBuffer: 16 * 1024 * 1024 },
  );
  const { stdout } = await run.catch((error: { stdout?: string; stderr?: string }) => {
    assert.fail(`${error.stdout ?? ''}\n${error.stderr ?? ''}`.slice(-6_000));
  });
  t.diagnostic(stdout.trim().split('\n').slice(-3).join(' '));
  assert.deepEqual(server.unexpected, []);
});
