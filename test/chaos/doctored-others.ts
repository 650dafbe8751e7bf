/** A sound storm's pull, share and review, and what breaks the promises about them one at a time. */
import { consumerIdOf } from '../../sandbox/records/records.ts';
import type { ProductCode } from '../../src/model/products.ts';
import type { Evidence, RunEvidence, SandboxPosting } from './evidence.ts';
import type { Invariant } from './invariants/invariant.ts';
import { otherRunsEnd, ownReferencesOfOthers, reviewedRows } from './invariants/other-runs.ts';
import { at } from './sound-evidence.ts';

const SSN = '900010007';
const ROW = 'portfolio:R-1/ACC-1';
const [PULLED, SHARED, REVIEWED] = ['TRACE-PULL', 'TRACE-SHARE', 'TRACE-ROW'];

/** A pull whose report was shared by itself, and a review of one row. */
export function addOthers(evidence: Evidence): Evidence {
  ask(evidence, 'pull:P-1', 'creditReport', 'CR', PULLED);
  ask(evidence, 'share:S-1', 'shareReport', 'SECONDUSE', SHARED).sharedReference = referenceOf(PULLED);
  ask(evidence, ROW, 'portfolioReview', 'ACCTRVW', REVIEWED);
  const reference = {
    ...{ reportReferenceNumber: referenceOf(PULLED), requestedAt: new Date(at(1)).toISOString() },
    applicants: [{ applicantId: '1A', consumerId: consumerIdOf(SSN) }],
  };
  run(evidence, 'pull-P-1', 'creditReport', { state: 'record', holds: [], reference });
  run(evidence, 'share-S-1', 'shareReport', { state: 'posted', holds: [] });
  run(evidence, 'portfolio-R-1', 'portfolioReview', { state: 'completed', holds: [] });
  evidence.others = [
    { runKey: 'pull:P-1', workflowType: 'creditReport', ssns: [SSN] },
    { runKey: 'share:S-1', workflowType: 'shareReport', ssns: [SSN], sharesReportOf: 'pull:P-1' },
    { runKey: 'portfolio:R-1', workflowType: 'portfolioReview', ssns: [], rows: 1 },
  ];
  const row = { accountId: 'ACC-1', line: 2, outcome: 'record', customerTraceNumber: REVIEWED } as const;
  evidence.reviewResults = [{ runKey: 'portfolio:R-1', lines: [{ ...row, at: new Date(at(9)).toISOString() }] }];
  return evidence;
}

function referenceOf(customerTraceNumber: string): string {
  return `SBX${customerTraceNumber.replace('-', '')}`;
}

function ask(
  { ledger, sandbox }: Evidence,
  runKey: string,
  workflowType: string,
  productCode: ProductCode,
  customerTraceNumber: string,
): SandboxPosting {
  ledger.inquiries.push({ ...{ customerTraceNumber, runKey, workflowType, productCode, ordinal: 0 } });
  ledger.attempts.push({
    ...{ customerTraceNumber, attempt: 1, written: 'answered', state: 'answered', claimedAtMs: at(1) },
    ...{ sendByMs: at(2), answerByMs: at(3), runId: 'run-other', outcome: 'record', consents: [], hasReport: true },
  });
  const posting: SandboxPosting = {
    ...{ requestId: customerTraceNumber, atMs: at(1.5), customerTraceNumber, productCode, digest: null, status: 200 },
    ...{ endUserCode: 'EU100', endUser: null, reportReferenceNumber: referenceOf(customerTraceNumber) },
    applicants: [{ applicantId: '1A', consumerId: consumerIdOf(SSN), hasReport: true }],
  };
  sandbox.postings.push(posting);
  return posting;
}

function run({ runs }: Evidence, workflowId: string, workflowType: string, other: RunEvidence['other']): void {
  runs.push({
    ...{ workflowId, runId: `${workflowId}-1`, workflowType, status: 'COMPLETED', startedAtMs: at(0) },
    ...{ closedAtMs: at(9), workflowTaskAttempts: 0, pendingActivities: [], submissions: [], consents: [] },
    ...{ recordedByRun: [], history: { events: [] } },
    ...(other ? { other } : {}),
  });
}

function runOf(evidence: Evidence, id: string): RunEvidence {
  return addOthers(evidence).runs.find(({ workflowId }) => workflowId === id) as RunEvidence;
}

function postingOf(evidence: Evidence, trace: string): SandboxPosting {
  return addOthers(evidence).sandbox.postings.find((one) => one.customerTraceNumber === trace) as SandboxPosting;
}

interface Doctored {
  what: string;
  caughtBy: Invariant;
  as: RegExp;
  doctor(evidence: Evidence): void;
}

export const DOCTORED_OTHERS: readonly Doctored[] = [
  {
    what: 'a pull that still runs',
    caughtBy: otherRunsEnd,
    as: /pull:P-1: is still running/,
    doctor: (evidence) =>
      void Object.assign(runOf(evidence, 'pull-P-1'), { status: 'RUNNING', other: { state: 'running', holds: [] } }),
  },
  {
    what: 'a review that failed',
    caughtBy: otherRunsEnd,
    as: /portfolio:R-1: ended as PortfolioChanged/,
    doctor: (evidence) =>
      void Object.assign(runOf(evidence, 'portfolio-R-1'), { status: 'FAILED', failureType: 'PortfolioChanged' }),
  },
  {
    what: "somebody else's reference in a pull",
    caughtBy: ownReferencesOfOthers,
    as: /pull:P-1: a reference that is not its own/,
    doctor: (evidence) => {
      const { reference } = runOf(evidence, 'pull-P-1').other ?? {};
      if (reference) reference.reportReferenceNumber = referenceOf(REVIEWED);
    },
  },
  {
    what: 'a pull with a consumer whom nobody asked for',
    caughtBy: ownReferencesOfOthers,
    as: /pull:P-1: consumers that are not those of its applicants/,
    doctor: (evidence) => {
      const consumerId = consumerIdOf('900010008');
      Object.assign(postingOf(evidence, PULLED).applicants[0] ?? {}, { consumerId });
      const { reference } = evidence.runs.find(({ workflowId }) => workflowId === 'pull-P-1')?.other ?? {};
      Object.assign(reference?.applicants[0] ?? {}, { consumerId });
    },
  },
  {
    what: "a share by itself of somebody else's report",
    caughtBy: ownReferencesOfOthers,
    as: /share:S-1: shares somebody else's report/,
    doctor: (evidence) => {
      postingOf(evidence, SHARED).sharedReference = referenceOf(REVIEWED);
    },
  },
  {
    what: 'a row that stands twice in the file',
    caughtBy: reviewedRows,
    as: /row ACC-1 2 times/,
    doctor: (evidence) => {
      const { lines = [] } = addOthers(evidence).reviewResults[0] ?? {};
      evidence.reviewResults = [{ runKey: 'portfolio:R-1', lines: [...lines, ...lines] }];
    },
  },
  {
    what: 'a row with an outcome that the ledger does not have',
    caughtBy: reviewedRows,
    as: /row ACC-1 record, the ledger noRecord/,
    doctor: (evidence) => {
      const { attempts } = addOthers(evidence).ledger;
      Object.assign(attempts.find((one) => one.customerTraceNumber === REVIEWED) ?? {}, { outcome: 'noRecord' });
    },
  },
  {
    what: 'a review that lost a row',
    caughtBy: reviewedRows,
    as: /portfolio:R-1: 0 rows of 1/,
    doctor: (evidence) => {
      addOthers(evidence).reviewResults = [{ runKey: 'portfolio:R-1', lines: [] }];
    },
  },
];
