/** Inquiries and their attempts: the fence. Not one of these rows may be deleted, even by mistake. */
import type { SqlDialect } from '../sql-session.ts';

export function inquiryTables({ bytes, guardRows }: SqlDialect): string[] {
  return [
    `CREATE TABLE inquiries (
      customer_trace_number TEXT PRIMARY KEY,
      environment TEXT NOT NULL,
      profile TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      workflow_type TEXT NOT NULL,
      owner_id TEXT NOT NULL,
      product_code TEXT NOT NULL,
      share_id TEXT,
      ordinal BIGINT NOT NULL,
      end_user_code TEXT,
      end_user TEXT,
      permissible_purpose_code TEXT,
      amends TEXT,
      -- Of the applicants, by the caller's ids (["1A"]). An accepted reference is compared with them, and each outcome names them.
      applicant_ids TEXT,
      -- NULL until the first claim.
      digest TEXT,
      -- The version of the canonical form (model/canonical-request.ts) that the digest was made in.
      digest_version TEXT,
      -- NULL until the first claim: an inquiry that only has decisions takes no key. See repeatOf in claim.ts.
      permitted_repeat BIGINT,
      created_at BIGINT NOT NULL,
      workflow_id TEXT,
      run_id TEXT,
      abandoned_at BIGINT,
      late_answer_at BIGINT,
      late_consent_at BIGINT,
      disposed_at BIGINT,
      disposed_by TEXT,
      disposed_reason TEXT,
      CHECK ((digest IS NULL) = (digest_version IS NULL))
    )`,
    `CREATE UNIQUE INDEX inquiries_one_number ON inquiries (environment, workflow_type, owner_id, product_code,
      (coalesce(share_id, '')), ordinal, permitted_repeat)`,
    'CREATE INDEX inquiries_of_owner ON inquiries (owner_id, product_code)',
    'CREATE INDEX inquiries_by_share ON inquiries (share_id) WHERE share_id IS NOT NULL',
    // What is late or not disposed of yet: few among many millions of rows.
    'CREATE INDEX inquiries_answered_late ON inquiries (late_answer_at) WHERE late_answer_at IS NOT NULL',
    'CREATE INDEX inquiries_revoked_late ON inquiries (late_consent_at) WHERE late_consent_at IS NOT NULL',
    'CREATE INDEX inquiries_not_disposed ON inquiries (created_at, customer_trace_number) WHERE disposed_at IS NULL',
    // LedgerCipher seals the "answer" columns: a reference holds consumer ids. "outcome" sums a report up.
    `CREATE TABLE attempts (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      attempt BIGINT NOT NULL CHECK (attempt >= 1),
      -- The place in the sequence of all attempts, by which a restored ledger is found.
      position BIGINT NOT NULL,
      state TEXT NOT NULL,
      claimed_at BIGINT NOT NULL,
      send_by BIGINT NOT NULL,
      answer_by BIGINT NOT NULL,
      -- When an attempt of unknown outcome may be sent again: until then its bytes may still arrive.
      resend_from BIGINT,
      workflow_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      permitted_by TEXT,
      -- NULL: under the inquiry's own number. See resentNumber in trace-number.ts.
      sent_trace_number TEXT,
      requested_at BIGINT,
      recorded_at BIGINT,
      http_status BIGINT,
      failure_type TEXT,
      retry_after_ms BIGINT,
      answer_kind TEXT,
      outcome TEXT,
      return_code TEXT,
      return_reason_code TEXT,
      -- A JSON list. NULL: no applicant was answered by itself.
      applicant_outcomes TEXT,
      answer ${bytes},
      accepted_by TEXT,
      accepted_answer ${bytes},
      -- Of an answer that came after its attempt was superseded.
      late_at BIGINT,
      late_state TEXT,
      late_requested_at BIGINT,
      late_http_status BIGINT,
      late_failure_type TEXT,
      late_outcome TEXT,
      late_return_code TEXT,
      late_return_reason_code TEXT,
      late_applicant_outcomes TEXT,
      late_answer ${bytes},
      PRIMARY KEY (customer_trace_number, attempt)
    )`,
    'CREATE INDEX attempts_by_state ON attempts (state, claimed_at)',
    'CREATE INDEX attempts_by_time ON attempts (claimed_at)',
    'CREATE UNIQUE INDEX attempts_by_position ON attempts (position)',
    "CREATE INDEX attempts_in_doubt ON attempts (claimed_at) WHERE state = 'answered' AND answer_kind <> 'outcome'",
    // Attempts that were closed before any claim (close.ts). They have a table of their own, so that no count of sent
    // attempts includes them.
    `CREATE TABLE closed_attempts (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      attempt BIGINT NOT NULL CHECK (attempt >= 1),
      closed_at BIGINT NOT NULL,
      workflow_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      -- The resend that it would have spent: the next attempt is made under the same.
      permitted_by TEXT,
      PRIMARY KEY (customer_trace_number, attempt)
    )`,
    ...guardRows('inquiries', 'keepRows'),
    ...guardRows('attempts', 'keepRows'),
    ...guardRows('closed_attempts', 'appendOnly'),
  ];
}
