/** Messages that arrive without a worker are one workflow task, which must not take the SDK more than 5 s. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { createLogger, installLogger } from '../../src/telemetry/logging.ts';
import { consentMessage } from '../support/journey-harness.ts';
import { bundleWorkflows } from '../support/workflow-bundle.ts';

installLogger(createLogger('ERROR'), 'ERROR');

/** The number of signals that Temporal accepts in one run. */
const MOST_SIGNALS = 10_000;

interface Flood {
  signalName: string;
  message(index: number): object;
}

const of = (decision: 'granted' | 'denied' | 'revoked', index: number, more: object = {}) => ({
  ...consentMessage('J', { applicantId: '1A', consentId: `C${index}`, decision }),
  ...more,
});

const FLOODS: Record<string, Flood> = {
  'invalid signals': { signalName: 'requestWithdrawal', message: () => ({}) },
  'grants for shares that were never requested': {
    signalName: 'consent',
    message: (index) => of('granted', index, { shareId: `X${index}` }),
  },
  'grants with proofs': { signalName: 'consent', message: (index) => of('granted', index, { proof: 'a.b.c' }) },
  'grants, denials and revocations in turn': {
    signalName: 'consent',
    message: (index) => of((['granted', 'denied', 'revoked'] as const)[index % 3] ?? 'denied', index),
  },
};

/** Makes a history of a run on hold with a last, unprocessed workflow task that has the flood. */
function floodedHistory({ signalName, message }: Flood) {
  const recorded = readFileSync(join(import.meta.dirname, '..', 'histories', 'lendingJourney-held.json'), 'utf8');
  const history = historyFromJSON(JSON.parse(recorded));
  const events = history.events ?? [];
  const { input } = events[0]?.workflowExecutionStartedEventAttributes ?? {};
  const { journeyId } = defaultPayloadConverter.fromPayload<{ journeyId: string }>(input?.payloads?.[0] ?? {});
  // The recording may have ended within a workflow task, which the flood must precede.
  while (Object.values(BEGUN).includes(Number(events.at(-1)?.eventType))) events.pop();
  const last = events.at(-1);
  assert.ok(last);
  const add = (event: object) =>
    events.push({ eventId: last.eventId?.add(count++) ?? null, eventTime: last.eventTime ?? null, ...event });
  let count = 1;
  for (let index = 0; index < MOST_SIGNALS; index++) {
    const payload = defaultPayloadConverter.toPayload({ ...message(index), journeyId });
    add({
      eventType: EVENT_TYPES.signaled,
      workflowExecutionSignaledEventAttributes: { signalName, input: { payloads: [payload] } },
    });
  }
  add({ eventType: EVENT_TYPES.scheduled, workflowTaskScheduledEventAttributes: {} });
  const scheduledEventId = events.at(-1)?.eventId;
  add({ eventType: EVENT_TYPES.started, workflowTaskStartedEventAttributes: { scheduledEventId } });
  return history;
}

/** Values of `temporal.api.enums.v1.EventType`. */
const BEGUN = { scheduled: 5, started: 6 };
const EVENT_TYPES = { ...BEGUN, signaled: 26 };

const TASK_SIZES = fileURLToPath(new URL('../support/changed-workflows/task-sizes.ts', import.meta.url));

let code: string;
before(async () => {
  code = await bundleWorkflows([TASK_SIZES]);
});

/** Returns the completed tasks: their numbers of jobs, and whether their promises have stacks. */
async function tasksDone(flood: Flood): Promise<{ jobs: number; hasStacks: boolean }[]> {
  const tasks: { jobs: number; hasStacks: boolean }[] = [];
  const done = {
    fn: (_: unknown, jobs: number, hasStacks: boolean) => void tasks.push({ jobs, hasStacks }),
    callDuringReplay: true,
  };
  await Worker.runReplayHistory({ workflowBundle: { code }, sinks: { tasks: { done } } }, floodedHistory(flood));
  return tasks;
}

describe(`a workflow task with ${MOST_SIGNALS} signals that came without a worker completes in time with`, () => {
  for (const [name, flood] of Object.entries(FLOODS)) {
    test(name, async () => {
      const tasks = await tasksDone(flood);
      const flooded = tasks.pop();
      // The task may also have the completion of an activity.
      assert.ok(flooded && flooded.jobs >= MOST_SIGNALS && flooded.jobs <= MOST_SIGNALS + 1, String(flooded?.jobs));
      assert.equal(flooded.hasStacks, false);
      assert.ok(tasks.every(({ hasStacks }) => hasStacks));
    });
  }
});
