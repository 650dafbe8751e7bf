/** What the sandbox received, posted and gave out, as its own routes list it (types). */

/** An inquiry on a consumer's file, as `GET /_sandbox/inquiries` lists it. */
export interface PostedInquiry {
  customerTraceNumber: string;
  productCode: string;
  endUserCode: string | null;
  endUser: string | null;
  /** How many. */
  applicants: number;
  postedAt: string;
  reportReferenceNumber: string;
  /** Those given out with the report, in the request's order; for SECONDUSE those it names. */
  consumerIds: string[];
}

/** A request at the request endpoint, posted or not, as `GET /_sandbox/requests` lists it. Nothing personal. */
export interface ReceivedRequest {
  /** Null where none could be read. */
  customerTraceNumber: string | null;
  productCode: string | null;
  receivedAt: string;
  /** The how manieth request with this trace number, from 1. */
  attempt: number;
  /** Which issued token it carried; null without a token that is good. */
  tokenId: string | null;
  authorized: boolean;
  posted: boolean;
  /** The HTTP status that was sent; null where none was (yet). */
  status: number | null;
  fault: string | null;
}

/** A consumer as SECONDUSE may name him. The digits say which fault befalls it. */
export interface IssuedConsumer {
  consumerId: string;
  ssnLastFour: string;
}

/** One posting with what a later SECONDUSE needs to know of it. */
export interface Posting {
  inquiry: PostedInquiry;
  /** Empty unless a report was given out. */
  consumers: IssuedConsumer[];
}
