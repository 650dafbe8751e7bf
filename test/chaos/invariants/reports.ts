/** The reports that runs show and the reports that the ledger keeps are the same. */

import type { StageStatus } from '../../../src/messages/journey/shapes.ts';
import type { StageCode } from '../../../src/model/products.ts';
import type { Evidence, LedgerAttempt, RunEvidence } from '../evidence.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';
import { latestRuns } from './latest-runs.ts';
import { toldBy } from './references.ts';

export const reportsInLedger: Invariant = {
  name: 'every answered report is in the ledger, and its seal opens',
  judge(evidence) {
    const { ledger } = evidence;
    const index = new InquiryIndex(evidence);
    const byReference = Map.groupBy(ledger.attempts, ({ reportReferenceNumber, acceptedReference }) =>
      String(reportReferenceNumber ?? acceptedReference),
    );
    const recordedByRun = new Set(evidence.runs.flatMap((run) => run.recordedByRun));
    const failures: string[] = [];
    let count = 0;
    let textLost = 0;
    for (const run of latestRuns(evidence).values()) {
      if (run.workflowType !== 'lendingJourney') continue;
      for (const { step, reportReferenceNumber, productCode } of toldBy(run)) {
        count++;
        const attempt = byReference.get(reportReferenceNumber)?.[0];
        if (!attempt) failures.push(`${step}: the ledger has no attempt with the run's reference`);
        else if (productCode === 'SECONDUSE' || attempt.state !== 'answered' || attempt.hasReport) continue;
        else if (recordedByRun.has(attempt.customerTraceNumber)) textLost++;
        else failures.push(`${step}: the ledger has no report for the run's reference`);
      }
    }
    failures.push(...sealProblems(evidence));
    count += ledger.reports.length;
    failures.push(...forgotten(evidence, index));
    const remark = `${textLost} reports whose text was lost while the ledger was away`;
    return { count, failures, ...(textLost > 0 ? { remark } : {}) };
  },
};

/** `readReport` gives the newest: it opens, and its text is that of the attempt that it says it is of. */
function sealProblems({ ledger }: Evidence): string[] {
  const keyOf = (customerTraceNumber: unknown, attempt: unknown) => `${customerTraceNumber} ${attempt}`;
  const attempts = new Map(ledger.attempts.map((one) => [keyOf(one.customerTraceNumber, one.attempt), one]));
  return ledger.reports.flatMap((report) => {
    const name = `journey ${report.journeyId} ${report.productCode}`;
    if (report.problem !== undefined) return [`${name}: ${report.problem}`];
    const attempt = attempts.get(keyOf(report.customerTraceNumber, report.attempt));
    if (attempt?.reportReferenceNumber === undefined || report.reportReferenceNumber === undefined) return [];
    return attempt.reportReferenceNumber === report.reportReferenceNumber
      ? []
      : [`${name}: the text of another report`];
  });
}

/** Stages that a run has not reached, since it was withdrawn or started again. */
const NOT_COME_TO: readonly StageStatus['state'][] = ['pending', 'expired', 'skipped', 'running'];

/** Records of the ledger that their run does not show. */
function forgotten(evidence: Evidence, index: InquiryIndex): string[] {
  const runs = latestRuns(evidence);
  const failures: string[] = [];
  for (const { customerTraceNumber, runKey, productCode, workflowType } of index.inquiries.values()) {
    const attempt = index.attempts(customerTraceNumber).at(-1);
    const run = runs.get(runKey);
    if (!run || workflowType !== 'lendingJourney' || productCode === 'SECONDUSE' || attempt?.outcome !== 'record')
      continue;
    const stage = stageOf(run, productCode as StageCode);
    // Another inquiry's by now: amended, or refused its number.
    if (!stage || stage.customerTraceNumber !== customerTraceNumber) continue;
    const isTold = stage.reportReferenceNumber === referenceOf(attempt);
    const isElsewhere = NOT_COME_TO.includes(stage.state) && attempt.runId !== run.runId;
    const isInterrupted = stage.state === 'skipped' || stage.state === 'running';
    if (!isTold && !isElsewhere && !isInterrupted)
      failures.push(`${index.stepOf(customerTraceNumber)}: answered, and the run says ${stage.state}`);
  }
  return failures;
}

function stageOf({ result, current }: RunEvidence, productCode: StageCode) {
  return (result ?? current)?.stages.find((stage) => stage.productCode === productCode);
}

function referenceOf({ reportReferenceNumber, acceptedReference }: LedgerAttempt): string | undefined {
  return acceptedReference ?? reportReferenceNumber;
}
