/** What the sandbox received, posted and returned, as its own routes list it (types). */

/** An inquiry on a consumer's file, as `GET /_sandbox/inquiries` lists it. */
export interface PostedInquiry {
  customerTraceNumber: string;
  productCode: string;
  endUserCode: string | null;
  endUser: string | null;
  /** The number of applicants. */
  applicants: number;
  postedAt: string;
  reportReferenceNumber: string;
  /** The consumers in the report, in the request's order; for SECONDUSE those that it names. */
  consumerIds: string[];
}

/** A request at the request endpoint, posted or not, as `GET /_sandbox/requests` lists it. Nothing personal. */
export interface ReceivedRequest {
  /** Null where the request has no readable one. */
  customerTraceNumber: string | null;
  productCode: string | null;
  receivedAt: string;
  /** The number of the request with this trace number, from 1. */
  attempt: number;
  /** The issued token that the request carried; null without a valid token. */
  tokenId: string | null;
  authorized: boolean;
  posted: boolean;
  /** The HTTP status that was sent; null where none was (yet). */
  status: number | null;
  fault: string | null;
}

/** A consumer that SECONDUSE may name. The digits select the fault that happens to it. */
export interface IssuedConsumer {
  consumerId: string;
  ssnLastFour: string;
}

/** One posting, with what a later SECONDUSE needs of it. */
export interface Posting {
  inquiry: PostedInquiry;
  /** Empty unless the answer contained a report. */
  consumers: IssuedConsumer[];
}
