/** Reports and references from the ledger itself, as the codec server gives them out. */
import type { SealedChanges } from '../changes/sealed-changes.ts';
import { JourneyDisposedError } from '../client/connection/errors.ts';
import type { StoredReports } from '../client/reports/stored-report.ts';
import { DisposedError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/port.ts';

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
      const { referencesOf } = await import('../ledger/ledger-references.ts');
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
