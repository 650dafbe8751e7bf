/** "No outcome reaches another request": compares each reference with the request for which the sandbox issued it. */
import { consumerIdOf } from '../../../sandbox/records/records.ts';
import type { ReportReference } from '../../../src/model/report-outcome.ts';
import type { Evidence, LedgerInquiry, RunEvidence, SandboxPosting } from '../evidence.ts';
import { InquiryIndex, isReferenceOf } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';
import { latestRuns } from './latest-runs.ts';

/** A reference that a run shows for a stage, a pull or a share. That of a share has no applicants of its own. */
interface ToldReference {
  step: string;
  /** Absent for a pull, which has one. */
  productCode?: string;
  shareId?: string;
  reportReferenceNumber: string;
  reference?: ReportReference;
}

export function toldBy({ result, references, other }: RunEvidence): ToldReference[] {
  const journey = result ?? references;
  if (!journey) return other?.reference ? [toldOf('', other.reference)] : [];
  const { journeyId } = journey;
  const stages = 'stages' in journey ? journey.stages : journey.references;
  return [
    ...stages.flatMap(({ productCode, reference }) =>
      reference ? [{ ...toldOf(`journey ${journeyId} ${productCode}`, reference), productCode }] : [],
    ),
    ...journey.shares.flatMap(({ shareId, reportReferenceNumber }) => {
      const step = `journey ${journeyId} SECONDUSE share ${shareId}`;
      return reportReferenceNumber === undefined
        ? []
        : [{ step, productCode: 'SECONDUSE', shareId, reportReferenceNumber }];
    }),
  ];
}

function toldOf(step: string, reference: ReportReference): ToldReference {
  return { step, reportReferenceNumber: reference.reportReferenceNumber, reference };
}

export const ownReferences: Invariant = {
  name: 'every reference is that of its stage, pull or share, and of exactly its applicants',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const meant = consumersMeant(evidence);
    const failures: string[] = [];
    let count = 0;
    for (const [runKey, run] of latestRuns(evidence)) {
      for (const told of toldBy(run)) {
        count++;
        const step = told.step || runKey;
        const posting = evidence.sandbox.postings.find((one) => isReferenceOf(one, told.reportReferenceNumber));
        if (!posting) failures.push(`${step}: a reference that the gateway gave to nobody`);
        else if (!isOwn(told, runKey, index.inquiries.get(posting.customerTraceNumber)))
          failures.push(`${step}: somebody else's`);
        else
          failures.push(
            ...findConsumerProblems(told, posting, meant.get(runKey)).map((problem) => `${step}: ${problem}`),
          );
      }
    }
    const shares = evidence.sandbox.postings.filter(({ productCode }) => productCode === 'SECONDUSE');
    failures.push(...shares.flatMap((share) => sharedProblems(share, evidence, index)));
    return { count: count + shares.length, failures };
  },
};

function isOwn({ productCode, shareId }: ToldReference, runKey: string, inquiry: LedgerInquiry | undefined): boolean {
  if (inquiry?.runKey !== runKey) return false;
  return productCode === undefined || (inquiry.productCode === productCode && inquiry.shareId === shareId);
}

/** `consumerId`s by applicant, as the gateway has them; and by SSN, as the platform meant them. */
function findConsumerProblems({ reference }: ToldReference, posting: SandboxPosting, meant?: Set<string>): string[] {
  if (!reference) return [];
  const told = new Map(reference.applicants.map(({ applicantId, consumerId }) => [applicantId, consumerId]));
  // The answer to FAILSAFE has consumers, no applicant and no report.
  const isFailsafe = posting.productCode === 'FAILSAFE';
  const given = posting.applicants.filter(({ hasReport }) => hasReport || isFailsafe);
  const isGiven = isFailsafe
    ? [...told.values()].every((consumerId) => given.some((one) => one.consumerId === consumerId))
    : told.size === given.length &&
      given.every(({ applicantId, consumerId }) => applicantId !== null && told.get(applicantId) === consumerId);
  if (!isGiven) return ['consumers that are not those of its applicants'];
  const isMeant = [...told].every(([applicantId, consumerId]) => meant?.has(`${applicantId} ${consumerId}`));
  return isMeant ? [] : ['consumers whose SSN nobody asked for'];
}

/** Every applicant of every request, by run key, with the `consumerId` that belongs to the SSN. */
function consumersMeant({ plans, decisionsTaken }: Evidence): Map<string, Set<string>> {
  const amended = Map.groupBy(decisionsTaken, ({ message }) => message.journeyId);
  return new Map(
    plans.map(({ runKey, applicants }) => {
      const decided = (amended.get(runKey) ?? []).flatMap(({ message }) => message.applicants ?? []);
      const all = [...applicants, ...decided];
      return [runKey, new Set(all.map(({ applicantId, ssn }) => `${applicantId} ${consumerIdOf(ssn)}`))];
    }),
  );
}

/** A run shares a report of its own, or of the pull that it names, with exactly the consumers that have one. */
function sharedProblems(posting: SandboxPosting, { sandbox, plans }: Evidence, index: InquiryIndex): string[] {
  const step = index.stepOf(posting.customerTraceNumber);
  const shared = sandbox.postings.find((one) => one.reportReferenceNumber === posting.sharedReference);
  if (!shared) return [`${step}: shares a report that is not there`];
  const [from, to] = [shared, posting].map(
    ({ customerTraceNumber }) => index.inquiries.get(customerTraceNumber)?.runKey,
  );
  const plan = plans.find(({ runKey }) => runKey === to);
  if (from === undefined || from !== (plan?.sharesReportOf ?? to)) return [`${step}: shares somebody else's report`];
  const consumers = (of: SandboxPosting) =>
    of.applicants.flatMap(({ consumerId, hasReport }) => (hasReport ? [consumerId] : [])).toSorted();
  const isWhole = consumers(shared).join() === consumers(posting).join();
  return isWhole ? [] : [`${step}: shares consumers that are not those of the report`];
}
