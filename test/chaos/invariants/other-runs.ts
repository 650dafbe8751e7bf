/** Pulls, shares by themselves and reviews: what holds for journeys holds for them, by their owners' ids. */
import { consumerIdOf } from '../../../sandbox/records/records.ts';
import { rowRunKey, toWorkflowId } from '../../../src/model/run-key.ts';
import type { Evidence, LedgerAttempt, RunEvidence, SandboxPosting } from '../evidence.ts';
import type { OtherPlan } from '../evidence-others.ts';
import { InquiryIndex, isReferenceOf } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';

export const otherRunsEnd: Invariant = {
  name: 'every pull, share and review has an outcome, is held, or waits for consent that nobody gave',
  judge({ others, runs }) {
    const failures = others.flatMap((plan) => {
      const problem = endProblem(plan, latestRun(runs, plan));
      return problem === null ? [] : [`${plan.runKey}: ${problem}`];
    });
    const ends = Map.groupBy(others, (plan) => {
      const run = latestRun(runs, plan);
      return run ? `${plan.workflowType} ${run.other?.state ?? run.status.toLowerCase()}` : 'not begun';
    });
    const remark = [...ends].map(([end, { length }]) => `${length} ${end}`).toSorted();
    return { count: others.length, failures, remark: remark.join(', ') };
  },
};

/** A review that has become long goes on in another run. */
function latestRun(runs: readonly RunEvidence[], { runKey }: OtherPlan): RunEvidence | undefined {
  const own = runs.filter(({ workflowId }) => workflowId === toWorkflowId(runKey));
  const endOf = ({ closedAtMs = Number.POSITIVE_INFINITY }: RunEvidence) => closedAtMs;
  return own.toSorted((one, other) => endOf(other) - endOf(one))[0];
}

function endProblem(plan: OtherPlan, run: RunEvidence | undefined): string | null {
  const { sharesReportOf, mayWaitForConsent, mayEndByForce } = plan;
  // Without a report there is nothing to share.
  if (!run) return sharesReportOf === undefined ? 'has no run' : null;
  if (run.status === 'COMPLETED') return run.other ? null : 'ended without a result of its own';
  if (mayEndByForce && ['CANCELLED', 'TERMINATED'].includes(run.status)) return null;
  if (run.status !== 'RUNNING') return `ended as ${run.failureType ?? run.status}`;
  if (!run.other) return `does not say how it stands (${run.queryProblem ?? 'no answer'})`;
  if (run.other.state === 'held') return null;
  if (run.other.state === 'waitingForConsent' && mayWaitForConsent) return null;
  return `is still ${run.other.state}`;
}

export const ownReferencesOfOthers: Invariant = {
  name: 'every reference of a pull is that of its inquiry and its applicants, and every share is of the report that was named',
  judge(evidence) {
    const { others, runs, sandbox } = evidence;
    const index = new InquiryIndex(evidence);
    const postings = new Map(sandbox.postings.map((posting) => [posting.reportReferenceNumber, posting]));
    const failures: string[] = [];
    let count = 0;
    for (const plan of others) {
      const reference = latestRun(runs, plan)?.other?.reference;
      if (!reference) continue;
      count++;
      const posting = sandbox.postings.find((candidate) => isReferenceOf(candidate, reference.reportReferenceNumber));
      if (!posting || ownerOfPosting(posting, index) !== plan.runKey) {
        failures.push(`${plan.runKey}: a reference that is not its own`);
        continue;
      }
      const meant = consumersMeant(plan, evidence);
      const isMeant = reference.applicants.every(({ consumerId }) => meant.has(consumerId));
      // FAILSAFE tells of consumers, and gives out no report.
      const isTold = ({ hasReport }: { hasReport: boolean }) => hasReport || posting.productCode === 'FAILSAFE';
      const given = posting.applicants.filter(isTold).map(({ consumerId }) => consumerId);
      const isGiven = reference.applicants.every(({ consumerId }) => given.includes(consumerId));
      if (!isMeant || !isGiven) failures.push(`${plan.runKey}: consumers that are not those of its applicants`);
    }
    const shares = sharesOf(evidence, index);
    failures.push(...shares.flatMap((share) => shareProblem(share, postings, index)));
    return { count: count + shares.length, failures };
  },
};

function ownerOfPosting({ customerTraceNumber }: SandboxPosting, { inquiries }: InquiryIndex): string | undefined {
  return inquiries.get(customerTraceNumber)?.runKey;
}

function consumersMeant({ runKey, ssns }: OtherPlan, { decisionsTaken }: Evidence): Set<string> {
  const amended = decisionsTaken.flatMap(({ message }) =>
    message.journeyId === runKey ? (message.applicants ?? []) : [],
  );
  return new Set([...ssns, ...amended.map(({ ssn }) => ssn)].map(consumerIdOf));
}

interface Shared {
  runKey: string;
  sharesReportOf: string;
  posting: SandboxPosting;
}

function sharesOf({ others, sandbox }: Evidence, index: InquiryIndex): Shared[] {
  return sandbox.postings.flatMap((posting) => {
    const runKey = ownerOfPosting(posting, index);
    const plan = others.find((one) => one.runKey === runKey);
    if (posting.productCode !== 'SECONDUSE' || runKey === undefined || plan?.sharesReportOf === undefined) return [];
    return [{ runKey, sharesReportOf: plan.sharesReportOf, posting }];
  });
}

function shareProblem(
  { runKey, sharesReportOf, posting }: Shared,
  postings: ReadonlyMap<string, SandboxPosting>,
  index: InquiryIndex,
): string[] {
  const shared = postings.get(posting.sharedReference ?? '');
  if (!shared || ownerOfPosting(shared, index) !== sharesReportOf) return [`${runKey}: shares somebody else's report`];
  const consumers = (of: SandboxPosting) =>
    of.applicants.flatMap(({ consumerId, hasReport }) => (hasReport ? [consumerId] : []));
  const isSame = consumers(shared).toSorted().join() === consumers(posting).toSorted().join();
  return isSame ? [] : [`${runKey}: shares consumers that are not those of the report`];
}

export const reviewedRows: Invariant = {
  name: "a review's file has each row at most once, with the outcome that the ledger has",
  judge(evidence) {
    const { reviewResults, others, runs } = evidence;
    const index = new InquiryIndex(evidence);
    const failures: string[] = [];
    let count = 0;
    for (const { runKey, lines } of reviewResults) {
      const plan = others.find((one) => one.runKey === runKey);
      const reviewId = runKey.slice(runKey.indexOf(':') + 1);
      count += lines.length;
      const accounts = Map.groupBy(lines, ({ accountId }) => accountId);
      for (const [accountId, { length }] of accounts) {
        if (length > 1) failures.push(`${runKey}: row ${accountId} ${length} times`);
      }
      for (const { accountId, outcome, customerTraceNumber } of lines) {
        const inquiry = index.inquiries.get(customerTraceNumber);
        const isOwn = inquiry?.runKey === rowRunKey(reviewId, accountId);
        const recorded = outcomeOf(customerTraceNumber, index);
        if (!isOwn) failures.push(`${runKey}: row ${accountId} names an inquiry that is not its own`);
        else if (recorded !== outcome) failures.push(`${runKey}: row ${accountId} ${outcome}, the ledger ${recorded}`);
      }
      const run = plan && latestRun(runs, plan);
      const isWhole = run?.status === 'COMPLETED' && run.other?.state === 'completed';
      if (isWhole && accounts.size !== plan?.rows) failures.push(`${runKey}: ${accounts.size} rows of ${plan?.rows}`);
    }
    return { count, failures };
  },
};

/** As the latest attempt has it; what a person accepted has its own. */
function outcomeOf(customerTraceNumber: string, index: InquiryIndex): string | undefined {
  if (index.inquiries.get(customerTraceNumber)?.abandonedAtMs !== undefined) return 'abandoned';
  const latest: LedgerAttempt | undefined = index.attempts(customerTraceNumber).at(-1);
  return latest?.outcome;
}
