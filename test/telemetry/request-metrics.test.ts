/** What an HTTP service shows of its requests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { HTTP_METRICS, RequestMetrics, serveMetrics } from '../../src/http/request-metrics.ts';
import { openService } from '../../src/http/service.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { figureOf, samplesIn } from './prometheus-text.ts';

const SLOTS = { running: 4, runningPerCaller: 4, waiting: 4, waitingPerCaller: 4, waitMs: 100 };
const LIMITS = {
  ...{ bodyBytes: 1_024, burst: 10, perSecond: 10, requestTimeoutMs: 5_000, bodyTimeoutMs: 5_000 },
  ...{ work: SLOTS, bodies: SLOTS },
};

const policy = () => ({ verifyCaller: () => assert.fail(), permit: () => assert.fail() });
const write = ({ message }: Error, _request: unknown, reply: FastifyReply) => void reply.send({ message });

test('requests are counted by operation and status, and nothing of a caller is shown', async (t) => {
  const [port = 0] = await freePorts(1);
  const shown = (await serveMetrics({ host: '127.0.0.1', port }, 'api')) ?? assert.fail();
  t.after(() => shown.close());
  const { app } = openService({ metrics: shown.metrics }, { limits: LIMITS, policy, write, server: {} });
  t.after(() => app.close());
  const config = { route: 'GET /v1/journeys/{journeyId}' };
  app.get('/v1/journeys/:id', { config }, async (request, reply) => {
    const { id } = request.params as { id: string };
    return reply.code(id === 'LOAN-2' ? 503 : 200).send({});
  });
  for (const path of ['LOAN-1', 'LOAN-1', 'LOAN-2']) await app.inject(`/v1/journeys/${path}`);
  await app.inject('/nowhere/LOAN-3');
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const samples = samplesIn(text);
  const operation = config.route;
  const { requests, seconds } = HTTP_METRICS;
  assert.equal(figureOf(samples, requests, { service: 'api', operation, status: '200' }), 2);
  assert.equal(figureOf(samples, requests, { service: 'api', operation, status: '503' }), 1);
  assert.equal(figureOf(samples, requests, { operation: 'other', status: '404' }), 1);
  assert.equal(figureOf(samples, `${seconds}_count`, { operation }), 3);
  assert.equal(figureOf(samples, `${seconds}_bucket`, { operation, le: '+Inf' }), 3);
  assert.ok((figureOf(samples, 'credit_journey_started_timestamp_seconds') ?? 0) > 1_700_000_000);
  assert.doesNotMatch(text, /LOAN|nowhere/);
  assert.equal((await fetch(`http://127.0.0.1:${port}/else`)).status, 404);
});

test('buckets count what took no longer', () => {
  const metrics = new RequestMetrics('codec-server');
  for (const ms of [1, 90, 20_000]) metrics.count('/decode', 200, ms);
  const samples = samplesIn(metrics.text());
  const bucket = (le: string) => figureOf(samples, `${HTTP_METRICS.seconds}_bucket`, { le });
  assert.deepEqual([bucket('0.005'), bucket('0.1'), bucket('15'), bucket('30'), bucket('+Inf')], [1, 2, 2, 3, 3]);
  assert.equal(figureOf(samples, `${HTTP_METRICS.seconds}_sum`), 20.091);
});

test('without an address nothing is counted, and an address that is taken is an error that names the variable', async (t) => {
  assert.equal(await serveMetrics(undefined, 'api'), undefined);
  const [port = 0] = await freePorts(1);
  const first = await serveMetrics({ host: '127.0.0.1', port }, 'api');
  t.after(() => first?.close());
  await assert.rejects(serveMetrics({ host: '127.0.0.1', port }, 'api'), /METRICS_ADDRESS/);
});

test('their names are documented', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'metrics.md'), 'utf8');
  for (const name of Object.values(HTTP_METRICS)) assert.ok(page.includes(`| \`${name}\` |`), name);
});
