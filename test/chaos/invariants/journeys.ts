/** "No journey is lost", and no other run: each has an outcome, waits for what it was meant to wait for, or is held for a true reason. */

import type { HoldStatus } from '../../../src/messages/journey/shapes.ts';
import { FAILURES, type FailureType } from '../../../src/model/failure-types.ts';
import type { Evidence, RunEvidence } from '../evidence.ts';
import type { RunPlan } from '../evidence-others.ts';
import { failedTasks } from '../evidence-runs.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';
import { latestRuns } from './latest-runs.ts';

/** The first may have met a worker that was just being killed. */
const MOST_TASK_ATTEMPTS = 3;

export const everyRunEnds: Invariant = {
  name: 'every run has an outcome, is held, or waits for what it was to wait for',
  judge(evidence) {
    const runs = latestRuns(evidence);
    const failures = evidence.plans.flatMap((plan) => {
      const problem = endProblem(plan, runs.get(plan.runKey));
      return problem === null ? [] : [`${plan.runKey}: ${problem}`];
    });
    const byEnd = Map.groupBy(
      evidence.plans,
      ({ runKey, workflowType }) => `${workflowType} ${endOf(runs.get(runKey))}`,
    );
    const ends = [...byEnd].map(([end, { length }]) => `${length} ${end}`);
    return { count: evidence.plans.length, failures, remark: ends.toSorted().join(', ') };
  },
};

function endOf(run: RunEvidence | undefined): string {
  if (!run) return 'not begun';
  return run.result?.outcome ?? run.current?.state ?? run.other?.state ?? run.status.toLowerCase();
}

function endProblem(plan: RunPlan, run: RunEvidence | undefined): string | null {
  // Without a report there is nothing to share.
  if (!run) return plan.sharesReportOf === undefined ? 'has no run' : null;
  switch (run.status) {
    case 'COMPLETED':
      return run.result?.journeyId === plan.runKey || run.other ? null : 'ended without a result of its own';
    case 'CANCELLED':
    case 'TERMINATED':
      return plan.mayEndByForce ? null : `was ended by force, and nobody meant it to be`;
    case 'RUNNING':
      return waitProblem(plan, run);
    default:
      return `ended as ${run.failureType ?? run.status}`;
  }
}

function waitProblem({ mayWaitForConsent }: RunPlan, { current, other, queryProblem }: RunEvidence): string | null {
  const state = current?.state ?? other?.state;
  switch (state) {
    case undefined:
      return `does not say how it stands (${queryProblem ?? 'no answer'})`;
    case 'held':
      return null;
    case 'waitingAtGate':
      return 'waits at a gate that was to be passed';
    case 'waitingForConsent':
      return mayWaitForConsent ? null : 'waits for a consent that was given or refused';
    default:
      return `is still ${state}${current?.waitingFor === undefined ? '' : ', and tries again'}`;
  }
}

export const noStuckRun: Invariant = {
  name: 'no run is stuck: no workflow task fails, no activity is repeated without end',
  judge({ runs }) {
    const failures = runs.flatMap((run) => {
      const name = `${run.workflowId} run ${run.runId}`;
      const stuck = run.status === 'RUNNING' && run.workflowTaskAttempts > MOST_TASK_ATTEMPTS;
      const repeated = run.pendingActivities.filter(({ type, attempt }) => type === 'submitInquiry' && attempt > 1);
      return [
        ...(stuck ? [`${name}: its workflow task is tried for the ${run.workflowTaskAttempts}th time`] : []),
        ...new Set(failedTasks(run.history).map((cause) => `${name}: a workflow task failed (${cause})`)),
        ...repeated.map(({ type, attempt }) => `${name}: ${type} is repeated, attempt ${attempt}`),
      ];
    });
    return { count: runs.length, failures };
  },
};

export const trueHolds: Invariant = {
  name: 'every hold gives its true reason',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const holds = evidence.runs.flatMap(({ current, other }) => current?.holds ?? other?.holds ?? []);
    const failures = holds.flatMap((hold) => {
      const problem = holdProblem(hold, index, evidence);
      return problem === null ? [] : [`${hold.customerTraceNumber}: ${hold.failureType}, but ${problem}`];
    });
    const byReason = Map.groupBy(holds, ({ failureType }) => failureType);
    const remark = [...byReason].map(([reason, { length }]) => `${length} ${reason}`).join(', ');
    return { count: holds.length, failures, ...(remark === '' ? {} : { remark }) };
  },
};

/** Reasons that nothing in the world gives: its profile and its ledger stay what they were. */
const NEVER_TRUE: readonly FailureType[] = ['ProfileChanged', 'LedgerChanged', 'GatewayUntrusted'];
/** May hold an attempt that was claimed, or one that never was. */
const WITH_OR_WITHOUT_CLAIM: readonly FailureType[] = ['CredentialsRefused'];

function holdProblem(hold: HoldStatus, index: InquiryIndex, evidence: Evidence): string | null {
  const { customerTraceNumber, failureType, attempts } = hold;
  if (NEVER_TRUE.includes(failureType)) return 'nothing of the kind was done';
  const attempt = index.attempts(customerTraceNumber).find((one) => one.attempt === attempts);
  const expected = FAILURES[failureType].state;
  if (failureType === 'RequestDiffers') {
    return mayDiffer(customerTraceNumber, index, evidence) ? null : 'nobody ever asked for another';
  }
  if (expected === null) return attempt ? `the ledger has attempt ${attempts} as ${attempt.state}` : null;
  if (!attempt) return WITH_OR_WITHOUT_CLAIM.includes(failureType) ? null : `the ledger has no attempt ${attempts}`;
  // A late answer arrived before an operator had decided. The operator's decision is then refused (`overtaken`).
  if (failureType === 'OutcomeUnknown' && attempt.state === 'answered') return null;
  if (attempt.state !== expected) return `the ledger has attempt ${attempts} as ${attempt.state}`;
  if (expected !== 'answered') return null;
  const isPosted = evidence.sandbox.postings.some((posting) => posting.customerTraceNumber === customerTraceNumber);
  return isPosted ? null : 'the gateway has posted nothing under it';
}

/** The run was amended, with other applicants. */
function mayDiffer(customerTraceNumber: string, index: InquiryIndex, { decisionsTaken }: Evidence): boolean {
  const runKey = index.inquiries.get(customerTraceNumber)?.runKey;
  return decisionsTaken.some(({ message }) => message.journeyId === runKey && message.applicants !== undefined);
}
