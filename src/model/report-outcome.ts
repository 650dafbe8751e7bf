/** What an inquiry's answer comes to, and the reference that it leaves (types). */

/** What an answered inquiry came to: a record; none; or an answer without a report (docs/decisions/gateway.md). */
export type ReportOutcome = 'record' | 'noRecord' | 'noReport';

/** What the interface says a caller must store of a report (section 2.4). `consumerId` is personal. */
export interface ReportReference {
  reportReferenceNumber: string;
  /** The instant just before the first byte of the request. */
  requestedAt: string;
  applicants: { applicantId: string; consumerId: string }[];
}
