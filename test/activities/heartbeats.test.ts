import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { addHeartbeats } from '../../src/activities/index.ts';

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
