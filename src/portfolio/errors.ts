/** What the portfolio's files throw. Never with a value, and never with a path of the machine. */

/** The file is not the one that the review began with. Nothing more may be sent for it. */
export class PortfolioChangedError extends Error {
  override readonly name = 'PortfolioChangedError';
  constructor() {
    super('the portfolio file is not the one that the review began with');
  }
}

/** The file, or the directory, cannot be read or written here and now: another try may do. */
export class PortfolioUnavailableError extends Error {
  override readonly name = 'PortfolioUnavailableError';
  /** Such as `ENOENT`; `PORTFOLIO_DIR` where this worker was given none. */
  readonly code: string;
  constructor(code: string) {
    super(
      code === 'PORTFOLIO_DIR'
        ? 'this worker has no PORTFOLIO_DIR'
        : `the portfolio’s files cannot be reached (${code})`,
    );
    this.code = code;
  }
}

/** Whatever the file system said, without its path. */
export function unavailable(error: unknown): PortfolioUnavailableError {
  const { code } = error as { code?: unknown };
  return new PortfolioUnavailableError(typeof code === 'string' && /^E[A-Z0-9]{1,20}$/.test(code) ? code : 'unknown');
}
