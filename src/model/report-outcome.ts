/** The outcome of an inquiry, and the reference that it leaves (types). */

/** The outcome of an answered inquiry: a record; none; or an answer without a report (docs/decisions/gateway.md). */
export type ReportOutcome = 'record' | 'noRecord' | 'noReport';

/** What a caller must store of a report by the interface (section 2.4). `consumerId` is personal. */
export interface ReportReference {
  reportReferenceNumber: string;
  /** The instant just before the first byte of the request. */
  requestedAt: string;
  applicants: { applicantId: string; consumerId: string }[];
}
