/** The ledger's tables at their first version, their indexes, and the guards on their rows. */
import type { SqlDialect } from './sql-session.ts';

export function firstTables({ bytes, refuse, triggerPrelude }: SqlDialect): string[] {
  return [
    ...triggerPrelude,

    // The ledger's identity, the version of its tables, and how it finds that it was restored.
    `CREATE TABLE ledger_identity (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      ledger_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      -- The version of these tables, and the lowest one that may write to them; 0: any.
      schema_version BIGINT NOT NULL,
      oldest_writer BIGINT NOT NULL,
      migrated_at BIGINT NOT NULL,
      -- The ledger's own secret, wrapped by the key ring: LedgerCipher derives the digest key from it.
      secret_key_id TEXT NOT NULL,
      secret_wrapped ${bytes} NOT NULL
    )`,
    // The last place in the sequence of all attempts.
    `CREATE TABLE attempt_counter (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      last_position BIGINT NOT NULL
    )`,
    'INSERT INTO attempt_counter VALUES (1, 0)',
    `CREATE TABLE ledger_restores (
      restore_id TEXT PRIMARY KEY,
      -- found: this attempt was seen, and is not here. accepted: this one was the ledger's newest then.
      kind TEXT NOT NULL,
      position BIGINT NOT NULL,
      claimed_at BIGINT NOT NULL,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL
    )`,

    // Inquiries and their attempts: the fence. Not one of these rows may be deleted, even by mistake.
    `CREATE TABLE inquiries (
      customer_trace_number TEXT PRIMARY KEY,
      environment TEXT NOT NULL,
      profile TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      workflow_type TEXT NOT NULL,
      run_key TEXT NOT NULL,
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
      -- NULL until the first claim: an inquiry that only has decisions takes no key. See repeatOf in claim.ts.
      permitted_repeat BIGINT,
      created_at BIGINT NOT NULL,
      workflow_id TEXT,
      run_id TEXT,
      abandoned_at BIGINT,
      disposed_at BIGINT,
      disposed_by TEXT,
      disposed_reason TEXT
    )`,
    `CREATE UNIQUE INDEX inquiries_one_number ON inquiries (environment, workflow_type, run_key, product_code,
      (coalesce(share_id, '')), ordinal, permitted_repeat)`,
    'CREATE INDEX inquiries_of_run ON inquiries (run_key, product_code)',
    'CREATE INDEX inquiries_by_share ON inquiries (share_id) WHERE share_id IS NOT NULL',
    // Rows that are not disposed of yet: few among many millions.
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
    // Attempts that were closed before any claim (inquiries/rules.ts). They have a table of their own, so that no count of sent
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

    // Decisions of people: about attempts, about runs, and that they have seen a flag.
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
      run_key TEXT NOT NULL,
      decision_id TEXT NOT NULL,
      -- From 1, as text. Another one only where other content came under the id: a run that was reset has forgotten the first.
      version TEXT NOT NULL,
      -- extend, skip, acceptAge, seen, withdraw, withdrawShare, pause, resume or cancel
      action TEXT NOT NULL,
      -- The inquiry whose flags were seen. NULL: the decision is about the run.
      customer_trace_number TEXT,
      stage TEXT,
      share_id TEXT,
      wait_until TEXT,
      -- The share that takes the place of a withdrawn one. NULL: none does.
      replaced_by TEXT,
      decided_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      decided_at TEXT,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (run_key, decision_id, version)
    )`,
    'CREATE INDEX run_decisions_by_id ON run_decisions (decision_id)',

    // Consents as they were given, with their state; and those that a claim was made under.
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
      -- The start that has received it: the first run of its chain. NULL: no run had.
      first_run_id TEXT,
      -- The state. A further start that has received it. NULL: none has.
      told_to TEXT,
      -- What of it is not known: journey, share or applicant. NULL: it matches.
      unmatched TEXT,
      listed_from BIGINT,
      -- Why the run that received the grant does not count it any more.
      fault TEXT,
      seen_at BIGINT,
      seen_by TEXT,
      seen_reason TEXT,
      PRIMARY KEY (journey_id, share_id, applicant_id, consent_id, decision)
    )`,
    'CREATE INDEX consents_by_share ON consents (share_id)',
    'CREATE INDEX consents_unmatched ON consents (recorded_at) WHERE unmatched IS NOT NULL AND seen_at IS NULL',
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

    // The report of each share.
    `CREATE TABLE report_shares (
      run_key TEXT NOT NULL,
      share_id TEXT NOT NULL,
      reference_digest TEXT NOT NULL,
      -- Whose report it is, where a caller said so; else the report's own inquiry tells.
      report_end_user_code TEXT,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (run_key, share_id)
    )`,
    'CREATE INDEX report_shares_of_report ON report_shares (reference_digest)',
    'CREATE INDEX report_shares_by_id ON report_shares (share_id)',

    // Sealed content, destroyed one by one. Also whose references reports have, and who has read what.
    `CREATE TABLE sealed_bodies (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- report, refusal or changes: the list of what differs between two reports
      kind TEXT NOT NULL,
      -- 1: came after the attempt was superseded. Kept, and never returned as its report.
      late BIGINT NOT NULL,
      -- The other report that is in a list of changes. For any other kind, the attempt itself.
      from_trace_number TEXT NOT NULL REFERENCES inquiries,
      from_attempt BIGINT NOT NULL,
      -- Of a refusal.
      http_status BIGINT,
      -- 0: kept as far as it could be read.
      is_whole BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      algorithm TEXT NOT NULL,
      body ${bytes},
      key_id TEXT,
      wrapped_key ${bytes},
      PRIMARY KEY (customer_trace_number, attempt, kind, late, from_trace_number, from_attempt),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX sealed_bodies_from ON sealed_bodies (from_trace_number)',
    'CREATE INDEX sealed_bodies_by_key ON sealed_bodies (key_id)',
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

    // The chain that reveals tampering with consents and decisions (audit-chain.ts), disposals, and legal holds.
    `CREATE TABLE audit_chain (
      position BIGINT PRIMARY KEY,
      row_table TEXT NOT NULL,
      -- The row's primary key, as a JSON list.
      row_key TEXT NOT NULL,
      previous TEXT NOT NULL,
      hash TEXT NOT NULL,
      UNIQUE (row_table, row_key)
    )`,
    // `migrateLedger` makes its one row, since that takes the ledger's key.
    `CREATE TABLE audit_head (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      entries BIGINT NOT NULL,
      hash TEXT NOT NULL,
      mac TEXT NOT NULL
    )`,
    `CREATE TABLE retention_events (
      event_id TEXT PRIMARY KEY,
      -- Of a disposal also one row of a review; of a hold also a review with every row that it has or will have.
      run_key TEXT NOT NULL,
      -- NULL: all of it.
      product_code TEXT,
      -- disposalBegun, historyDeleted, disposed, legalHoldSet or legalHoldReleased
      kind TEXT NOT NULL,
      -- Each hold has at most one event of either of its kinds.
      hold_id TEXT,
      matter TEXT,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      details TEXT,
      recorded_at BIGINT NOT NULL
    )`,
    'CREATE INDEX retention_events_of_run ON retention_events (run_key, kind)',
    'CREATE UNIQUE INDEX retention_holds ON retention_events (hold_id, kind) WHERE hold_id IS NOT NULL',

    // Pauses of a gateway profile or of all, and the inquiries that wait for their end.
    `CREATE TABLE inquiry_pauses (
      pause_id TEXT NOT NULL,
      -- begun or ended. Each pause has at most one row of either.
      kind TEXT NOT NULL,
      -- NULL: all profiles.
      profile TEXT,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (pause_id, kind)
    )`,
    // Inquiries whose runs `resume` wakes. Not a record: a row is deleted once its run was notified.
    `CREATE TABLE paused_inquiries (
      customer_trace_number TEXT PRIMARY KEY,
      workflow_id TEXT NOT NULL,
      profile TEXT NOT NULL,
      noted_at BIGINT NOT NULL
    )`,

    // The tables of work for people: runs that hold, and flags.
    `CREATE TABLE work_for_people (
      work_id TEXT PRIMARY KEY,
      run_key TEXT NOT NULL,
      -- held or flagged
      kind TEXT NOT NULL,
      reason TEXT NOT NULL,
      since BIGINT NOT NULL,
      profile TEXT NOT NULL,
      end_user_code TEXT,
      end_user TEXT,
      product_code TEXT,
      share_id TEXT,
      -- NULL: it is about a run, and about none of its inquiries.
      customer_trace_number TEXT,
      attempt BIGINT,
      -- What else the run says of its hold, as JSON. NULL: the ledger's own rows say it.
      details TEXT,
      -- Since when its run waits, by the run's clock. NULL: no run has said that it waits.
      held_since BIGINT,
      closed_at BIGINT,
      -- decided, overtaken, seen, claimed, replaced, ended or disposed
      closed_how TEXT,
      -- The decision's id.
      closed_by TEXT
    )`,
    // An inquiry waits for one decision at a time.
    `CREATE UNIQUE INDEX work_held_once ON work_for_people (customer_trace_number)
     WHERE kind = 'held' AND closed_at IS NULL`,
    `CREATE UNIQUE INDEX work_flagged_once ON work_for_people (run_key, reason, (coalesce(customer_trace_number, '')))
     WHERE kind = 'flagged' AND closed_at IS NULL`,
    // A page, and the counts: few are open among all that there ever were.
    'CREATE INDEX work_open ON work_for_people (since, work_id) WHERE closed_at IS NULL',
    'CREATE INDEX work_open_by_reason ON work_for_people (kind, reason, since) WHERE closed_at IS NULL',
    'CREATE INDEX work_of_inquiry ON work_for_people (customer_trace_number)',
    'CREATE INDEX work_of_run ON work_for_people (run_key)',

    ...Object.entries(GUARDS).flatMap(([table, updates]) => [
      ...refuse(table, 'DELETE'),
      ...(updates === null ? [] : refuse(table, ...updates)),
    ]),
  ];
}

/** The content of a consent. */
const CONSENT_AS_GIVEN = [
  'journey_id',
  'share_id',
  'applicant_id',
  'consent_id',
  'decision',
  'decided_at',
  'end_user_code',
  'end_user',
  'evidence',
  'proof',
  'received_at',
  'recorded_at',
  'first_run_id',
];

/** The tables whose rows are never deleted. Some refuse any update as well, or that of some columns. */
const GUARDS: Readonly<Record<string, readonly [event: string, when?: string] | null>> = {
  ledger_identity: null,
  attempt_counter: null,
  ledger_restores: ['UPDATE'],
  inquiries: null,
  attempts: null,
  closed_attempts: ['UPDATE'],
  decisions: ['UPDATE'],
  run_decisions: ['UPDATE'],
  consents: [`UPDATE OF ${CONSENT_AS_GIVEN.join(', ')}`],
  attempt_consents: ['UPDATE'],
  report_shares: ['UPDATE'],
  sealed_bodies: ['UPDATE OF body', 'WHEN (NEW.body IS NOT NULL)'],
  report_references: ['UPDATE'],
  report_accesses: ['UPDATE'],
  audit_chain: ['UPDATE'],
  audit_head: null,
  retention_events: ['UPDATE'],
  inquiry_pauses: ['UPDATE'],
  work_for_people: null,
};
