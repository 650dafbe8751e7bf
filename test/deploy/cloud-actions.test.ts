import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './checks.ts';
import { deployPage } from './deploy-page.ts';

/** Events that Temporal Cloud bills as an action each, as its documentation lists them. */
const BILLED = [
  'WORKFLOW_EXECUTION_STARTED',
  'ACTIVITY_TASK_SCHEDULED',
  'TIMER_STARTED',
  'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'WORKFLOW_EXECUTION_SIGNALED',
];

/** Counts the billed events of a recorded run, in the order of `BILLED`, and their sum. */
function actions(history: string): number[] {
  const text = readFileSync(join(ROOT, `test/histories/${history}.json`), 'utf8');
  const { events } = JSON.parse(text) as {
    events: {
      eventType: string;
      activityTaskStartedEventAttributes?: { attempt?: number };
    }[];
  };
  const counts = BILLED.map((name) => events.filter(({ eventType }) => eventType === `EVENT_TYPE_${name}`).length);
  const retries = events.map(({ activityTaskStartedEventAttributes: started }) => (started?.attempt ?? 1) - 1);
  const others = retries.reduce((sum, count) => sum + count, 0);
  return [...counts, counts.reduce((sum, count) => sum + count, others)];
}

test('the page has the number of Temporal Cloud actions that the recorded history of a journey shows', () => {
  const rows = [...deployPage().matchAll(/^\| .*`(lendingJourney-\w+)` \| ([\d |]+) \|$/gm)];
  assert.equal(rows.length, 3);
  for (const [, history = '', cells = ''] of rows) {
    assert.deepEqual(cells.split('|').map(Number), actions(history), history);
  }
});
