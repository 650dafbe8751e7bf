/** "No outcome reaches another request": compares each reference with the request for which the sandbox issued it. */
import { consumerIdOf } from '../../../sandbox/records/records.ts';
import type { JourneyReferences, JourneyResult } from '../../../src/messages/journey/shapes.ts';
import type { ReportReference } from '../../../src/model/report-outcome.ts';
import type { Evidence, RunEvidence, SandboxPosting } from '../evidence.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';
import { latestRuns } from './latest-runs.ts';

/** A reference that a run tells of a stage, or of a share (without applicants: a share has none of its own). */
export interface ToldReference {
  journeyId: string;
  step: string;
  productCode: string;
  shareId?: string;
  reportReferenceNumber: string;
  reference?: ReportReference;
}

export function toldBy(run: RunEvidence): ToldReference[] {
  return run.result ? ofResult(run.result) : run.references ? ofQuery(run.references) : [];
}

function ofResult({ journeyId, stages, shares }: JourneyResult): ToldReference[] {
  const ofStages = stages.flatMap(({ productCode, reference }) =>
    reference ? [stageReference(journeyId, productCode, reference)] : [],
  );
  const ofShares = shares.flatMap(({ shareId, reportReferenceNumber }) =>
    reportReferenceNumber === undefined ? [] : [shareReference(journeyId, shareId, reportReferenceNumber)],
  );
  return [...ofStages, ...ofShares];
}

function ofQuery({ journeyId, references, shares }: JourneyReferences): ToldReference[] {
  return [
    ...references.map(({ productCode, reference }) => stageReference(journeyId, productCode, reference)),
    ...shares.map(({ shareId, reportReferenceNumber }) => shareReference(journeyId, shareId, reportReferenceNumber)),
  ];
}

function stageReference(journeyId: string, productCode: string, reference: ReportReference): ToldReference {
  const { reportReferenceNumber } = reference;
  return { journeyId, step: `journey ${journeyId} ${productCode}`, productCode, reportReferenceNumber, reference };
}

function shareReference(journeyId: string, shareId: string, reportReferenceNumber: string): ToldReference {
  const step = `journey ${journeyId} SECONDUSE share ${shareId}`;
  return { journeyId, step, productCode: 'SECONDUSE', shareId, reportReferenceNumber };
}

export const ownReferences: Invariant = {
  name: 'every reference is that of its stage or share, and of exactly its applicants',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const postings = new Map(evidence.sandbox.postings.map((posting) => [posting.reportReferenceNumber, posting]));
    const meant = consumersMeant(evidence);
    const failures: string[] = [];
    let count = 0;
    for (const run of latestRuns(evidence).values()) {
      for (const told of toldBy(run)) {
        count++;
        const posting = postings.get(told.reportReferenceNumber);
        if (!posting) failures.push(`${told.step}: a reference that the gateway gave to nobody`);
        else if (index.stepOf(posting.customerTraceNumber) !== told.step)
          failures.push(`${told.step}: somebody else's`);
        else failures.push(...consumerProblems(told, posting, meant.get(told.journeyId)));
      }
    }
    failures.push(...sharedProblems(evidence, index));
    return { count, failures };
  },
};

/** `consumerId`s by applicant, as the gateway has them; and by SSN, as the platform meant them. */
function consumerProblems({ step, reference }: ToldReference, posting: SandboxPosting, meant?: Set<string>): string[] {
  if (!reference) return [];
  const told = new Map(reference.applicants.map(({ applicantId, consumerId }) => [applicantId, consumerId]));
  const given = posting.applicants.filter(({ hasReport }) => hasReport);
  const isSame =
    told.size === given.length &&
    given.every(({ applicantId, consumerId }) => applicantId !== null && told.get(applicantId) === consumerId);
  if (!isSame) return [`${step}: consumers that are not those of its applicants`];
  const isMeant = [...told].every(([applicantId, consumerId]) => meant?.has(`${applicantId} ${consumerId}`));
  return isMeant ? [] : [`${step}: consumers whose SSN nobody asked for`];
}

/** By `journeyId`: every applicant that anybody ever asked for, with the `consumerId` that belongs to his SSN. */
function consumersMeant({ plans, decisionsTaken }: Evidence): Map<string, Set<string>> {
  const amended = Map.groupBy(decisionsTaken, ({ message }) => message.journeyId);
  return new Map(
    plans.map(({ journeyId, input, laterApplicants = [] }) => {
      const decided = (amended.get(journeyId) ?? []).map(({ message }) => message.applicants ?? []);
      const all = [input.applicants, ...laterApplicants, ...decided].flat();
      return [journeyId, new Set(all.map(({ applicantId, ssn }) => `${applicantId} ${consumerIdOf(ssn)}`))];
    }),
  );
}

/** What a journey shares is a report of its own, with exactly the consumers that have one. */
function sharedProblems({ sandbox }: Evidence, index: InquiryIndex): string[] {
  const reports = new Map(sandbox.postings.map((posting) => [posting.reportReferenceNumber, posting]));
  return sandbox.postings.flatMap((posting) => {
    if (posting.productCode !== 'SECONDUSE') return [];
    const inquiry = index.inquiries.get(posting.customerTraceNumber);
    // Judged with the others of its kind.
    if (inquiry?.workflowType === 'shareReport') return [];
    const step = index.stepOf(posting.customerTraceNumber);
    const shared = posting.sharedReference === undefined ? undefined : reports.get(posting.sharedReference);
    if (!shared) return [`${step}: shares a report that is not there`];
    const [from, to] = [shared, posting].map(
      ({ customerTraceNumber }) => index.inquiries.get(customerTraceNumber)?.runKey,
    );
    if (from === undefined || from !== to) return [`${step}: shares the report of another journey`];
    const consumers = (of: SandboxPosting) =>
      of.applicants.flatMap(({ consumerId, hasReport }) => (hasReport ? [consumerId] : []));
    const [all, named] = [consumers(shared), consumers(posting)];
    const isWhole = all.toSorted().join() === named.toSorted().join();
    return isWhole ? [] : [`${step}: shares consumers that are not those of the report`];
  });
}
