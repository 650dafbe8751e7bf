/** Runs the API as a process, and with a Temporal server that becomes unreachable. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { freePorts } from '../../src/local/free-ports.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { runCli, spawnCli } from '../cli/run-cli.ts';
import { connectTo } from '../support/harness-client.ts';
import { httpCall } from '../support/http-call.ts';
import { type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { figureOf, samplesIn } from '../telemetry/prometheus-text.ts';
import { type ApiCall, AUDIENCE, ISSUER, KEY_SET, startTestApi, token } from './fixtures.ts';
import { until } from './until.ts';

let harness: Harness;

before(async () => {
  harness = await startHarness();
  // The worker has created the ledger.
  await harness.stopWorker();
});
after(() => harness.close());

test('while Temporal is unreachable the API quickly answers 503 with Retry-After', async (t) => {
  const [host = '', port = ''] = harness.config.temporal.address.split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  t.after(() => proxy.close());
  const address = `127.0.0.1:${proxy.port}`;
  const journeys = await connectTo(harness, {
    address,
    dataConverter: {},
    queryTimeoutMs: 3_000,
  });
  const cutOff = await startTestApi(harness, { journeys });
  t.after(async () => {
    await cutOff.close();
    await journeys.close();
  });
  proxy.cut();
  const calls: [path: string, call?: ApiCall][] = [
    ['/v1/journeys', { body: journeyInput() }],
    ['/v1/journeys'],
    ['/v1/journeys/T-1'],
    ['/v1/journeys/T-1/result'],
  ];
  const answers = await Promise.all(calls.map(([path, asked]) => cutOff.call(path, asked)));
  for (const { status, json, headers, text } of answers) {
    assert.deepEqual([status, json.code], [503, 'temporalUnavailable'], text);
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  const ready = await cutOff.call('/readyz');
  assert.deepEqual([ready.status, ready.json.checks.temporal.ok], [503, false]);
  await cutOff.expect(200, '/healthz');
});

test('the command prints its address in one line, serves a journey, and stops at SIGTERM', async (t) => {
  const { config, dataDir } = harness;
  const [metricsPort = 0] = await freePorts(1);
  const keySet = join(dataDir, 'api-keys.json');
  await writeFile(keySet, JSON.stringify(KEY_SET));
  const env = {
    TEMPORAL_ADDRESS: config.temporal.address,
    TEMPORAL_NAMESPACE: config.temporal.namespace,
    TASK_QUEUE: config.taskQueue,
    PAYLOAD_ENCRYPTION: 'off',
    LEDGER_URL: config.ledger.url,
    KEY_RING_FILE: config.keyRingFile,
    API_JWKS_FILE: keySet,
    API_JWT_ISSUER: ISSUER,
    API_JWT_AUDIENCE: AUDIENCE,
    API_AUDIT_FILE: join(dataDir, 'api-audit.log'),
    METRICS_ADDRESS: String(metricsPort),
  };
  const child = spawnCli(['api', '--port', '0'], { env, cwd: dataDir });
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const said = text(child.stderr as Readable);
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  const { url, environment } = JSON.parse(line);
  assert.equal(environment, 'sandbox');
  const started = await httpCall(`${url}/v1/journeys`, { token: await token(), body: journeyInput() });
  assert.equal(started.status, 201, started.text);
  const asked = { service: 'api', operation: 'POST /v1/journeys', status: '201' };
  // The request is counted once its answer is out.
  const samples = await until(async () => {
    const read = samplesIn(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
    return figureOf(read, METRICS.httpRequests.name, asked) === undefined ? undefined : read;
  });
  assert.equal(figureOf(samples, METRICS.httpRequests.name, asked), 1);
  assert.equal(figureOf(samples, `${METRICS.httpSeconds.name}_bucket`, { operation: asked.operation, le: '+Inf' }), 1);
  assert.ok((figureOf(samples, METRICS.started.name) ?? 0) > 1_700_000_000);
  child.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
  assert.match(await said, /PORTFOLIO_DIR is not set/);
  const audited = (await readFile(env.API_AUDIT_FILE, 'utf8'))
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one).audit);
  assert.deepEqual(
    audited.map(({ route, status, subject }) => [route, status, subject]),
    [['POST /v1/journeys', 201, 'platform-7']],
  );
});

test('the command refuses a configuration without a key set with exit code 2', async () => {
  const { code, stderr } = await runCli(['api'], { cwd: harness.dataDir });
  assert.equal(code, 2);
  assert.match(stderr, /"API_JWKS_URL"/);
});
