import { finishWithin } from '../base/within.ts';
import { changesBetween, type SealedChanges } from '../changes/changes-between.ts';
import { readResponse } from '../gateway/envelope.ts';
import type { GatewayResponse } from '../gateway/responses.ts';
import type { ReportOrigin } from '../ledger/records.ts';
import type { ReportToCompare } from '../ledger/reports/reports.ts';
import type { ComparisonGap, StageChanges } from '../messages/journey/change-summary.ts';
import type { Answer } from '../model/inquiry.ts';
import type { StageCode } from '../model/products.ts';
import type { ComparedReport, RunIdentity, SubmitInquiryArgs } from './contract.ts';
import { type ActivityDependencies, findPreparedProfile } from './dependencies.ts';

/**
 * Compares two reports of the ledger, seals the whole list beside them, and returns only counts and sums. A repetition
 * seals the same list again. A missing or unreadable report is an answer, not an error.
 */
export async function compareReports(
  dependencies: ActivityDependencies,
  run: Pick<RunIdentity, 'profile' | 'ledgerId'>,
  { earlier, later }: { earlier: ComparedReport; later: ComparedReport },
): Promise<StageChanges> {
  const { ledger } = dependencies;
  const comparedWith = earlier.productCode;
  const options = findPreparedProfile(dependencies, run.profile).changes;
  const numbers = [earlier.customerTraceNumber, later.customerTraceNumber];
  const [first, other] = (await ledger.reportsToCompare(run.ledgerId, numbers)).map(parseReport);
  if (!first || !other) throw new Error('the ledger did not answer about a report');
  if ('gap' in first) return { comparedWith, unavailable: first.gap };
  if ('gap' in other) return { comparedWith, unavailable: other.gap };
  const changes = changesBetween(first.report, other.report, options);
  const between = { of: other.origin, from: first.origin };
  const sealed: SealedChanges = { earlier, later, options, ...changes };
  if (!(await ledger.keepChanges(run.ledgerId, between, JSON.stringify(sealed))))
    return { comparedWith, unavailable: 'disposed' };
  // Under other consumer ids nothing was compared: a count of 0 would pass each threshold.
  if (changes.summary.counts.applicantsCompared === 0) return { comparedWith, unavailable: 'notCompared' };
  return { comparedWith, ...changes.summary };
}

type Parsed = { report: GatewayResponse; origin: ReportOrigin } | { gap: ComparisonGap };

function parseReport(read: ReportToCompare): Parsed {
  if ('gap' in read) return read;
  const { customerTraceNumber, attempt, body } = read.report;
  const report = readResponse(body);
  if (!report) return { gap: 'unreadable' };
  return { report: addApplicantIds(report, read.applicantIds), origin: { customerTraceNumber, attempt } };
}

/** Adds each `applicantId`. The interface shows none in a report (2.4); the reference maps each `consumerId` to one. */
function addApplicantIds(report: GatewayResponse, applicantIds: ReadonlyMap<unknown, string>): GatewayResponse {
  const applicants = report.applicants.map((entry) => {
    const applicantId = applicantIds.get(entry.consumerId);
    return applicantId === undefined ? entry : { ...entry, applicantId };
  });
  return { ...report, applicants };
}

/** Limits how long a slow key management service delays an answer that is recorded already. */
const COMPARED_WITHIN_MS = 10_000;

/**
 * Compares a recorded answer with the earlier report that the attempt names. Returns `undefined` if it names none, and
 * `notCompared` if the comparison did not succeed in time.
 */
export async function compareWithEarlier(
  dependencies: ActivityDependencies,
  { run, inquiry, compareWith: earlier }: Pick<SubmitInquiryArgs, 'run' | 'inquiry' | 'compareWith'>,
  answer: Answer | undefined,
  untilMs: number,
): Promise<StageChanges | undefined> {
  if (!earlier || answer?.kind !== 'outcome' || answer.outcome !== 'record') return undefined;
  const { productCode, customerTraceNumber } = inquiry;
  const later = { productCode: productCode as StageCode, customerTraceNumber };
  const notCompared = { comparedWith: earlier.productCode, unavailable: 'notCompared' } as const;
  const waitMs = Math.min(COMPARED_WITHIN_MS, untilMs - performance.now());
  return finishWithin<StageChanges>(compareReports(dependencies, run, { earlier, later }), waitMs, notCompared);
}
