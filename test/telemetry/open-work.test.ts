/** What a worker counts of the work for operators: in the ledger, and of the deliveries of events. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import { watchFleetFigures } from '../../src/worker/worker-telemetry.ts';
import { attempted, consentOf, keyRing } from '../ledger/fixtures.ts';
import { aboveZero, recordMetrics } from './recorded-metrics.ts';

interface Work {
  outcomes?: Record<string, Partial<OutcomeRecord>>;
  kept?: readonly ConsentRecord[];
  minutes?: number;
  /** How many runs have given an event up; absent where the server does not answer. */
  givenUp?: number | undefined;
  isRegistered?: boolean;
}

async function countWork(t: TestContext, work: Work) {
  const { outcomes = {}, kept = [], minutes = 20, givenUp, isRegistered = true } = work;
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
  const { metrics, of } = recordMetrics();
  const end = new AbortController();
  const workflow = {
    async count(query: string) {
      assert.match(query, /NeedsAttention = '(WebhookFailed|LedgerChanged)'|TemporalReportedProblems/);
      if (givenUp === undefined) throw new Error('the server does not answer');
      return { count: query.includes('WebhookFailed') ? givenUp : query.includes('LedgerChanged') ? 1 : 0 };
    },
  };
  const watching = watchFleetFigures({
    ...{ ledger, metrics, taskQueue: 'q', profiles: [], everyMs: 60_000, signal: end.signal },
    client: { workflow, workflowService: {}, options: { namespace: 'default' } },
    keys: { ring: { keys: [] } },
    knows: async (name: string) => isRegistered && name === 'NeedsAttention',
    now: () => Date.now() + minutes * 60_000,
  } as unknown as Parameters<typeof watchFleetFigures>[0]);
  end.abort();
  await watching;
  assert.deepEqual([of('ledgerUp'), of('paused')], [{ '': 1 }, { '': 0 }]);
  const ages = Object.entries(aboveZero(of('oldestAge')) ?? {});
  return {
    counts: aboveZero(of('needsPerson')),
    minutes: Object.fromEntries(ages.map(([labels, seconds]) => [labels, Math.floor(seconds / 60)])),
    events: of('needsPerson')?.['runs WebhookFailed'],
  };
}

test('rows of the ledger are counted by kind and reason, with the age of the oldest', async (t) => {
  const outcomes = { 'journey-1': { state: 'unknown' }, 'journey-2': { state: 'refused' } } as const;
  const found = await countWork(t, { outcomes });
  // The gateway posted nothing for the refused one, but its row stands as the list has it.
  assert.deepEqual(found.counts, { 'held OutcomeUnknown': 1, 'held RequestRefused': 1 });
  assert.deepEqual(found.minutes, { 'held OutcomeUnknown': 20, 'held RequestRefused': 20 });
});

test('consents that match nothing are counted by what is not known, with the age of the oldest', async (t) => {
  const outcomes = { 'journey-1': { state: 'notSent' } } as const;
  const kept = [
    consentOf({ journeyId: 'J-GONE' }),
    consentOf({ journeyId: 'J-GONE', consentId: 'C-2', decision: 'denied' }),
    consentOf({ journeyId: '1', shareId: 'S-TYPO' }),
  ];
  const found = await countWork(t, { outcomes, kept, minutes: 90 });
  assert.deepEqual(found.counts, { 'unmatched journey': 2, 'unmatched share': 1 });
  assert.deepEqual(found.minutes, { 'unmatched journey': 90, 'unmatched share': 90 });
});

test('runs that have no row here are counted, and keep their figure while the server does not answer', async (t) => {
  assert.deepEqual((await countWork(t, { givenUp: 3 })).counts, { 'runs WebhookFailed': 3, 'runs LedgerChanged': 1 });
  assert.equal((await countWork(t, { givenUp: undefined })).events, undefined);
  assert.equal((await countWork(t, { givenUp: undefined, isRegistered: false })).events, 0);
});
