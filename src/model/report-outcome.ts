/** The outcome of an inquiry, and the reference that it leaves. */

export const REPORT_OUTCOMES = ['record', 'noRecord', 'noReport'] as const;

/** The outcome of an answered inquiry: a record; none; or an answer without a report (docs/decisions/gateway.md). */
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** The part of a report that a caller must store by the interface (section 2.4). `consumerId` is personal. */
export interface ReportReference {
  reportReferenceNumber: string;
  /** The instant just before the first byte of the request. */
  requestedAt: string;
  applicants: { applicantId: string; consumerId: string }[];
}

export interface ApplicantOutcome {
  applicantId: string;
  outcome: ReportOutcome;
  /** Absent if the answer's own code applies to all. */
  returnCode?: string;
  returnReasonCode?: string;
}
