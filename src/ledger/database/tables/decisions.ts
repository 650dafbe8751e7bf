/** What people decide: about attempts, about runs, and that they have seen what was flagged. */
import type { SqlDialect } from '../sql-session.ts';

export function decisionTables({ guardRows }: SqlDialect): string[] {
  return [
    // The answer of an `accept` is kept with its attempt, where it can be destroyed: a decision is never changed.
    `CREATE TABLE decisions (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      decision_id TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      action TEXT NOT NULL,
      decided_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      provider_said TEXT NOT NULL,
      failure_type TEXT,
      decided_at TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      permits_attempt BIGINT,
      -- 1: a person has confirmed these consumerIds, although the ledger knows them from other people's inquiries.
      confirms_consumers BIGINT,
      -- The id of the key that has signed the decision. NULL: it came without a proof.
      proven_by TEXT,
      PRIMARY KEY (customer_trace_number, decision_id),
      -- One resend for each attempt: the first one wins.
      UNIQUE (customer_trace_number, permits_attempt)
    )`,
    'CREATE INDEX decisions_by_id ON decisions (decision_id)',
    `CREATE TABLE run_decisions (
      owner_id TEXT NOT NULL,
      decision_id TEXT NOT NULL,
      -- From 1, as text. Another one only where other content came under the id: a run that was reset has forgotten the first.
      version TEXT NOT NULL,
      -- extend, skip, acceptAge, seen, withdraw, pause, resume or cancel
      action TEXT NOT NULL,
      stage TEXT,
      share_id TEXT,
      wait_until TEXT,
      decided_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      decided_at TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (owner_id, decision_id, version)
    )`,
    'CREATE INDEX run_decisions_by_id ON run_decisions (decision_id)',
    `CREATE TABLE attention_seen (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      decision_id TEXT NOT NULL,
      seen_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      seen_at BIGINT NOT NULL,
      PRIMARY KEY (customer_trace_number, decision_id)
    )`,
    'CREATE INDEX attention_seen_by_id ON attention_seen (decision_id)',
    ...guardRows('decisions', 'appendOnly'),
    ...guardRows('run_decisions', 'appendOnly'),
    ...guardRows('attention_seen', 'appendOnly'),
  ];
}
