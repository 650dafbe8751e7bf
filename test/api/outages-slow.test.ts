/** Callers get no answer or a late one: the API is killed or drained, or the ledger or the workers are unreachable. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnCli } from '../cli/run-cli.ts';
import { connectTo } from '../support/harness-client.ts';
import { httpCall } from '../support/http-call.ts';
import { consentMessage, journeyInput } from '../support/journey-harness.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import {
  type ApiCall,
  AUDIENCE,
  ISSUER,
  KEY_SET,
  startCutOffApi,
  startTestApi,
  type TestApi,
  token,
  useApi,
} from './fixtures.ts';
import { until } from './until.ts';

const { harness, api } = useApi();

/** Starts a journey that has its first report and waits for more messages. */
async function waitingJourney() {
  const input = journeyInput({ stages: ['PREQUAL'], repeatsOpenFor: 'PT1H' });
  await api.expect(201, '/v1/journeys', { body: input });
  const path = `/v1/journeys/${input.journeyId}`;
  await api.until(path, (json) => json.stages?.[0]?.state === 'record');
  return { ...input, path };
}

describe('the API without the ledger', () => {
  const trace = 'PQ'.padEnd(28, 'A');
  const reason = { reason: 'a test' };
  const many = {
    ...{ decisionId: 'D-1', action: 'abandon', providerSaid: 'notAsked', ...reason },
    inquiries: [{ runKey: 'U-1', customerTraceNumber: trace, attempt: 1 }],
  };
  const needed: [path: string, call?: ApiCall][] = [
    ['/v1/holds'],
    ['/v1/holds/counts'],
    ['/v1/inquiries'],
    ['/v1/unmatched-consents'],
    ['/v1/unmatched-consents/seen', { body: { runKey: 'U-1', ...reason } }],
    [`/v1/inquiries/${trace}/seen`, { body: { decisionId: 'D-1', ...reason } }],
    [`/v1/inquiries/${trace}/attempts/1/refusal`],
    ['/v1/runs/U-1/reports/PREQUAL'],
    ['/v1/runs/U-1/references'],
    ['/v1/journeys/U-1/changes'],
    ['/v1/runs/pull:U-1/reports/CR'],
    ['/v1/runs/share:U-1/references'],
    ['/v1/runs/portfolio:U-1%2FA-1/reports/ACCTRVW'],
    ['/v1/runs/U-1/decisions', { body: { ...many, inquiries: undefined, customerTraceNumber: trace, attempt: 1 } }],
  ];

  test('each resource that needs the ledger answers 503 ledgerUnavailable, and the other resources answer normally', async (t) => {
    const cutOff = await startCutOffApi(t, harness);
    for (const [path, call] of needed) {
      const { status, json, text, headers } = await cutOff.call(path, call);
      assert.deepEqual([status, json.code], [503, 'ledgerUnavailable'], `${path} ${text}`);
      assert.ok(Number(headers.get('retry-after')) > 0);
    }
    // A decision about many inquiries reports the outage for each inquiry.
    for (const body of [many, { ...many, preview: true }]) {
      const { status, json, text } = await cutOff.call('/v1/decisions', { body });
      assert.deepEqual([status, json.inquiries[0].code], [200, 'ledgerUnavailable'], text);
    }
    for (const path of ['/v1/journeys', '/v1/pulls', '/v1/shares', '/v1/portfolio-reviews']) {
      await cutOff.expect(200, path);
    }
    assert.deepEqual(cutOff.unexpected, []);
  });
});

describe('an API that stops', () => {
  /** Asserts that a new connection, or a request on an existing connection, is refused. */
  async function assertTakesNoMore(at: TestApi): Promise<void> {
    const answer = await at.call('/v1/journeys').catch(() => undefined);
    if (!answer) return;
    assert.deepEqual([answer.status, answer.json?.code], [503, 'stopping'], answer.text);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }

  test('answers a message that waits for a worker and a long poll before it closes', async () => {
    const stopping = await startTestApi(harness);
    const { path } = await waitingJourney();
    const status = await stopping.call(path);
    const headers = { 'if-none-match': status.headers.get('etag') ?? '', prefer: 'wait=50' };
    const polled = stopping.call(path, { headers });
    await harness.stopWorker();
    // No worker has seen this run yet. A run that a worker has cached waits for that worker's own queue first.
    const untouched = journeyInput();
    await api.expect(201, '/v1/journeys', { body: untouched });
    const told = stopping.call(`/v1/journeys/${untouched.journeyId}/withdrawal`, { body: { reason: 'a test' } });
    await sleep(1_000);
    const closed = stopping.close();
    await assertTakesNoMore(stopping);
    await harness.startWorker();
    const [poll, message] = await Promise.all([polled, told]);
    await closed;
    assert.deepEqual([message.status, message.json.duplicate], [200, false], message.text);
    assert.ok([200, 304].includes(poll.status), poll.text);
    assert.deepEqual(stopping.unexpected, []);
  });

  test('answers a start that Temporal has not acknowledged yet before it closes', async (t) => {
    const [host = '', port = ''] = harness.config.temporal.address.split(':');
    const proxy = await startTcpProxy({ host, port: Number(port) });
    const journeys = await connectTo(harness, { address: `127.0.0.1:${proxy.port}`, dataConverter: {} });
    t.after(async () => {
      await journeys.close();
      await proxy.close();
    });
    const stopping = await startTestApi(harness, { journeys });
    proxy.slowDown(1_500);
    const input = journeyInput();
    const started = stopping.call('/v1/journeys', { body: input });
    await sleep(1_000);
    const closed = stopping.close();
    await assertTakesNoMore(stopping);
    const { status, json, text } = await started;
    await closed;
    assert.deepEqual([status, json.isNew], [201, true], text);
    assert.equal((await api.call('/v1/journeys', { body: input })).json.isNew, false);
  });
});

describe('the API is killed after Temporal has received the message and before the API has answered', () => {
  const key = 'api-keys.json';

  async function startProcess(t: TestContext, address: string): Promise<{ child: ChildProcess; url: string }> {
    const { config, dataDir } = harness;
    await writeFile(join(dataDir, key), JSON.stringify(KEY_SET));
    const env = {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: config.temporal.namespace,
      TASK_QUEUE: config.taskQueue,
      PAYLOAD_ENCRYPTION: 'off',
      LEDGER_URL: config.ledger.url,
      KEY_RING_FILE: config.keyRingFile,
      API_JWKS_FILE: join(dataDir, key),
      API_JWT_ISSUER: ISSUER,
      API_JWT_AUDIENCE: AUDIENCE,
    };
    const child = spawnCli(['api', '--port', '0'], { env, cwd: dataDir });
    t.after(() => child.kill('SIGKILL'));
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
    return { child, url: JSON.parse(line).url };
  }

  test('a repeated start finds the first run, and a withdrawal has ended its run', async (t) => {
    const [host = '', port = ''] = harness.config.temporal.address.split(':');
    const proxy = await startTcpProxy({ host, port: Number(port) });
    t.after(() => proxy.close());
    const bearer = await token();
    const input = journeyInput({ stages: ['PREQUAL'], repeatsOpenFor: 'PT1H' });
    const path = `/v1/journeys/${input.journeyId}`;
    const run = harness.client.workflow.getHandle(`journey-${input.journeyId}`);
    const isThere = () =>
      run.describe().then(
        () => true as const,
        () => undefined,
      );
    const isAccepted = async () => {
      const { events } = await run.fetchHistory();
      const accepted = events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
      return accepted ? (true as const) : undefined;
    };
    for (const [where, body, hasArrived] of [
      ['/v1/journeys', input, isThere],
      [`${path}/withdrawal`, { reason: 'a test' }, isAccepted],
    ] as const) {
      const { child, url } = await startProcess(t, `127.0.0.1:${proxy.port}`);
      const exit = once(child, 'exit');
      // Each direction has this delay, so Temporal's answer is on its way when the process dies.
      proxy.slowDown(1_000);
      const asked = httpCall(`${url}${where}`, { token: bearer, body });
      const lost = assert.rejects(asked);
      await until(hasArrived);
      child.kill('SIGKILL');
      await Promise.all([lost, exit]);
      proxy.heal();
      if (where === '/v1/journeys') {
        const again = await api.call(where, { body });
        assert.deepEqual([again.status, again.json.isNew], [200, false], again.text);
        await api.until(path, (json) => json.stages?.[0]?.state === 'record');
      }
    }
    // The withdrawal ends the run. A repeat is a duplicate, and another withdrawal differs.
    assert.equal((await run.result()).outcome, 'withdrawn');
    const again = await api.call(`${path}/withdrawal`, { token: bearer, body: { reason: 'a test' } });
    assert.deepEqual([again.status, again.json.duplicate], [200, true], again.text);
    assert.equal(
      (await api.expect(409, `${path}/withdrawal`, { token: bearer, body: { reason: 'another' } })).code,
      'differs',
    );
    const inquiries = await api.call(`/v1/inquiries?runKey=${input.journeyId}`);
    assert.equal(inquiries.json.data.length, 1);
  });
});

describe('the API without workers', () => {
  test('a consent is answered 202 pending, and counts once a worker records it', async () => {
    await harness.stopWorker();
    const consent = consentMessage(`T-${randomUUID()}`, { applicantId: '1A', decision: 'denied' });
    const pending = await api.call('/v1/consents', { body: consent });
    const { status, json, text } = pending;
    assert.deepEqual([status, json], [202, { answer: 'pending', duplicate: false, recorded: false }], text);
    await harness.startWorker();
    const again = await until(async () => {
      const answer = await api.call('/v1/consents', { body: consent });
      return answer.json.answer === 'pending' ? undefined : answer;
    });
    assert.deepEqual([again.status, again.json.answer, again.json.unmatched], [202, 'kept', 'journey'], again.text);
    assert.deepEqual(api.unexpected, []);
  });
});
