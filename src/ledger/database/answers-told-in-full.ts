/** The tables of version 10: what answers say beside their outcomes, and what people decide about shares and profiles. */
import { namesIndexed } from './names-index.ts';
import { runDecisionTable } from './run-decision-table.ts';
import type { SqlDialect } from './sql-session.ts';
import { subsetShares } from './subset-shares.ts';
import { workForPeople } from './work-for-people.ts';

export function answersToldInFull(dialect: SqlDialect): string[] {
  return [
    ...returnDetails(),
    ...refusalBodies(dialect),
    ...reportAccesses(dialect),
    ...withdrawnShares(dialect),
    ...approvedProfileChanges(dialect),
    ...workForPeople(dialect),
    ...subsetShares(dialect),
    ...runDecisionTable(dialect),
    ...namesIndexed(),
  ];
}

function returnDetails(): string[] {
  return [
    'ALTER TABLE attempts ADD COLUMN return_reason_code TEXT',
    // A JSON list. NULL: no applicant was answered by itself.
    'ALTER TABLE attempts ADD COLUMN applicant_outcomes TEXT',
    // Of an answer that came after its attempt was superseded.
    'ALTER TABLE attempts ADD COLUMN late_return_code TEXT',
    'ALTER TABLE attempts ADD COLUMN late_return_reason_code TEXT',
    'ALTER TABLE attempts ADD COLUMN late_applicant_outcomes TEXT',
  ];
}

function refusalBodies(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE refusal_bodies (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- 1: came after the attempt was superseded.
      late BIGINT NOT NULL,
      http_status BIGINT,
      -- 0: kept as far as it could be read.
      is_whole BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      algorithm TEXT NOT NULL,
      body ${dialect.bytes},
      key_id TEXT,
      wrapped_key ${dialect.bytes},
      PRIMARY KEY (customer_trace_number, attempt, late),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX refusal_bodies_by_key ON refusal_bodies (key_id)',
    ...dialect.guardRows('refusal_bodies', 'keepRows'),
  ];
}

function reportAccesses(dialect: SqlDialect): string[] {
  return [
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
    ...dialect.guardRows('report_accesses', 'appendOnly'),
  ];
}

/** Shares that a platform has taken back before they were sent. */
function withdrawnShares(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE withdrawn_shares (
      caller_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      -- The share that takes its place. NULL: none does.
      replaced_by TEXT,
      withdrawn_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (caller_id, share_id)
    )`,
    ...dialect.guardRows('withdrawn_shares', 'appendOnly'),
  ];
}

/** Changes of a gateway profile under which runs from before go on. */
function approvedProfileChanges(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE approved_profile_changes (
      profile TEXT NOT NULL,
      from_fingerprint TEXT NOT NULL,
      to_fingerprint TEXT NOT NULL,
      -- The profile as it is after the change.
      token_url TEXT NOT NULL,
      request_url TEXT NOT NULL,
      audience TEXT NOT NULL,
      approved_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (profile, from_fingerprint, to_fingerprint)
    )`,
    ...dialect.guardRows('approved_profile_changes', 'appendOnly'),
  ];
}
