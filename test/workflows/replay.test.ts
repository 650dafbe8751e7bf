/** Running workflows must survive a deployment: recorded histories replay, and a changed one does not. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { createLogger, installLogger } from '../../src/telemetry/logging.ts';
import { PORTFOLIO_SCENARIOS } from '../support/portfolio-scenarios.ts';
import { RECORDED_SCENARIOS } from '../support/scenarios.ts';
import { workflowBundle } from '../support/temporal.ts';
import { WEBHOOK_SCENARIOS } from '../support/webhook-scenarios.ts';

installLogger(createLogger('ERROR'), 'ERROR');
const directory = join(import.meta.dirname, '..', 'histories');

interface RecordedEvent {
  eventType: string;
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
}

function recorded(file: string): { events: RecordedEvent[] } {
  return JSON.parse(readFileSync(join(directory, file), 'utf8')) as { events: RecordedEvent[] };
}

const files = readdirSync(directory).filter((file) => file.endsWith('.json'));

test('every scenario has a recorded history', () => {
  const missing = [...RECORDED_SCENARIOS, ...PORTFOLIO_SCENARIOS, ...WEBHOOK_SCENARIOS]
    .filter(({ name }) => !files.includes(`${name}.json`))
    .map(({ name }) => name);
  assert.deepEqual(missing, [], 'npm run histories records them');
});

test('every recorded history replays', async (t) => {
  const bundle = await workflowBundle();
  const histories = files.map((file) => ({ workflowId: file, history: recorded(file) }));
  const replayed = new Set<string>();
  // One worker replays all histories, since to create a worker takes longer than most replays.
  for await (const { workflowId: file, error } of Worker.runReplayHistories({ workflowBundle: bundle }, histories)) {
    replayed.add(file);
    await t.test(file, () => {
      if (error) throw error;
    });
  }
  assert.deepEqual(
    files.filter((file) => !replayed.has(file)),
    [],
  );
});

test('a changed history fails to replay', async () => {
  const history = recorded('lendingJourney-completed.json');
  const submitted = history.events.find(
    (event) => event.activityTaskScheduledEventAttributes?.activityType.name === 'submitInquiry',
  );
  assert.ok(submitted?.activityTaskScheduledEventAttributes);
  submitted.activityTaskScheduledEventAttributes.activityType.name = 'recordOutcome';
  const bundle = await workflowBundle();
  await assert.rejects(
    Worker.runReplayHistory({ workflowBundle: bundle }, history, 'doctored'),
    (error) => error instanceof DeterminismViolationError,
  );
});
