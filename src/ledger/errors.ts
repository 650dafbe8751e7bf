import { CreditJourneyError } from '../model/credit-journey-error.ts';

/** Thrown when the ledger could not be reached, or did not answer in time. The operation counts as not done. */
export class LedgerUnavailableError extends CreditJourneyError {
  override readonly code: string = 'ledgerUnavailable';
}

/** Thrown when another ledger answers than the expected one (another file, another environment, a backup). */
export class LedgerChangedError extends CreditJourneyError {
  override readonly code = 'ledgerChanged';
}

/** Thrown when the configured address has no ledger, and this process may not make one. */
export class LedgerNotFoundError extends CreditJourneyError {
  override readonly code = 'ledgerNotFound';

  constructor(what: string) {
    super(
      `${what}: check LEDGER_URL, or run \`credit-journey setup\` without LEDGER_ID, which makes a ledger (the database itself, on ` +
        'PostgreSQL, is made by its administrator). A journey that began on another ledger will not continue on a new one',
    );
  }
}

/** Thrown when the ledger's tables are older or newer than this version of the code can work on. */
export class LedgerSchemaError extends CreditJourneyError {
  override readonly code = 'ledgerSchema';
}

/**
 * Thrown when an older copy of the ledger, which no operator has accepted, may lack the requested data. It counts as an
 * unreachable ledger: the question waits for a person.
 */
export class LedgerRestoredError extends LedgerUnavailableError {
  override readonly code = 'ledgerRestored';
}

/**
 * Thrown when the ledger only takes writes from newer programs: it has a fence that this program does not keep. It
 * counts as an unreachable ledger: the write waits for a newer program.
 */
export class WriterTooOldError extends LedgerUnavailableError {
  override readonly code = 'writerTooOld';

  constructor() {
    super('the ledger accepts nothing more from programs of this version: run a newer one');
  }
}

/** Thrown when the report was disposed of: neither its text nor its key is left. */
export class DisposedError extends CreditJourneyError {
  override readonly code = 'disposed';
  /** RFC 3339. */
  readonly disposedAt: string;

  constructor(disposedAt: string) {
    super('the report was disposed of');
    this.disposedAt = disposedAt;
  }
}

/** Thrown when another request was made under this trace number: its outcome belongs to that request alone. */
export class RequestDiffersError extends CreditJourneyError {
  override readonly code = 'requestDiffers';
}
