/** Schemathesis tests the API from its OpenAPI document alone. A worker runs, so that accepted requests are executed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startTemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { startHarness } from '../support/journey-harness.ts';
import { startPostgres } from '../support/postgres.ts';
import { pythonPackages } from '../support/python.ts';
import { startTestApi, token } from './fixtures.ts';

const SCHEMATHESIS = 'schemathesis==4.32.5';

const document = fileURLToPath(new URL('../../schemas/api.openapi.json', import.meta.url));
const hooks = fileURLToPath(new URL('schemathesis_hooks.py', import.meta.url));

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
  'nothing_repeated',
  'problem_document',
];

/** A read waits 20 s for a worker here (`startTestApi`), and then answers 503, which is documented. */
const LONGEST_READ_SECONDS = 30;

/** Each engine has its own seed, so that the runs send different requests. */
for (const [engine, seed] of [
  ['SQLite', '34101'],
  ['PostgreSQL', '34102'],
] as const) {
  test(`schemathesis finds only documented answers, and no answer that repeats a request’s values (${engine})`, {
    timeout: 280_000,
  }, async (t) => {
    const packages = await pythonPackages(SCHEMATHESIS);
    const postgres = engine === 'PostgreSQL' ? await startPostgres() : undefined;
    t.after(() => postgres?.stop());
    // The API lists all runs of its namespace, and the workers of other tests' runs may be gone.
    const server = await startTemporalServer({ headless: true });
    server.unref();
    const env: Record<string, string> = postgres ? { LEDGER_URL: await postgres.url('schemathesis') } : {};
    const harness = await startHarness({ server, env });
    t.after(() => harness.close().finally(() => server.stop()));
    const api = await startTestApi(harness, {
      limits: { burst: 1e9, perSecond: 1e9 },
      portfolioDirectory: harness.dataDir,
    });
    t.after(() => api.close());
    const caller = await token({ expiresAt: Math.floor(Date.now() / 1000) + 600 });
    const bounds = ['--phases', 'examples,coverage,fuzzing', '--max-examples', '8', '--seed', seed, '--max-time', '60'];
    const asked = [
      '--url',
      api.url,
      '--request-timeout',
      String(LONGEST_READ_SECONDS),
      '--checks',
      CHECKS.join(','),
      ...bounds,
      '--header',
      `Authorization: Bearer ${caller}`,
    ];
    const run = promisify(execFile)(
      'python3',
      // One worker: CPython 3.11 fails when two threads parse at once.
      [
        '-m',
        'schemathesis.cli',
        'run',
        document,
        ...asked,
        '--workers',
        '1',
        '--no-color',
        '--suppress-health-check',
        'all',
      ],
      {
        cwd: harness.dataDir,
        env: { ...process.env, PYTHONPATH: packages, SCHEMATHESIS_HOOKS: hooks },
        maxBuffer: 16 * 1024 * 1024,
      },
    );
    const { stdout } = await run.catch((error: { stdout?: string; stderr?: string }) => {
      assert.fail(`${error.stdout ?? ''}\n${error.stderr ?? ''}`.slice(-12_000));
    });
    t.diagnostic(stdout.trim().split('\n').slice(-3).join(' '));
    assert.deepEqual(api.unexpected, []);
    assert.ok(!api.lines.join('').includes('QZ SENTINEL QZ'));
  });
}
