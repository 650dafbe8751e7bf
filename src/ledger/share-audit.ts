/** The audit of shares: sharer, receiver, time and consents (shapes). Nothing personal, and no reference. */

import type { ConsentRecord } from '../consent/consent-record.ts';
import type { AuditedAttempt } from './inquiry-audit.ts';
import type { ReadersReach } from './readers-reach.ts';

/** Conditions, all of which a share must meet; without any, every share. */
export interface SharesQuery extends ReadersReach {
  /** RFC 3339: claimed then or later. */
  from?: string;
  /** RFC 3339: claimed before then. */
  before?: string;
  /** On either side: the sharing or the receiving end user, by code or name. */
  endUser?: string;
  /** The shared report: its `reportReferenceNumber`, or the trace number of its inquiry. */
  report?: string;
  /** The owner (model/owner-id.ts) of the report, or of the share. */
  ownerId?: string;
}

/** The report, where the ledger knows it. */
export interface SharedReportView {
  customerTraceNumber: string;
  /** Of its inquiry. */
  ownerId: string;
  productCode: AuditedAttempt['productCode'];
  endUserCode?: string;
}

/** The consents that it was posted under, as the ledger has them. */
export type ShareConsent = Pick<
  ConsentRecord,
  'journeyId' | 'shareId' | 'applicantId' | 'consentId' | 'decidedAt' | 'evidence'
>;

export interface AuditedShare extends Omit<AuditedAttempt, 'consents'> {
  /** `null`: the caller gave the report in full, or the share is from before the ledger recorded reports of shares. */
  report: SharedReportView | null;
  /** The report's end user, from its inquiry or from the caller. */
  sharedBy?: string;
  consents: ShareConsent[];
}
