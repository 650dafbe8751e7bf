/** The search attributes of a journey, and the list filters of docs/operating.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { TEMPORAL_UI_VIEWS } from '../../src/cli/commands/programs/installation-commands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
  update,
  WAIT_LIMIT_MS,
} from '../support/journey-harness.ts';

const root = join(import.meta.dirname, '..', '..');
const operating = readFileSync(join(root, 'docs', 'operating.md'), 'utf8');
const FILTERS = new Map(
  [...operating.matchAll(/^\| ([^|]+) \| `([^`]*(?:WorkflowType|CustomerTraceNumber|NeedsAttention)[^`]*)` \|$/gm)].map(
    ([, name = '', filter = '']) => [name, filter],
  ),
);

function filterNamed(name: string, replace: readonly [string, string][] = []): string {
  let filter = FILTERS.get(name) ?? assert.fail(`docs/operating.md has no filter "${name}"`);
  for (const [example, value] of replace) {
    assert.ok(filter.includes(example), example);
    filter = filter.replace(example, value);
  }
  return filter;
}

test('a journey makes at most one upsert for each stage, for its first gate and each time that shares begin to wait', () => {
  const counts = { completed: 3 + 1 + 1, consentAwaited: 3 + 1 + 1, held: 1 + 1 };
  for (const [name, most] of Object.entries(counts)) {
    const history = readFileSync(join(root, 'test', 'histories', `lendingJourney-${name}.json`), 'utf8');
    const { length } = history.match(/"eventType": "EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES"/g) ?? [];
    assert.ok(length <= most, `${name}: ${length}`);
  }
});

describe('the documented list filters', { concurrency: true }, () => {
  let harness: Harness;
  before(async () => {
    harness = await startHarness();
  });
  after(() => harness?.close());

  async function isListed(filter: string, workflowId: string): Promise<boolean> {
    const query = `${filter} AND WorkflowId="${workflowId}"`;
    for await (const _ of harness.client.workflow.list({ query })) return true;
    return false;
  }

  /** The id of the workflow that watches the harness's ledger. */
  async function watchOf({ client, config }: Harness): Promise<string> {
    for (;;) {
      const query = `WorkflowType="watchLedger" AND TaskQueue="${config.taskQueue}"`;
      for await (const { workflowId } of client.workflow.list({ query })) return workflowId;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Waits for the list, since visibility lags behind. */
  async function untilListed(filter: string, workflowId: string, expected = true): Promise<void> {
    const endsAt = performance.now() + WAIT_LIMIT_MS;
    while ((await isListed(filter, workflowId)) !== expected) {
      assert.ok(performance.now() < endsAt, `${filter} does ${expected ? 'not find' : 'still find'} it`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  test('find a journey that waits for consent, until it is granted, by end user, day and trace number', async () => {
    const input = journeyInput({
      stages: ['PREQUAL'],
      endUserCode: 'EU777',
      shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
      sharesOpenFor: 'PT1H',
    });
    const handle = await harness.start(input);
    const { workflowId } = handle;
    const waiting = filterNamed('waiting for consent');
    await untilListed(waiting, workflowId);
    const today = new Date().toISOString().slice(0, 10);
    const byEndUser = filterNamed('started today by an end user', [
      ['EU123', 'EU777'],
      ['2026-01-05', today],
    ]);
    await untilListed(byEndUser, workflowId);
    await untilListed(byEndUser.replace('EU777', 'EU123'), workflowId, false);

    await update(handle, 'recordConsent', consentMessage(input.journeyId, { applicantId: '1A' }));
    const { shares } = await untilStatus(handle, (status) => status.shares[0]?.state === 'posted');
    await untilListed(waiting, workflowId, false);
    const example = 'PQLNW3EQ26XH2ZZOLSFOCN5GUK00';
    const trace = shares[0]?.customerTraceNumber ?? '';
    await untilListed(filterNamed('the trace number that the provider asks about', [[example, trace]]), workflowId);
    await handle.terminate();
  });

  test('leave out the workflow that watches the ledger', async () => {
    const watch = await watchOf(harness);
    const handle = await harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
    for (const { view, filter } of TEMPORAL_UI_VIEWS) {
      assert.equal(filterNamed(view), filter, 'docs/operating.md has what setup prints');
      assert.equal(await isListed(filter, watch), false, view);
    }
    await untilListed(filterNamed('all runs'), handle.workflowId);
    await handle.terminate();
  });

  test('find a hold by its reason', async () => {
    const handle = await harness.start(
      journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] }),
    );
    await untilListed(filterNamed('needs a person'), handle.workflowId);
    await untilListed(filterNamed('needs a person, by reason'), handle.workflowId);
    const other = filterNamed('needs a person, by reason', [['OutcomeUnknown', 'NotEntitled']]);
    await untilListed(other, handle.workflowId, false);
    await handle.terminate();
  });
});
