/** Stored reports and references as they are given out, by whichever source a client has. */
import type { SealedChanges } from '../../changes/sealed-changes.ts';
import type { JourneyReferences } from '../../messages/journey/shapes.ts';
import type { ConsumerResult } from '../../messages/pull/shapes.ts';
import type { ProductCode } from '../../model/products.ts';
import type { ProviderText, ReportReference } from '../../model/report-outcome.ts';

/** A report as the gateway answered it. Personal throughout, and masked in part where `redacted`. */
export interface JourneyReport {
  customerTraceNumber: string;
  productCode: ProductCode;
  attempt: number;
  /** RFC 3339. */
  storedAt: string;
  /** The codec server has masked what is personal: not to be stored or sent on as the report. */
  redacted: boolean;
  /** The answer's JSON (interface 2.4, 2.5). */
  report: unknown;
}

/** What changed between two reports of a journey. Personal throughout, and masked in part where `redacted`. */
export interface JourneyChanges {
  /** Of the later report. */
  customerTraceNumber: string;
  attempt: number;
  /** RFC 3339. */
  storedAt: string;
  /** The codec server has masked what is personal. */
  redacted: boolean;
  changes: SealedChanges;
}

/** What has to be stored for later shares. `consumerId` is personal, and masked where `redacted`. */
export interface StoredReferences extends Omit<JourneyReferences, 'references' | 'said'> {
  references: {
    productCode: ProductCode;
    /** Where the run itself is gone. */
    customerTraceNumber?: string;
    reference: ReportReference;
  }[];
  /** Of FAILSAFE. */
  consumers?: ConsumerResult[];
  /** The provider's words beside its codes. They may name a person, and are masked where `redacted`. */
  said?: ({ productCode: ProductCode; applicantId?: string } & ProviderText)[];
  /** The codec server has masked `consumerId`: not to be stored. */
  redacted: boolean;
}

/**
 * Reads what outlives the run. `undefined` where there is no such report or journey; `JourneyDisposedError` where it
 * was disposed of.
 */
export interface StoredReports {
  report(journeyId: string, productCode: ProductCode, customerTraceNumber?: string): Promise<JourneyReport | undefined>;
  /** Of the newest report that was compared. */
  changes(journeyId: string): Promise<JourneyChanges | undefined>;
  references(journeyId: string): Promise<StoredReferences | undefined>;
}
