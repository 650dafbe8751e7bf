/** A small storm, the same each time: journeys on an SQLite ledger, two workers, and the cheap kinds of steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testServer, workflowBundle } from '../support/temporal.ts';
import type { Evidence } from './evidence.ts';
import { answeredIsKept, appliedOnce } from './invariants/api.ts';
import { checkInvariants } from './invariants/check-invariants.ts';
import { consentsKept } from './invariants/consents.ts';
import type { Invariant } from './invariants/invariant.ts';
import { everyRunEnds, noStuckRun } from './invariants/journeys.ts';
import { attemptsInOrder, auditChain } from './invariants/ledger-rows.ts';
import { nothingInLogs } from './invariants/logs.ts';
import {
  oneAttemptOneRequest,
  oneRequestPerNumber,
  oneTraceNumber,
  postedOnce,
  postingsInLedger,
} from './invariants/postings.ts';
import { ownReferences } from './invariants/references.ts';
import { attemptsRunOnce } from './invariants/repeats.ts';
import { historiesReplay } from './invariants/replays.ts';
import { reportsInLedger } from './invariants/reports.ts';
import { makePlan } from './plan.ts';
import type { StormKind } from './plan-storm.ts';
import { runPlan } from './run.ts';
import { describeRun, failuresOf } from './say.ts';

/** Kinds of steps after which the processes are back at once. The long run has the others. */
const KINDS: readonly StormKind[] = [
  ...(['killSandbox', 'freezeWorker', 'ledgerLocked', 'ledgerFull', 'gatewayFault', 'answerBroken'] as const),
  ...(['gatewayUnreachable', 'gatewayHalfOpen', 'tokensRevoked', 'tokenServiceDown', 'resetWorkflow'] as const),
  ...(['resetActivity', 'widenRetries', 'terminateAndRestart', 'undecodableConsent', 'consentAgain'] as const),
  'killApi',
];

const WORLD = {
  ...{ engine: 'SQLite' as const, workers: 2, versions: false, endpoints: false, upgrade: false, others: false },
} as const;

const ALWAYS_JUDGED: readonly Invariant[] = [
  ...[postedOnce, oneTraceNumber, oneAttemptOneRequest, oneRequestPerNumber, postingsInLedger, ownReferences],
  ...[everyRunEnds, noStuckRun, reportsInLedger, consentsKept, attemptsInOrder, auditChain, attemptsRunOnce],
  ...[historiesReplay, answeredIsKept, appliedOnce, nothingInLogs],
];

async function shared(signal: AbortSignal) {
  return { signal, temporal: await testServer(), workflowBundle: await workflowBundle() };
}

test('every invariant holds after a small storm', async (t) => {
  const plan = makePlan({ seed: 11, journeys: 8, lengthMs: 5_000, ...WORLD, kinds: KINDS });
  const run = await runPlan(plan, await shared(t.signal));
  t.diagnostic(describeRun(run).join('\n'));
  assert.deepEqual(failuresOf(run), []);
  // A world without these shows nothing of versions, endpoints and upgrades. The others must have had something to judge.
  const idle = run.verdicts.filter(({ count }) => count === 0).map(({ name }) => name);
  t.diagnostic(`nothing to check: ${idle.join('; ')}`);
  assert.ok(!ALWAYS_JUDGED.some(({ name }) => idle.includes(name)), idle.join());
});

test('a history that the workflow could not have made fails its replay', async (t) => {
  const plan = makePlan({ seed: 12, journeys: 1, lengthMs: 1_000, ...WORLD, kinds: [] });
  const judge = async (evidence: Evidence) => {
    const scheduled = evidence.runs
      .filter(({ workflowType }) => workflowType === 'lendingJourney')
      .flatMap(({ history }) => history.events ?? [])
      .find((event) => event.activityTaskScheduledEventAttributes);
    assert.ok(scheduled?.activityTaskScheduledEventAttributes?.activityType);
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'recordOutcome';
    return checkInvariants(evidence, [historiesReplay]);
  };
  const { verdicts } = await runPlan(plan, { ...(await shared(t.signal)), judge });
  assert.match(verdicts[0]?.failures.join() ?? '', /^journey-\S+ run \S+: DeterminismViolationError: /);
});
