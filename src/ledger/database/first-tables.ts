/** The tables of version 1: the ledger's identity, inquiries, attempts, decisions, consents and reports. */
import type { SqlDialect } from './sql-session.ts';

export function firstTables(dialect: SqlDialect): string[] {
  return [
    'CREATE TABLE ledger_schema (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)',
    ...identityTable(dialect),
    ...inquiryTables(dialect),
    ...decisionTables(dialect),
    ...reportTables(dialect),
    ...dialect.triggerPrelude,
    // The fence depends on these rows: not one may be deleted, even by mistake.
    ...dialect.guardRows('ledger_identity', 'keepRows'),
    ...dialect.guardRows('inquiries', 'keepRows'),
    ...dialect.guardRows('attempts', 'keepRows'),
    ...dialect.guardRows('decisions', 'appendOnly'),
    ...dialect.guardRows('consents', 'appendOnly'),
    ...dialect.guardRows('attempt_consents', 'appendOnly'),
  ];
}

function identityTable({ bytes }: SqlDialect): string[] {
  return [
    `CREATE TABLE ledger_identity (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      ledger_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      -- The ledger's own secret, wrapped by the key ring: LedgerCipher derives the digest key from it.
      secret_key_id TEXT NOT NULL,
      secret_wrapped ${bytes} NOT NULL
    )`,
  ];
}

function inquiryTables({ bytes }: SqlDialect): string[] {
  return [
    `CREATE TABLE inquiries (
      customer_trace_number TEXT PRIMARY KEY,
      environment TEXT NOT NULL,
      profile TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      workflow_type TEXT NOT NULL,
      caller_id TEXT NOT NULL,
      product_code TEXT NOT NULL,
      share_id TEXT,
      ordinal BIGINT NOT NULL,
      end_user_code TEXT,
      end_user TEXT,
      permissible_purpose_code TEXT,
      amends TEXT,
      -- NULL until the first claim.
      digest TEXT,
      created_at BIGINT NOT NULL,
      workflow_id TEXT,
      run_id TEXT,
      abandoned_at BIGINT,
      late_answer_at BIGINT,
      late_consent_at BIGINT,
      legal_hold_at BIGINT,
      legal_hold_by TEXT,
      legal_hold_reason TEXT,
      disposed_at BIGINT,
      disposed_by TEXT,
      disposed_reason TEXT
    )`,
    'CREATE INDEX inquiries_of_caller ON inquiries (caller_id, product_code)',
    // LedgerCipher seals the "answer" columns: a reference holds consumer ids. "outcome" sums a report up.
    `CREATE TABLE attempts (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      attempt BIGINT NOT NULL CHECK (attempt >= 1),
      state TEXT NOT NULL,
      claimed_at BIGINT NOT NULL,
      send_by BIGINT NOT NULL,
      answer_by BIGINT NOT NULL,
      workflow_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      permitted_by TEXT,
      requested_at BIGINT,
      recorded_at BIGINT,
      http_status BIGINT,
      failure_type TEXT,
      retry_after_ms BIGINT,
      answer_kind TEXT,
      outcome TEXT,
      return_code TEXT,
      answer ${bytes},
      accepted_by TEXT,
      accepted_answer ${bytes},
      late_at BIGINT,
      late_state TEXT,
      late_requested_at BIGINT,
      late_http_status BIGINT,
      late_failure_type TEXT,
      late_outcome TEXT,
      late_answer ${bytes},
      PRIMARY KEY (customer_trace_number, attempt)
    )`,
    'CREATE INDEX attempts_by_state ON attempts (state, claimed_at)',
    'CREATE INDEX attempts_by_time ON attempts (claimed_at)',
  ];
}

function decisionTables({ bytes }: SqlDialect): string[] {
  return [
    `CREATE TABLE decisions (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      decision_id TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      action TEXT NOT NULL,
      decided_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      provider_said TEXT NOT NULL,
      failure_type TEXT,
      answer ${bytes},
      decided_at TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      permits_attempt BIGINT,
      PRIMARY KEY (customer_trace_number, decision_id),
      -- One resend for each attempt: the first one wins.
      UNIQUE (customer_trace_number, permits_attempt)
    )`,
    `CREATE TABLE consents (
      journey_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      applicant_id TEXT NOT NULL,
      consent_id TEXT NOT NULL,
      decision TEXT NOT NULL,
      decided_at TEXT NOT NULL,
      end_user_code TEXT,
      end_user TEXT,
      evidence TEXT,
      received_at TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (journey_id, share_id, applicant_id, consent_id, decision)
    )`,
    `CREATE TABLE attempt_consents (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      journey_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      applicant_id TEXT NOT NULL,
      consent_id TEXT NOT NULL,
      PRIMARY KEY (customer_trace_number, attempt, applicant_id, consent_id),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
  ];
}

function reportTables({ bytes }: SqlDialect): string[] {
  return [
    `CREATE TABLE reports (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- 1: came after the attempt was superseded. Kept, and never returned as its report.
      late BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      algorithm TEXT NOT NULL,
      body ${bytes},
      key_id TEXT,
      wrapped_key ${bytes},
      PRIMARY KEY (customer_trace_number, attempt, late),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX reports_by_key ON reports (key_id)',
  ];
}
