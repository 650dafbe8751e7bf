/** Reports and references from the ledger itself, as the codec server gives them out. */
import { userInfo } from 'node:os';
import { defined } from '../base/defined.ts';
import { parseJson } from '../base/json-safety.ts';
import type { SealedChanges } from '../changes/sealed-changes.ts';
import { JourneyDisposedError } from '../client/connection/errors.ts';
import type { ReportReader, StoredReports } from '../client/reports/stored-report.ts';
import { DisposedError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/port.ts';
import { type Reader, readerProblems } from '../ledger/reading.ts';
import { InvalidInputError } from '../model/problems.ts';

/** Reads reports from the ledger, for programs that may open it. */
export function ledgerReports(openLedger: () => Promise<Ledger>): StoredReports {
  return {
    async report(journeyId, productCode, { customerTraceNumber, ...reader } = {}) {
      const ledger = await openLedger();
      const wanted = { ownerId: journeyId, productCode, ...defined({ customerTraceNumber }) };
      const stored = await ledger.reading.report(wanted, readerOf(reader)).catch(disposedOf(journeyId));
      if (!stored) return undefined;
      const { body, ...about } = stored;
      return { ...about, redacted: false, report: parsed(body) };
    },
    async refusal(customerTraceNumber, attempt, reader = {}) {
      const ledger = await openLedger();
      const of = { customerTraceNumber, attempt };
      const stored = await ledger.reading.refusal(of, readerOf(reader)).catch(disposedOf(customerTraceNumber));
      return stored ? { ...stored, redacted: false, body: jsonOrText(stored.body) } : undefined;
    },
    async changes(journeyId, reader = {}) {
      const ledger = await openLedger();
      const stored = await ledger.reading.changes(journeyId, readerOf(reader)).catch(disposedOf(journeyId));
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

/** @throws InvalidInputError */
function readerOf({ by, purpose, endUser }: ReportReader): Reader {
  const problems = readerProblems(defined({ by, purpose, endUser }));
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { by: by ?? systemUser(), via: 'ledger', ...defined({ purpose, endUser }) };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
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

function jsonOrText(body: string): unknown {
  const json = parseJson(body);
  return json ? json[0] : body;
}
