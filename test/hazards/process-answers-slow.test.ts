/** Answers that do not reach Temporal or their own journey, or that never arrive. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { readSealedReport } from '../ledger/fixtures.ts';
import { statusOf, update } from '../support/journey-harness.ts';
import {
  assertOwnRecord,
  assertSent,
  prequalOnly,
  scheduled,
  startWorld,
  until,
  untilHeld,
} from '../support/process-world.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';

const HTTP_TIMEOUT_MS = Number(SHORT_TIMEOUTS.GATEWAY_HEADERS_TIMEOUT_MS);

/** A gateway in front of the gateway, which gives each of two requests the other's answer. */
async function swappingGateway(t: TestContext, behind: string): Promise<string> {
  const waiting: { answer: Promise<Response>; give(answer: Response): Promise<void> }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization = '', 'content-type': contentType = '' } = request.headers;
    const answer = fetch(new URL(request.url ?? '/', behind), {
      method: 'POST',
      headers: { authorization, 'content-type': contentType },
      body: Buffer.concat(chunks),
    });
    waiting.push({
      answer,
      async give(other) {
        response.writeHead(other.status, { 'content-type': 'application/json' });
        response.end(await other.text());
      },
    });
    const [first, second] = waiting;
    if (!first || !second) return;
    await first.give(await second.answer);
    await second.give(await first.answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('an answer', { concurrency: 4 }, () => {
  test('that is lost on its way to Temporal is read from the ledger or by a new workflow task, without a request', async (t) => {
    const world = await startWorld(t);
    const worker = await world.startWorker();
    for (const [what, point, answer, cost] of [
      ['a codec fails once on the result', 'encodeResult', 'fail', { lookUps: 1, failedTasks: 0 }],
      ['the result is refused for its size', 'encodeResult', 'enlarge', { lookUps: 1, failedTasks: 0 }],
      ['a codec fails once where the run reads it', 'decodeResult', 'fail', { lookUps: 0, failedTasks: 1 }],
    ] as const) {
      await t.test(what, async () => {
        worker.once(point, answer);
        const input = prequalOnly();
        const handle = await world.start(input);
        const result = await assertOwnRecord(world, handle);
        assert.equal(result.stages[0]?.attempts, 1);
        await assertSent(world, input.journeyId, { received: 1, posted: 1 });
        const { events } = await handle.fetchHistory();
        const failedTasks = events?.filter((event) => event.workflowTaskFailedEventAttributes).length;
        const lookUps = (await scheduled(handle, 'lookUpInquiry')) + (await scheduled(handle, 'closeAttempt'));
        assert.deepEqual({ lookUps, failedTasks }, cost);
      });
    }
  });

  test('that never arrives leaves the requests behind it unclaimed, and each of them is sent once', async (t) => {
    const world = await startWorld(t);
    await world.startWorker({ GATEWAY_CONNECTIONS: '1' });
    // Never answered; the HTTP time-out frees the connection.
    const stuck = prequalOnly('4008');
    const stuckHandle = await world.start(stuck);
    await until('the first is at the gateway', async () => (await world.posted(stuck.journeyId)).length === 1);
    const [stuckInquiry] = await world.ledger.inquiriesOf(stuck.journeyId);
    const stuckSince = Date.parse(stuckInquiry?.attempts[0]?.claimedAt ?? '');
    const behind = [prequalOnly('4011'), prequalOnly(), prequalOnly()];
    const handles = await Promise.all(behind.map(world.start));
    await untilHeld(stuckHandle);
    for (const handle of handles) {
      const result = await assertOwnRecord(world, handle);
      assert.equal(result.stages[0]?.attempts, 1);
      await assertSent(world, result.journeyId, { received: 1, posted: 1 });
      const [inquiry] = await world.ledger.inquiriesOf(result.journeyId);
      const claimedAt = Date.parse(inquiry?.attempts[0]?.claimedAt ?? '');
      assert.ok(claimedAt - stuckSince >= HTTP_TIMEOUT_MS, 'claimed when the connection was free');
    }
    await assertSent(world, stuck.journeyId, { received: 1, posted: 1 });
  });

  test('that is swapped with another one on its way reaches neither journey', async (t) => {
    const world = await startWorld(t);
    await world.startWorker({ GATEWAY_BASE_URL: await swappingGateway(t, world.sandboxUrl) });
    const inputs = [prequalOnly(), prequalOnly()];
    const handles = await Promise.all(inputs.map(world.start));
    for (const [index, handle] of handles.entries()) {
      const hold = await untilHeld(handle, 'UnexpectedResponse');
      const journeyId = inputs[index]?.journeyId ?? '';
      await assertSent(world, journeyId, { received: 1, posted: 1 });
      assert.equal((await statusOf(handle)).stages[0]?.reportReferenceNumber, undefined);
      await update(handle, 'resolveInquiry', {
        journeyId,
        decisionId: 'D1',
        customerTraceNumber: hold.customerTraceNumber,
        attempt: 1,
        action: 'abandon',
        by: 'operator',
        reason: 'an answer for somebody else',
        providerSaid: 'posted',
      });
      const { stages } = await handle.result();
      assert.equal(stages[0]?.state, 'abandoned');
      assert.equal(stages[0]?.reference, undefined);
      assert.equal(await readSealedReport(world.ledger, journeyId, 'PREQUAL'), null);
      await assertSent(world, journeyId, { received: 1, posted: 1 });
    }
  });
});
