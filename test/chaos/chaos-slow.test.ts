/** A small storm, the same one each time: journeys on an SQLite ledger, two workers, some of everything that is cheap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testServer, workflowBundle } from '../support/temporal.ts';
import { makePlan, type StormKind } from './plan.ts';
import { runPlan } from './run.ts';
import { describeRun, failuresOf } from './say.ts';

/** Whose processes come back at once: the rest is for the long run. */
const KINDS: readonly StormKind[] = [
  ...(['killSandbox', 'freezeWorker', 'ledgerLocked', 'ledgerFull', 'gatewayFault', 'answerBroken'] as const),
  ...(['gatewayUnreachable', 'gatewayHalfOpen', 'tokensRevoked', 'tokenServiceDown', 'resetWorkflow'] as const),
  ...(['resetActivity', 'widenRetries', 'terminateAndRestart', 'undecodableConsent', 'consentAgain'] as const),
  'killApi',
];

test('every promise stands after a small storm', async (t) => {
  const world = {
    engine: 'SQLite',
    workers: 2,
    versions: false,
    endpoints: false,
    upgrade: false,
    others: false,
  } as const;
  const plan = makePlan({ seed: 11, journeys: 8, lengthMs: 5_000, ...world, kinds: KINDS });
  const run = await runPlan(plan, {
    signal: t.signal,
    temporal: await testServer(),
    workflowBundle: await workflowBundle(),
  });
  t.diagnostic(describeRun(run).join('\n'));
  assert.deepEqual(failuresOf(run), []);
  assert.ok(run.verdicts.reduce((sum, { count }) => sum + count, 0) > 0);
});
