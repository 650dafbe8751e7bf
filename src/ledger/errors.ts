/** The ledger could not be reached, or did not answer in time. Whatever was asked counts as not done. */
export class LedgerUnavailableError extends Error {
  override readonly name: string = 'LedgerUnavailableError';
}

/** The ledger that answers is not the one that was asked for (another file, another environment, a backup). */
export class LedgerChangedError extends Error {
  override readonly name = 'LedgerChangedError';
}

/** There is no ledger at the configured address, and this process may not make one. */
export class LedgerNotFoundError extends Error {
  override readonly name = 'LedgerNotFoundError';
}

/** The ledger's tables are older or newer than this version of the code can work on. */
export class LedgerSchemaError extends Error {
  override readonly name = 'LedgerSchemaError';
}

/**
 * The ledger takes writes from a newer version on: it has a fence by now that this program does not keep. As if it could
 * not be reached: what is to be written waits for a newer program.
 */
export class WriterTooOldError extends LedgerUnavailableError {
  override readonly name = 'WriterTooOldError';

  constructor() {
    super('the ledger takes nothing more from programs of this version: run a newer one');
  }
}

/** The report that was asked for was disposed of: neither its text nor its key is left. */
export class DisposedError extends Error {
  override readonly name = 'DisposedError';
  /** RFC 3339. */
  readonly disposedAt: string;

  constructor(disposedAt: string) {
    super('the report was disposed of');
    this.disposedAt = disposedAt;
  }
}

/** Another request was made under this trace number: its outcome belongs to nobody else. */
export class RequestDiffersError extends Error {
  override readonly name = 'RequestDiffersError';
}
