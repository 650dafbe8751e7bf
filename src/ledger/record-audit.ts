/** What people decided, consented to and disposed of, for analysts: shapes. Nothing personal, and no reference. */
import type { ConsentRecord } from '../consent/consent-record.ts';
import type { DecisionAction, FailureType } from '../model/failure-types.ts';
import type { InquiryDescription } from '../model/inquiry.ts';
import type { Unmatched } from './kept-consents.ts';
import type { ReadersReach } from './readers-reach.ts';
import type { DecisionRecord, ShareWithdrawal, StandingShareWithdrawal } from './records.ts';
import type { RetentionEvent } from './retention.ts';
import type { RunDecision } from './run-decisions.ts';

/**
 * Conditions, all of which a row must meet; without any, every row. Instants by the database's clock. A reader's reach
 * leaves out runs of which the ledger knows that they are another's.
 */
export interface RecordsQuery extends ReadersReach {
  /** RFC 3339: recorded then or later. */
  from?: string;
  /** RFC 3339: recorded before then. */
  before?: string;
  /** The owner (model/owner-id.ts) of the inquiry, the consent or the disposal. */
  ownerId?: string;
}

export interface DecisionsQuery extends RecordsQuery {
  customerTraceNumber?: string;
  /** The person who decided, as it was written. */
  by?: string;
}

/**
 * A person's decision, with its inquiry; `seen` takes late news off the list, and permits nothing. One about a run has no
 * inquiry: its `productCode` is the stage that it is about.
 */
export interface AuditedDecision
  extends Pick<InquiryDescription, 'ownerId'>,
    Partial<Pick<InquiryDescription, 'customerTraceNumber' | 'productCode' | 'profile'>>,
    Pick<InquiryDescription, 'shareId' | 'endUserCode' | 'endUser'>,
    Pick<RunDecision, 'until'>,
    Pick<DecisionRecord, 'decisionId' | 'by' | 'reason' | 'provenBy'> {
  action: DecisionAction | 'seen' | RunDecision['action'];
  /** The attempt that it judges. */
  attempt?: number;
  providerSaid?: DecisionRecord['providerSaid'];
  /** Why the inquiry was on hold. */
  failureType?: FailureType;
  /** By the decider's clock; where a run took the decision, when it came to the run. */
  decidedAt?: string;
  recordedAt: string;
}

/** One message of an applicant about one share, whether or not anything was posted under it. */
export interface AuditedConsent
  extends Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId' | 'decision' | 'decidedAt'>,
    Pick<ConsentRecord, 'evidence' | 'receivedAt' | 'proof'> {
  endUserCode?: string;
  endUser?: string;
  recordedAt: string;
  /** The attempts that it permitted: 0 where nothing was sent under it. */
  permittedAttempts: number;
  /** What of it the ledger did not know when it was last looked at. */
  unmatched?: Unmatched;
}

/** A share that was taken back before it was sent: who, when and why. */
export type AuditedShareWithdrawal = ShareWithdrawal & Pick<StandingShareWithdrawal, 'recordedAt'>;

/** A record that has the name that was asked for, and whose it is. */
export interface NamedRecord {
  what: 'inquiry' | 'share' | 'decision';
  ownerId: string;
  customerTraceNumber?: string;
  shareId?: string;
}

/** A disposal or a legal hold: who, when and why. */
export type AuditedDisposal = RetentionEvent;
