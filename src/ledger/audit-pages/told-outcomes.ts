/** What an answer, in time or late, has told of each applicant. */
import type { ApplicantOutcome, ReportOutcome } from '../../model/report-outcome.ts';
import type { AuditedAttempt } from '../inquiry-audit.ts';
import type { InquiryRow } from '../rows/inquiry-rows.ts';

/** Whom the answer does not name has no record, or has what the one answer says. */
export function outcomesOf(
  { product_code, applicant_ids }: Pick<InquiryRow, 'product_code' | 'applicant_ids'>,
  { outcome, told: list }: { outcome: string | null; told: string | null },
): Pick<AuditedAttempt, 'applicantOutcomes'> {
  if (product_code === 'SECONDUSE' || outcome === null) return {};
  const told = JSON.parse(list ?? '[]') as ApplicantOutcome[];
  const asked =
    applicant_ids === null ? told.map(({ applicantId }) => applicantId) : (JSON.parse(applicant_ids) as string[]);
  const others = outcome === 'record' ? 'noRecord' : (outcome as ReportOutcome);
  const outcomes = asked.map(
    (id) => told.find(({ applicantId }) => applicantId === id) ?? { applicantId: id, outcome: others },
  );
  return outcomes.length === 0 ? {} : { applicantOutcomes: outcomes };
}
