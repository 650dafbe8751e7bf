/** What is counted of a ledger that several workers and none may still look after. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import { watchOpenWork } from '../../src/worker/worker-telemetry.ts';
import { attempted, consentOf, keyRing } from '../ledger/fixtures.ts';
import { aboveZero, recordMetrics } from './recorded-metrics.ts';

/** As Temporal knows them: held journeys are listed, the others only answer when they are asked for. */
interface Runs {
  held?: Record<string, string>;
  open?: readonly string[];
}

function clientWith({ held = {}, open = [] }: Runs): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const workflow = {
    async *list() {
      for (const [workflowId, reason] of Object.entries(held)) {
        yield { workflowId, searchAttributes: { NeedsAttention: [reason] } };
      }
    },
    getHandle: (workflowId: string) => ({
      async describe() {
        asked.push(workflowId);
        if (open.includes(workflowId)) return { status: { name: 'RUNNING' } };
        throw new WorkflowNotFoundError('gone', workflowId, undefined);
      },
    }),
  };
  return { client: { workflow } as unknown as Client, asked };
}

async function counted(
  t: TestContext,
  outcomes: Record<string, Partial<OutcomeRecord>>,
  runs: Runs,
  minutes = 20,
  kept: readonly ConsentRecord[] = [],
) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-open-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const url = `file:${join(directory, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
  t.after(() => ledger.close());
  for (const [workflowId, outcome] of Object.entries(outcomes)) {
    const inquiry = { customerTraceNumber: workflowId, runKey: workflowId.replace('journey-', '') };
    await attempted(ledger, { inquiry, run: { workflowId, runId: 'run-1' } }, outcome);
  }
  for (const consent of kept) await ledger.consents.keep(ledger.identity.ledgerId, consent);
  const { client, asked } = clientWith(runs);
  const end = new AbortController();
  const { metrics, of } = recordMetrics((key) => {
    // The last of a round.
    if (key === 'inquiriesWithoutRun') end.abort();
  });
  const knows = async () => runs.held !== undefined;
  const now = () => Date.now() + minutes * 60_000;
  await watchOpenWork({
    ledger,
    client,
    taskQueue: 'q',
    metrics,
    everyMs: 60_000,
    signal: end.signal,
    knows,
    now,
  });
  assert.deepEqual([of('ledgerUp'), of('paused')], [{ '': 1 }, { '': 0 }]);
  const ages = Object.values(aboveZero(of('oldestHoldAge')) ?? {}).map((seconds) => Math.floor(seconds / 60));
  const oldestMinutes = Math.floor((of('oldestUnmatchedConsentAge')?.[''] ?? Number.NaN) / 60);
  return {
    consents: { ...aboveZero(of('unmatchedConsents')), oldestMinutes },
    holds: aboveZero(of('openHolds')),
    ages,
    attention: aboveZero(of('journeysNeedingAttention')),
    withoutRun: of('inquiriesWithoutRun')?.[''],
    asked,
  };
}

const UNKNOWN = { state: 'unknown' } as const;
const REFUSED = { state: 'refused' } as const;

test('a hold of a running journey is counted with its age, and its run not asked for', async (t) => {
  const found = await counted(t, { 'journey-1': UNKNOWN }, { held: { 'journey-1': 'OutcomeUnknown' } });
  const expected = { holds: { OutcomeUnknown: 1 }, attention: { OutcomeUnknown: 1 }, withoutRun: 0, asked: [] };
  assert.deepEqual(found, { ...expected, ages: [20], consents: { oldestMinutes: 0 } });
});

test('what may be posted and has no run is counted twice over: it needs a person, and nobody waits for it', async (t) => {
  const found = await counted(t, { 'journey-1': UNKNOWN, 'journey-2': REFUSED }, { held: {} });
  // The gateway posted nothing for the refused one, but its row stands as the list has it.
  assert.deepEqual(found.holds, { OutcomeUnknown: 1, RequestRefused: 1 });
  assert.equal(found.withoutRun, 1);
});

test('a row that is young, or whose run is open without being listed, has a run', async (t) => {
  assert.equal((await counted(t, { 'journey-1': UNKNOWN }, { held: {} }, 1)).withoutRun, 0);
  const open = await counted(
    t,
    { 'journey-1': UNKNOWN, 'journey-2': REFUSED },
    { held: {}, open: ['journey-1', 'journey-2'] },
  );
  assert.deepEqual([open.withoutRun, open.holds], [0, { OutcomeUnknown: 1, RequestRefused: 1 }]);
});

test('without the search attribute, each run is asked for', async (t) => {
  const found = await counted(t, { 'journey-1': UNKNOWN }, { open: ['journey-1'] });
  assert.deepEqual([found.attention, found.asked, found.withoutRun], [undefined, ['journey-1'], 0]);
});

test('a value that the search attribute should not have is not shown', async (t) => {
  const found = await counted(t, {}, { held: { 'journey-1': 'Zaphod', 'journey-2': 'ProfileChanged' } });
  assert.deepEqual(found.attention, { ProfileChanged: 1 });
});

test('consents that match nothing are counted by what is not known, with the age of the oldest', async (t) => {
  const outcomes = { 'journey-1': { state: 'notSent' } } as const;
  const kept = [
    consentOf({ journeyId: 'J-GONE' }),
    consentOf({ journeyId: 'J-GONE', consentId: 'C-2', decision: 'denied' }),
    consentOf({ journeyId: '1', shareId: 'S-TYPO' }),
  ];
  const { consents } = await counted(t, outcomes, { held: {} }, 90, kept);
  assert.deepEqual(consents, { journey: 2, share: 1, oldestMinutes: 90 });
});
