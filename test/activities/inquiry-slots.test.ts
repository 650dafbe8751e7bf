import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allotSlots, InquirySlots } from '../../src/activities/inquiry-slots.ts';
import { loadConfig } from '../../src/config/config.ts';

const SANDBOX = {
  GATEWAY_ENVIRONMENT: 'sandbox',
  GATEWAY_AUTH_URL: 'http://127.0.0.1:1',
  GATEWAY_BASE_URL: 'http://127.0.0.1:1',
};

function forWorkflowQueue(env: Record<string, string> = {}): number | undefined {
  return allotSlots(loadConfig({ ...SANDBOX, ...env })).get('default')?.forWorkflowQueue;
}

describe('slots for attempts in flight', () => {
  test('never exceed the connections, over both queues together', async () => {
    const permits = new InquirySlots(3, 2);
    const held = [permits.takeNow(), permits.takeNow(), await permits.take()];
    assert.ok(held.every((release) => release !== null));
    assert.equal(permits.takeNow(), null);
    const late = permits.take();
    held[0]?.();
    assert.notEqual(await late, null);
    assert.equal(permits.takeNow(), null);
  });

  test('are never all given to the workflow queue, which does not wait for one', () => {
    const permits = new InquirySlots(4, 2);
    const [first, second, third] = [permits.takeNow(), permits.takeNow(), permits.takeNow()];
    assert.ok(first && second);
    assert.equal(third, null);
    second();
    assert.notEqual(permits.takeNow(), null);
  });

  test('are awaited by the gateway queue for a second, and then by its next try', async () => {
    const permits = new InquirySlots(2, 1);
    const held = [permits.takeNow(), await permits.take()];
    assert.equal(await permits.take(), null);
    for (const release of held) release?.();
    assert.notEqual(await permits.take(), null);
    assert.notEqual(permits.takeNow(), null);
  });

  test('give the workflow queue at most half of the connections', () => {
    assert.equal(forWorkflowQueue({ GATEWAY_CONNECTIONS: '8' }), 4);
    assert.equal(forWorkflowQueue({ GATEWAY_CONNECTIONS: '100' }), 25);
    assert.equal(forWorkflowQueue({ GATEWAY_CONNECTIONS: '1' }), 0);
  });

  test('all go to the gateway queue if there is a rate limit, which only the server enforces across workers', () => {
    assert.equal(forWorkflowQueue({ GATEWAY_MAX_INQUIRIES_PER_SECOND: '20' }), 0);
  });
});
