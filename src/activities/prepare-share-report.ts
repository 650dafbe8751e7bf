/** Checks a share's input, finds its report, and reads the ledger's consents about sharing it. */
import { omitUndefined } from '../base/defined.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { InquiryView } from '../ledger/records.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import {
  type GivenReportInput,
  type ShareReportInput,
  type StoredReportInput,
  shareReport,
} from '../messages/inputs/share-report.ts';
import type { ReportSource } from '../messages/share/shapes.ts';
import { pickTerms } from '../model/inquiry.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { REPORT_PRODUCTS, type ReportProduct } from '../model/products.ts';
import type { ReportReference } from '../model/report-outcome.ts';
import { toRunKey } from '../model/run-key.ts';
import { toSecondaryUser } from '../model/stage-end-user.ts';
import { lookUpShares } from './consent-activities.ts';
import type { ShareConfig } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translateErrors } from './failures.ts';
import { findEntitlementProblems } from './inquiry-request.ts';
import { checkRequestCanBeBuilt, checkStart, fixRun } from './prepared-run.ts';

// Finds the report to share in the ledger. Refuses another owner's report, and one that does not exist.

interface SharedReport {
  source: ReportSource;
  reference: ReportReference;
  /** The end user for whom the report was pulled. */
  endUserCode: string;
}

/** @throws InvalidInputError with every problem; LedgerUnavailableError */
async function findSharedReport(
  ledger: Ledger,
  profile: GatewayProfile,
  { report, endUserCode }: ShareReportInput,
): Promise<SharedReport> {
  const found =
    'reference' in report
      ? await readGivenReport(ledger, profile, report)
      : await readStoredReport(ledger, profile, report);
  if (endUserCode !== undefined && endUserCode === found.endUserCode) {
    throw createRefusal('/endUserCode', 'must not be the report’s own end user');
  }
  return found;
}

async function readStoredReport(
  ledger: Ledger,
  profile: GatewayProfile,
  report: StoredReportInput,
): Promise<SharedReport> {
  const [runKey, path] =
    'pullId' in report ? [toRunKey('pull', report.pullId), '/report/pullId'] : [report.journeyId, '/report/journeyId'];
  const { productCode, customerTraceNumber } = report;
  const inquiries = (await ledger.inquiriesOf(runKey)).filter((candidate) => candidate.productCode === productCode);
  if (inquiries.length === 0)
    throw createRefusal(path, `must be one that the ledger has an inquiry of ${productCode} of`);
  const named = inquiries.filter((candidate) => candidate.customerTraceNumber === customerTraceNumber);
  if (customerTraceNumber !== undefined && named.length === 0) {
    throw createRefusal('/report/customerTraceNumber', `must be that of an inquiry of ${productCode} of this owner`);
  }
  // The newest that was answered: an earlier one is shared only if the caller names it.
  const inquiry =
    named[0] ?? inquiries.findLast((candidate) => findOutcome(candidate) || candidate.disposedAt) ?? inquiries.at(-1);
  if (!inquiry) throw new Error('no inquiry among some');
  await requireShareable(ledger, profile, { inquiry, path: '/report' });
  const outcome = findOutcome(inquiry);
  if (!outcome) throw createRefusal('/report', 'has no answer yet that could be shared');
  if (outcome.outcome !== 'record' || !outcome.reference)
    throw createRefusal('/report', 'has no record: nothing to share');
  return readSharedReport(inquiry, outcome.reference);
}

async function readGivenReport(
  ledger: Ledger,
  profile: GatewayProfile,
  { reference, endUserCode }: GivenReportInput,
): Promise<SharedReport> {
  if (Date.parse(reference.requestedAt) > Date.now()) {
    throw createRefusal('/report/reference/requestedAt', 'must not be in the future');
  }
  const known = await ledger.inquiriesReferredTo(reference.reportReferenceNumber);
  const [first] = known;
  if (!first) return { source: { kind: 'given' }, reference, endUserCode };
  const path = '/report/reference';
  const match = known.find(({ inquiry }) => isReport(inquiry)) ?? first;
  const { inquiry } = match;
  if (!isReport(inquiry)) {
    throw createRefusal(
      `${path}/reportReferenceNumber`,
      `must be a report’s: the ledger has it of ${inquiry.productCode}`,
    );
  }
  await requireShareable(ledger, profile, { inquiry, path });
  if (!match.reference) throw createRefusal(path, 'was disposed of');
  const problems = [
    ...(inquiry.endUserCode === endUserCode
      ? []
      : [{ path: '/report/endUserCode', rule: 'must be the end user that the ledger has the report under' }]),
    ...findApplicantProblems(reference, match.reference),
  ];
  if (problems.length > 0) throw new InvalidInputError(problems);
  return readSharedReport(inquiry, match.reference);
}

function isReport({ productCode }: InquiryView): boolean {
  return (REPORT_PRODUCTS as readonly string[]).includes(productCode);
}

function readSharedReport(inquiry: InquiryView, reference: ReportReference): SharedReport {
  const { runKey, customerTraceNumber, endUserCode = '' } = inquiry;
  const productCode = inquiry.productCode as ReportProduct;
  return { source: { kind: 'ledger', runKey, productCode, customerTraceNumber }, reference, endUserCode };
}

async function requireShareable(
  ledger: Ledger,
  profile: GatewayProfile,
  { inquiry, path }: { inquiry: InquiryView; path: string },
): Promise<void> {
  if (inquiry.customerId !== profile.customerId) {
    throw createRefusal(path, 'was pulled for another customer than the gateway profile’s');
  }
  const problem = await findUseProblem(ledger, inquiry);
  if (problem !== null) throw createRefusal(path, problem);
}

/** Returns why a report may no longer be used, or `null`. */
async function findUseProblem(ledger: Ledger, inquiry: InquiryView): Promise<string | null> {
  const isDisposed = inquiry.disposedAt !== undefined || (await ledger.retention.isBegun(inquiry.runKey));
  if (isDisposed) return 'was disposed of';
  const holds = await ledger.retention.legalHolds(inquiry.runKey);
  return holds.length === 0 ? null : 'is under a legal hold';
}

/** The latest answer that was understood, or that an operator accepted. */
function findOutcome({ attempts }: InquiryView) {
  const answer = attempts.at(-1)?.answer;
  return answer?.kind === 'outcome' ? answer : undefined;
}

/** Refuses a reference unless every `consumerId` agrees: it must never share the wrong person's report. */
function findApplicantProblems(given: ReportReference, known: ReportReference): Problem[] {
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
  const isWhole = known.applicants.every((applicant) =>
    given.applicants.some((other) => other.applicantId === applicant.applicantId),
  );
  return isWhole ? problems : [...problems, { path, rule: 'must name every applicant of the report' }];
}

function createRefusal(path: string, rule: string): InvalidInputError {
  return new InvalidInputError([{ path, rule }]);
}

export function createPrepareShareReport(dependencies: ActivityDependencies) {
  const { ledger } = dependencies;

  return {
    /**
     * Checks a share's whole input, finds its report, and fixes the run's configuration before anything can be posted.
     * The ledger knows of the share from then on.
     *
     * @throws `InvalidInput` (final) with every problem; `LedgerUnavailable` (repeated)
     */
    prepareShareReport: ({ input, firstRunId }: { input: ShareReportInput; firstRunId: string }) =>
      translateErrors<ShareConfig>(async () => {
        const checked = await checkStart(dependencies, 'share', input, {
          parse: () => parseMessage(shareReport, input),
          listProblems: (profile, share) => findEntitlementProblems(profile, { ...share, productCode: 'SECONDUSE' }),
        });
        const { profile, runKey, facts, input: share } = checked;
        const shared = await findSharedReport(ledger, profile, share);
        const { source: report, reference, endUserCode: reportEndUserCode } = shared;
        const { shareId } = share;
        checkRequestCanBeBuilt(profile, { productCode: 'SECONDUSE', ...pickTerms(share) }, { reference });
        const { reportReferenceNumber } = reference;
        const row = { runKey, shareId, reportReferenceNumber, reportEndUserCode };
        if (!(await ledger.recordShare(ledger.identity.ledgerId, row))) {
          throw new InvalidInputError([
            { path: '/report', rule: 'must be that of the share which has this id already: choose another id' },
          ]);
        }
        const reportRunKey = report.kind === 'ledger' ? report.runKey : undefined;
        const question = {
          shareId,
          ...toSecondaryUser(share),
          reportReferenceNumber,
          ...omitUndefined({ reportRunKey }),
        };
        const [standing] = await lookUpShares(ledger, {
          runKey,
          firstRunId,
          consentTrust: profile.consentTrust,
          shares: [question],
          shareIds: [shareId],
          applicantIds: reference.applicants.map(({ applicantId }) => applicantId),
        });
        if (!standing) throw new Error('a share without a standing');
        return { ...(await fixRun(dependencies, profile, facts)), report, reference, standing };
      }),
  };
}
