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

/** What the gateway wrote beside a refusal. It may repeat the whole request. */
export interface StoredRefusalBody {
  customerTraceNumber: string;
  productCode: ProductCode;
  attempt: number;
  httpStatus?: number;
  /** Otherwise it is kept as far as it could be read. */
  isWhole: boolean;
  /** RFC 3339. */
  storedAt: string;
  /** The codec server has masked every text but codes. */
  redacted: boolean;
  /** JSON where it is JSON, else the text. */
  body: unknown;
}

/** Who reads, and for what. The ledger keeps a row of each reading. */
export interface ReportReader {
  /** The person or program. Default: the system's user. Where a token authenticates, its subject counts. */
  by?: string;
  /** With a purpose the report is served again to the end user that it was pulled for, without a new inquiry. */
  purpose?: string;
  /** Refused (`OtherEndUserError`) unless the report was pulled for this end user: code or name. */
  endUser?: string;
}

/** The wanted report, and its reader. */
export interface ReportRequest extends ReportReader {
  /** Of one inquiry, where a stage was repeated; else the newest. */
  customerTraceNumber?: string;
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
  report(journeyId: string, productCode: ProductCode, request?: ReportRequest): Promise<JourneyReport | undefined>;
  /** What the gateway wrote beside the refusal of an attempt, where anything of it is kept. */
  refusal(customerTraceNumber: string, attempt: number, reader?: ReportReader): Promise<StoredRefusalBody | undefined>;
  /** Of the newest report that was compared. */
  changes(journeyId: string, reader?: ReportReader): Promise<JourneyChanges | undefined>;
  references(journeyId: string): Promise<StoredReferences | undefined>;
}
