/** Consents as they were given, those that a claim was made under, and those that no run has received. */
import type { SqlDialect } from '../sql-session.ts';

export function consentTables({ guardRows }: SqlDialect): string[] {
  return [
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
      proof TEXT,
      received_at TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (journey_id, share_id, applicant_id, consent_id, decision)
    )`,
    'CREATE INDEX consents_by_share ON consents (share_id)',
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
    'CREATE INDEX attempt_consents_of_share ON attempt_consents (journey_id, share_id)',
    // Consents that no run has received, or whose share no run knew when it received them. Their run finds them later.
    `CREATE TABLE kept_consents (
      journey_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      applicant_id TEXT NOT NULL,
      consent_id TEXT NOT NULL,
      decision TEXT NOT NULL,
      kept_at BIGINT NOT NULL,
      -- What of it is not known: journey, share or applicant. NULL: it matches.
      unmatched TEXT,
      listed_from BIGINT NOT NULL,
      -- The first run of the chain that was told. NULL: none was.
      told_to TEXT,
      -- Of a grant: why the run that received it does not count it any more.
      fault TEXT,
      seen_at BIGINT,
      seen_by TEXT,
      seen_reason TEXT,
      PRIMARY KEY (journey_id, share_id, applicant_id, consent_id, decision),
      FOREIGN KEY (journey_id, share_id, applicant_id, consent_id, decision) REFERENCES consents
    )`,
    'CREATE INDEX kept_consents_unmatched ON kept_consents (kept_at) WHERE unmatched IS NOT NULL AND seen_at IS NULL',
    ...guardRows('consents', 'appendOnly'),
    ...guardRows('attempt_consents', 'appendOnly'),
    ...guardRows('kept_consents', 'keepRows'),
  ];
}
