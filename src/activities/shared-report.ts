/** Finds the report to share in the ledger. Refuses another owner's report, and one that does not exist. */
import type { GatewayProfile } from '../gateway/profile.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { InquiryView } from '../ledger/records.ts';
import { findOutcome } from '../ledger/reports/reports.ts';
import type { GivenReportInput, ShareReportInput, StoredReportInput } from '../messages/inputs/share-report.ts';
import type { ReportSource } from '../messages/share/shapes.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { REPORT_PRODUCTS, type ReportProduct } from '../model/products.ts';
import type { ReportReference } from '../model/report-outcome.ts';
import { toRunKey } from '../model/run-key.ts';

/**
 * Returns the report's source and reference, and the end user for whom it was pulled.
 *
 * @throws InvalidInputError with every problem; LedgerUnavailableError
 */
export async function findSharedReport(
  ledger: Ledger,
  profile: GatewayProfile,
  { report, endUserCode }: ShareReportInput,
) {
  const found =
    'reference' in report
      ? await readGivenReport(ledger, profile, report)
      : await readStoredReport(ledger, profile, report);
  requireThat(endUserCode !== found.reportEndUserCode, '/endUserCode', 'must not be the report’s own end user');
  return found;
}

async function readStoredReport(ledger: Ledger, profile: GatewayProfile, report: StoredReportInput) {
  const [runKey, path] =
    'pullId' in report ? [toRunKey('pull', report.pullId), '/report/pullId'] : [report.journeyId, '/report/journeyId'];
  const { productCode, customerTraceNumber } = report;
  const inquiries = (await ledger.inquiriesOf(runKey)).filter((candidate) => candidate.productCode === productCode);
  const isNamed = (candidate: InquiryView) => candidate.customerTraceNumber === customerTraceNumber;
  // The newest that was answered: an earlier one is shared only if the caller names it.
  const newest = inquiries.findLast((candidate) => findOutcome(candidate) || candidate.disposedAt) ?? inquiries.at(-1);
  requireThat(newest, path, `must name a run for which the ledger has an inquiry of ${productCode}`);
  const inquiry = customerTraceNumber === undefined ? newest : inquiries.find(isNamed);
  const rule = `must be the trace number of an inquiry of ${productCode} of this run`;
  requireThat(inquiry, '/report/customerTraceNumber', rule);
  await requireShareable(ledger, profile, { inquiry, path: '/report' });
  const outcome = findOutcome(inquiry);
  requireThat(outcome, '/report', 'has no answer yet that could be shared');
  const reference = outcome.outcome === 'record' ? outcome.reference : undefined;
  requireThat(reference, '/report', 'has no record: nothing to share');
  return toSharedReport(inquiry, reference);
}

async function readGivenReport(ledger: Ledger, profile: GatewayProfile, { reference, endUserCode }: GivenReportInput) {
  const path = '/report/reference';
  const isPast = Date.parse(reference.requestedAt) <= Date.now();
  requireThat(isPast, `${path}/requestedAt`, 'must not be in the future');
  const known = await ledger.inquiriesReferredTo(reference.reportReferenceNumber);
  const match = known.find(({ inquiry }) => isReport(inquiry)) ?? known[0];
  if (!match) return { report: { kind: 'given' } as const, reference, reportEndUserCode: endUserCode };
  const { inquiry } = match;
  const rule = `must be the reference of a report: in the ledger it belongs to ${inquiry.productCode}`;
  requireThat(isReport(inquiry), `${path}/reportReferenceNumber`, rule);
  await requireShareable(ledger, profile, { inquiry, path });
  requireThat(match.reference, path, 'was disposed of');
  const problems = findReferenceProblems(reference, match.reference);
  if (inquiry.endUserCode !== endUserCode) {
    problems.unshift({ path: '/report/endUserCode', rule: 'must be the end user for whom the report was pulled' });
  }
  if (problems.length > 0) throw new InvalidInputError(problems);
  return toSharedReport(inquiry, match.reference);
}

function isReport({ productCode }: InquiryView): boolean {
  return (REPORT_PRODUCTS as readonly string[]).includes(productCode);
}

function toSharedReport(inquiry: InquiryView, reference: ReportReference) {
  const { runKey, customerTraceNumber, endUserCode: reportEndUserCode = '' } = inquiry;
  const productCode = inquiry.productCode as ReportProduct;
  const report: ReportSource = { kind: 'ledger', runKey, productCode, customerTraceNumber };
  return { report, reference, reportEndUserCode };
}

/** Refuses the report of another customer, and one that may no longer be used. */
async function requireShareable(
  { retention }: Ledger,
  profile: GatewayProfile,
  { inquiry, path }: { inquiry: InquiryView; path: string },
): Promise<void> {
  const isOurs = inquiry.customerId === profile.customerId;
  requireThat(isOurs, path, 'was pulled for another customer than the gateway profile’s');
  const isDisposed = inquiry.disposedAt !== undefined || (await retention.isBegun(inquiry.runKey));
  requireThat(!isDisposed, path, 'was disposed of');
  const holds = await retention.legalHolds(inquiry.runKey);
  requireThat(holds.length === 0, path, 'is under a legal hold');
}

/** Refuses a reference unless every `consumerId` agrees: it must never share the wrong person's report. */
function findReferenceProblems(given: ReportReference, known: ReportReference): Problem[] {
  const path = '/report/reference/applicants';
  const consumers = new Map(known.applicants.map(({ applicantId, consumerId }) => [applicantId, consumerId]));
  const problems = given.applicants.flatMap(({ applicantId, consumerId }, index): Problem[] => {
    const own = consumers.get(applicantId);
    if (own === undefined) {
      return [{ path: `${path}/${index}/applicantId`, rule: 'must be an applicant of the report that the ledger has' }];
    }
    if (own === consumerId) return [];
    return [{ path: `${path}/${index}/consumerId`, rule: 'must be the applicant’s in the report that the ledger has' }];
  });
  const named = given.applicants.map(({ applicantId }) => applicantId);
  const isWhole = [...consumers.keys()].every((applicantId) => named.includes(applicantId));
  return isWhole ? problems : [...problems, { path, rule: 'must name every applicant of the report' }];
}

function requireThat(isRight: unknown, path: string, rule: string): asserts isRight {
  if (!isRight) throw new InvalidInputError([{ path, rule }]);
}
