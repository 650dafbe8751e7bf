/** The table of shares that name fewer consumers than their report: a part of version 10. */
import type { SqlDialect } from './sql-session.ts';

export function subsetShares(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE subset_shares (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- A JSON list: the applicants of the report whom the request does not name.
      left_out TEXT NOT NULL,
      -- The provider's confirmation, as it was configured when the attempt was claimed.
      confirmation_reference TEXT NOT NULL,
      confirmed_at TEXT NOT NULL,
      PRIMARY KEY (customer_trace_number, attempt),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    ...dialect.guardRows('subset_shares', 'appendOnly'),
  ];
}
