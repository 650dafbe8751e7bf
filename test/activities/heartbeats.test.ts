import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { SubmitInquiryArgs } from '../../src/activities/contract.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { addHeartbeats } from '../../src/activities/index.ts';
import { InquirySlots } from '../../src/activities/inquiry-slots.ts';
import { createSubmitInquiry } from '../../src/activities/submit-inquiry.ts';

function environment(heartbeatTimeoutMs?: number) {
  const env = new MockActivityEnvironment(heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs });
  const beats: number[] = [];
  env.on('heartbeat', () => beats.push(performance.now()));
  return { env, beats };
}

test('an activity sends heartbeats until it ends, also if it fails', async () => {
  const { env, beats } = environment(80);
  const { slow, failing } = addHeartbeats({
    slow: async (text: string) => {
      await delay(200);
      return text;
    },
    failing: async () => {
      await delay(60);
      throw new Error('as it should');
    },
  });
  assert.equal(await env.run(slow, 'done'), 'done');
  assert.ok(beats.length >= 3, `${beats.length} heartbeats in ten quarters of its time`);
  await assert.rejects(env.run(failing), /as it should/);
  const { length } = beats;
  await delay(100);
  assert.equal(beats.length, length, 'none after its end');
});

test('an activity that is short or has no heartbeat time-out sends no heartbeats', async () => {
  const short = environment(10_000);
  const other = environment();
  const { work } = addHeartbeats({ work: () => delay(60) });
  await short.env.run(work);
  await other.env.run(work);
  assert.deepEqual([...short.beats, ...other.beats], []);
});

test('an attempt sends heartbeats while it waits for a slot', async () => {
  const { env, beats } = environment(500);
  const slots = new Map([['default', new InquirySlots(0, 0)]]);
  const submit = createSubmitInquiry({ slots } as unknown as ActivityDependencies);
  const args = { run: { profile: 'default' }, settings: { heartbeatTimeoutMs: 500 } } as unknown as SubmitInquiryArgs;
  assert.deepEqual(await env.run(submit as (given: unknown) => Promise<unknown>, args), { kind: 'noSlot' });
  assert.ok(beats.length >= 2, `${beats.length} heartbeats in a second`);
});
