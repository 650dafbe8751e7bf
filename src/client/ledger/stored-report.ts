/** Stored reports and references as they are given out, and where they come from. */
import type { SealedChanges } from '../../changes/sealed-changes.ts';
import { DisposedError } from '../../ledger/errors.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { JourneyReferences } from '../../messages/journey/shapes.ts';
import type { ConsumerResult } from '../../messages/pull/shapes.ts';
import type { ProductCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { JourneyDisposedError } from '../connection/errors.ts';

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
export interface StoredReferences extends Omit<JourneyReferences, 'references'> {
  references: {
    productCode: ProductCode;
    /** Where the run itself is gone. */
    customerTraceNumber?: string;
    reference: ReportReference;
  }[];
  /** Of FAILSAFE. */
  consumers?: ConsumerResult[];
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

/** Reads reports from the ledger, for programs that may open it. */
export function ledgerReports(openLedger: () => Promise<Ledger>): StoredReports {
  return {
    async report(journeyId, productCode, customerTraceNumber) {
      const ledger = await openLedger();
      const stored = await ledger.readReport(journeyId, productCode, customerTraceNumber).catch(disposedOf(journeyId));
      if (!stored) return undefined;
      const { body, ...about } = stored;
      return { ...about, redacted: false, report: parsed(body) };
    },
    async changes(journeyId) {
      const ledger = await openLedger();
      const stored = await ledger.readDerived(journeyId, 'changes').catch(disposedOf(journeyId));
      if (!stored) return undefined;
      const { body, of, storedAt } = stored;
      return { ...of, storedAt, redacted: false, changes: parsed(body) as SealedChanges };
    },
    async references(journeyId) {
      const inquiries = await (await openLedger()).inquiriesOf(journeyId);
      if (inquiries.length === 0) return undefined;
      if (inquiries.every(({ disposedAt }) => disposedAt !== undefined)) throw new JourneyDisposedError(journeyId);
      // As the codec server makes them; loaded when needed.
      const { referencesOf } = await import('../../ledger/ledger-references.ts');
      return { ...referencesOf(journeyId, inquiries), redacted: false };
    },
  };
}

function disposedOf(journeyId: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof DisposedError ? new JourneyDisposedError(journeyId) : error;
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's own message quotes the report.
    throw new Error('the stored report is not JSON');
  }
}
