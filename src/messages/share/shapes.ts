/** The JSON of reports that are shared at any time (docs/shares.md). Shapes, as in shapes.ts. */
import type { Environment, ReportProduct } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { SecondaryUser } from '../../model/secondary-user.ts';
import type { EndWithoutOutcome, HoldStatus, RefusedMessage, ResolveInquiryMessage } from '../journey/shapes.ts';

/** A report that the ledger has: the newest of its owner and product, unless its trace number says which. */
export type StoredReportInput = ({ journeyId: string } | { pullId: string }) & {
  productCode: ReportProduct;
  customerTraceNumber?: string;
};

/** A report by what its receiver had to store (interface 2.4). */
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

/** Where the report is from: an inquiry in the ledger, or what the caller has given and the ledger does not know. */
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
export type ShareReportState = 'running' | 'waitingForConsent' | 'held' | ShareReportOutcome | EndWithoutOutcome;

/** Answer of the query `status`: nothing personal. */
export interface ShareReportStatus {
  shareId: string;
  environment: Environment | null;
  state: ShareReportState;
  /** The consents, the decision or the retry that is waited for, in words. */
  waitingFor?: string;
  /** Once the input was checked. */
  report?: ReportSource;
  /** `applicantId` of those whose grant does not stand yet. */
  consentsMissing: string[];
  /** Until when it waits for them. */
  until?: string;
  attempts: number;
  customerTraceNumber?: string;
  /** Of the share itself: it differs from the report's (interface 2.7). */
  reportReferenceNumber?: string;
  /** A refusal came when it was posted already. */
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

/** `amend` has nothing to correct: a share sends a reference, not applicants. */
export interface ResolveShareReportMessage extends Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'> {
  shareId: string;
}

export interface WithdrawShareReportMessage {
  shareId: string;
  by: string;
  reason: string;
}

/** Answer of every update: accepted, not answered by the gateway. */
export interface ShareReportUpdateAnswer {
  accepted: true;
  duplicate: boolean;
  status: ShareReportStatus;
  /** Answer to a consent or a decision. `false`: the ledger could not be reached; the run keeps it and goes on writing. */
  recorded?: boolean;
  /** Answer to a consent only: nobody has requested its share yet. The consent is kept. */
  unmatched?: 'share';
}

/** Answer of the query `references`; `consumerId` is personal. */
export interface ShareReportReferences {
  shareId: string;
  /** Of the report that is shared; absent until it was found. */
  report?: ReportReference;
  /** Of the share itself. */
  reportReferenceNumber?: string;
}
