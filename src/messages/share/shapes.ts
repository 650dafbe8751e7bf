/** The JSON of reports that are shared at any time (docs/shares.md). Types only, as in journey/shapes.ts. */
import type { Environment, ReportProduct } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { SecondaryUser } from '../../model/secondary-user.ts';
import type { HoldStatus, RefusedMessage, ResolveInquiryMessage, TerminalState } from '../journey/shapes.ts';

/** A report in the ledger: the newest of its owner and product, unless a trace number names another. */
export type StoredReportInput = ({ journeyId: string } | { pullId: string }) & {
  productCode: ReportProduct;
  customerTraceNumber?: string;
};

/** A report that is not in the ledger, by what its receiver had to store (interface 2.4). */
export interface GivenReportInput {
  /** `consumerId` is personal. */
  reference: ReportReference;
  /** The end user that the report was pulled for. */
  endUserCode: string;
}

/** Input of the workflow `shareReport`. */
export interface ShareReportInput extends SecondaryUser {
  shareId: string;
  /** Name of a gateway profile. Default `default`. */
  profile?: string;
  report: StoredReportInput | GivenReportInput;
  permissiblePurposeCode: string;
  /** How long the share waits for consent. Default P30D. */
  awaitConsentFor?: string;
  /** How old a grant may be when an attempt is scheduled. Default: any age. */
  consentValidFor?: string;
}

/** The source of the report: an inquiry in the ledger, or what the caller has given and the ledger does not have. */
export type ReportSource =
  | { kind: 'ledger'; ownerId: string; productCode: ReportProduct; customerTraceNumber: string }
  | { kind: 'given' };

export const SHARE_REPORT_OUTCOMES = [
  'posted',
  /** On hold, then accepted by a person as not posted. */
  'notPosted',
  'denied',
  'revoked',
  'expired',
  'reportGone',
  'abandoned',
  'withdrawn',
] as const;
export type ShareReportOutcome = (typeof SHARE_REPORT_OUTCOMES)[number];
export type ShareReportState = 'running' | 'waitingForConsent' | 'held' | ShareReportOutcome | TerminalState;

/** Answer of the query `status`: nothing personal. */
export interface ShareReportStatus {
  shareId: string;
  environment: Environment | null;
  state: ShareReportState;
  /** What the share waits for, in words: the consents, the decision or the retry. */
  waitingFor?: string;
  /** Present once the input was checked. */
  report?: ReportSource;
  /** `applicantId` of each applicant without a standing grant. */
  consentsMissing: string[];
  /** When the wait for consents ends. */
  until?: string;
  attempts: number;
  customerTraceNumber?: string;
  /** The share's own number, which differs from the report's (interface 2.7). */
  reportReferenceNumber?: string;
  /** A refusal came after the share was posted. */
  attention?: 'revokedAfterPosting';
  holds: HoldStatus[];
  /** The last 50. */
  refusedMessages: RefusedMessage[];
  refusedMessagesTotal: number;
}

/** Result of the workflow `shareReport`. */
export interface ShareReportResult {
  shareId: string;
  environment: Environment;
  outcome: ShareReportOutcome;
  report: ReportSource;
  sharedWith: SecondaryUser;
  attempts: number;
  customerTraceNumber?: string;
  reportReferenceNumber?: string;
  attention?: 'revokedAfterPosting';
}

/** Without `amend`, which has nothing to correct: a share sends a reference, not applicants. */
export interface ResolveShareReportMessage extends Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'> {
  shareId: string;
}

export interface WithdrawShareReportMessage {
  shareId: string;
  by: string;
  reason: string;
}

/** Answer of every update: the message was accepted. It does not say that the gateway has answered. */
export interface ShareReportUpdateAnswer {
  accepted: true;
  duplicate: boolean;
  status: ShareReportStatus;
  /**
   * Answer to a consent or a decision. `false`: the ledger could not be reached. The run keeps the message and tries
   * again.
   */
  recorded?: boolean;
  /** Answer to a consent only: its share has not been requested yet. The consent is kept. */
  unmatched?: 'share';
}

/** Answer of the query `references`; `consumerId` is personal. */
export interface ShareReportReferences {
  shareId: string;
  /** The reference of the shared report; absent until the report was found. */
  report?: ReportReference;
  /** The share's own number. */
  reportReferenceNumber?: string;
}
