/** Who shared what with whom, when and under whose consent: shapes. Nothing personal, and no reference. */

import type { ConsentRecord } from '../consent/consent-record.ts';
import type { AuditedAttempt } from './inquiry-audit.ts';

/** Each condition narrows it further; without any, everything. */
export interface SharesQuery {
  /** RFC 3339: claimed then or later. */
  from?: string;
  /** RFC 3339: claimed before then. */
  before?: string;
  /** On either side: who shared, or with whom; by code or name. */
  endUser?: string;
  /** Of the report that was shared: its `reportReferenceNumber`, or the trace number of its inquiry. */
  report?: string;
  /** The owner (model/owner-id.ts) of the report, or of the share. */
  ownerId?: string;
}

/** The report, where the ledger knows it. */
export interface SharedReportView {
  customerTraceNumber: string;
  /** Of its inquiry. */
  callerId: string;
  productCode: AuditedAttempt['productCode'];
  endUserCode?: string;
}

/** The consents that it was posted under, as they stand in the ledger. */
export type ShareConsent = Pick<
  ConsentRecord,
  'journeyId' | 'shareId' | 'applicantId' | 'consentId' | 'decidedAt' | 'evidence'
>;

export interface AuditedShare extends Omit<AuditedAttempt, 'consents'> {
  /** `null`: it was given in full, or shared before the ledger kept which report it was. */
  report: SharedReportView | null;
  /** Whose report it is: of its inquiry, or as the caller said. */
  sharedBy?: string;
  consents: ShareConsent[];
}
