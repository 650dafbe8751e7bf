/** An endpoint that is slow, so that the worker has too many messages to it at once, and then refuses them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../hazards/operator-hands.ts';
import { deliveryOf, playHeld, startWebhookStage, type WebhookStage } from '../support/webhook-scenarios.ts';

/** One more than a worker sends to one endpoint at once. */
const RUNS = 9;

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage({ giveUpAfter: 'P1D' });
});
after(() => stage?.close());

test('attempts that a busy worker did not send do not make the delay after a refusal longer', async () => {
  const { receiver } = stage;
  receiver.answer('/gone', 410);
  receiver.answer('/hangs', 'hang');
  const runs = await Promise.all(Array.from({ length: RUNS }, () => playHeld(stage)));
  /** The attempts, and the delay after the last one, of each event that waits for its next attempt. */
  const pending = async (failureType: string) => {
    const described = await Promise.all(runs.map(({ journeyId }) => deliveryOf(stage, journeyId).describe()));
    return described.flatMap(({ raw }) =>
      (raw.pendingActivities ?? []).flatMap(
        ({ attempt, lastFailure, lastAttemptCompleteTime, nextAttemptScheduleTime }) =>
          lastFailure?.applicationFailureInfo?.type === failureType && nextAttemptScheduleTime
            ? [
                {
                  attempt: attempt ?? 0,
                  delayS: Number(nextAttemptScheduleTime.seconds) - Number(lastAttemptCompleteTime?.seconds),
                },
              ]
            : [],
      ),
    );
  };
  await until(async () => (await pending('WebhookBusy')).some(({ attempt }) => attempt >= 4), 'the worker is not busy');
  receiver.answer('/hangs', 503);
  let refused: Awaited<ReturnType<typeof pending>> = [];
  await until(async () => {
    refused = (await pending('WebhookRefused')).filter(({ attempt }) => attempt >= 5);
    return refused.length > 0;
  }, 'nothing was refused');
  // On a slow machine, some have had a second refusal by now.
  const shortest = Math.min(...refused.map(({ delayS }) => delayS));
  assert.ok(shortest <= 16, `the shortest delay is ${shortest} s`);
});
