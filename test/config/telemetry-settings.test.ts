/** Tests the addresses of metrics, health and traces, and which of them each environment refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadClientSettings } from '../../src/config/client.ts';
import { loadTraceEndpoint, readTelemetry } from '../../src/config/config.ts';
import { EnvironmentReader } from '../../src/config/environment.ts';
import type { Environment } from '../../src/model/products.ts';

function read(env: NodeJS.ProcessEnv, environment: Environment = 'sandbox') {
  const reader = new EnvironmentReader({ ...env, GATEWAY_ENVIRONMENT: environment });
  const settings = readTelemetry(reader);
  return { settings, wrong: reader.problems.map(({ variable }) => variable) };
}

test('telemetry is off by default', () => {
  const off = { metricsAddress: undefined, healthAddress: undefined, traceEndpoint: undefined };
  assert.deepEqual(read({}), { settings: { metricsRefreshMs: 60_000, ...off }, wrong: [] });
});

const ADDRESSES: [string, { host: string; port: number } | undefined][] = [
  ['9464', { host: '127.0.0.1', port: 9464 }],
  ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
  ['localhost:9464', { host: '127.0.0.1', port: 9464 }],
  ['[::]:9464', { host: '::', port: 9464 }],
  ['0', undefined],
  ['70000', undefined],
  ['worker:9464', undefined],
  ['::1:9464', undefined],
  ['http://127.0.0.1:9464', undefined],
];

for (const [value, address] of ADDRESSES) {
  test(`${value} ${address ? `listens at ${address.host}, port ${address.port}` : 'is refused as a listen address'}`, () => {
    for (const [variable, field] of [
      ['METRICS_ADDRESS', 'metricsAddress'],
      ['HEALTH_ADDRESS', 'healthAddress'],
    ] as const) {
      const { settings, wrong } = read({ [variable]: value });
      assert.deepEqual(settings[field], address);
      assert.deepEqual(wrong, address ? [] : [variable]);
    }
  });
}

test('metrics and health must use different ports', () => {
  assert.deepEqual(read({ METRICS_ADDRESS: '9464', HEALTH_ADDRESS: '0.0.0.0:9464' }).wrong, ['HEALTH_ADDRESS']);
});

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const ENDPOINTS: [string, Environment, boolean][] = [
  ['http://collector:4318', 'sandbox', true],
  ['http://collector:4318', 'uat', false],
  ['https://collector.example.com', 'production', true],
  ['http://127.0.0.1:4318', 'production', true],
  ['http://collector.example.com', 'production', false],
  ['https://user:secret@collector.example.com', 'sandbox', false],
  ['collector:4318', 'sandbox', false],
];

for (const [endpoint, environment, isTaken] of ENDPOINTS) {
  test(`traces to ${endpoint} are ${isTaken ? 'allowed' : 'refused'} in ${environment}`, () => {
    assert.deepEqual(read({ [ENDPOINT]: endpoint }, environment).wrong, isTaken ? [] : [ENDPOINT]);
  });
}

test('a client traces if any endpoint is set, since its program sends the spans', () => {
  const env = { PAYLOAD_ENCRYPTION: 'off' };
  assert.equal(loadClientSettings(env).traces, false);
  assert.equal(loadClientSettings({ ...env, [ENDPOINT]: 'grpc://collector' }).traces, true);
  assert.equal(loadTraceEndpoint({ [ENDPOINT]: 'http://127.0.0.1:4318' }), 'http://127.0.0.1:4318');
  assert.throws(() => loadTraceEndpoint({ [ENDPOINT]: 'grpc://collector' }), /OTEL_EXPORTER_OTLP_ENDPOINT/);
});
