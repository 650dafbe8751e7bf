/** The outcome of an inquiry, and the reference that it leaves. */

export const REPORT_OUTCOMES = ['record', 'noRecord', 'noReport'] as const;

/** The outcome of an answered inquiry: a record; none; or an answer without a report (docs/decisions/gateway.md). */
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** What a caller must store of a report by the interface (section 2.4). `consumerId` is personal. */
export interface ReportReference {
  reportReferenceNumber: string;
  /** The instant just before the first byte of the request. */
  requestedAt: string;
  applicants: { applicantId: string; consumerId: string }[];
}

/** What the gateway says of one applicant. Nothing personal. */
export interface ApplicantOutcome {
  applicantId: string;
  outcome: ReportOutcome;
  /** Absent where the answer's own code stands for all. */
  returnCode?: string;
  returnReasonCode?: string;
}

/** The provider's free text (docs/decisions/gateway.md). May name a person: it is shown where reports are. */
export interface ProviderText {
  returnReasonDesc?: string;
  errorMessage?: string;
}
