/**
 * What is sealed, and destroyed one by one: reports, what was derived from them, and bodies of refusals. Also whose
 * references they have, and who has read them.
 */
import type { SqlDialect } from '../sql-session.ts';

export function reportTables({ bytes, guardRows }: SqlDialect): string[] {
  const sealed = `algorithm TEXT NOT NULL,
      body ${bytes},
      key_id TEXT,
      wrapped_key ${bytes}`;
  return [
    `CREATE TABLE reports (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- 1: came after the attempt was superseded. Kept, and never returned as its report.
      late BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      ${sealed},
      PRIMARY KEY (customer_trace_number, attempt, late),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX reports_by_key ON reports (key_id)',
    `CREATE TABLE derived_documents (
      -- The report that it is about.
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      kind TEXT NOT NULL,
      -- The other report that is in it.
      from_trace_number TEXT NOT NULL REFERENCES inquiries,
      from_attempt BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      ${sealed},
      PRIMARY KEY (customer_trace_number, attempt, kind),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX derived_documents_from ON derived_documents (from_trace_number)',
    'CREATE INDEX derived_documents_by_key ON derived_documents (key_id)',
    `CREATE TABLE refusal_bodies (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- 1: came after the attempt was superseded.
      late BIGINT NOT NULL,
      http_status BIGINT,
      -- 0: kept as far as it could be read.
      is_whole BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      ${sealed},
      PRIMARY KEY (customer_trace_number, attempt, late),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX refusal_bodies_by_key ON refusal_bodies (key_id)',
    // References stay sealed. Both sides hold a keyed digest of one, so that a look-up unseals nothing.
    `CREATE TABLE report_references (
      reference_digest TEXT NOT NULL,
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      PRIMARY KEY (customer_trace_number, attempt, reference_digest),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX report_references_by_digest ON report_references (reference_digest)',
    // The owner of each consumerId that the ledger knows, by a keyed digest: a disposal destroys it.
    `CREATE TABLE report_consumers (
      consumer_digest TEXT NOT NULL,
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      applicant_id TEXT NOT NULL,
      PRIMARY KEY (customer_trace_number, attempt, applicant_id, consumer_digest),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX report_consumers_by_digest ON report_consumers (consumer_digest)',
    `CREATE TABLE report_accesses (
      access_id TEXT PRIMARY KEY,
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- report, refusal or changes
      kind TEXT NOT NULL,
      accessed_by TEXT NOT NULL,
      -- ledger or codecServer
      accessed_via TEXT NOT NULL,
      -- NULL: a look. With a purpose the report was served again to its end user.
      purpose TEXT,
      -- 1: what is personal was masked.
      is_redacted BIGINT NOT NULL,
      recorded_at BIGINT NOT NULL,
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX report_accesses_by_attempt ON report_accesses (customer_trace_number, attempt)',
    ...guardRows('reports', 'keepSealed'),
    ...guardRows('refusal_bodies', 'keepSealed'),
    ...guardRows('report_references', 'appendOnly'),
    ...guardRows('report_accesses', 'appendOnly'),
  ];
}
