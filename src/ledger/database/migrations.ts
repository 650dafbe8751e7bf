/** The ledger's tables, as a list of versions; both engines run the same ones. Instants are milliseconds since 1970. */
import { answersToldInFull } from './answers-told-in-full.ts';
import { firstTables } from './first-tables.ts';
import type { SqlDialect } from './sql-session.ts';

/**
 * Never changed once released: a new version is a new entry. Workers of the version before run on beside it
 * (docs/deploy.md, "Upgrading"). So an entry removes nothing that they need to record how an attempt ended. Their
 * columns of `inquiries`, `attempts`, `reports` and `report_references` stay, and new columns take NULL.
 */
export const MIGRATIONS: readonly ((dialect: SqlDialect) => string[])[] = [
  firstTables,
  whatNeedsPeople,
  auditChain,
  retention,
  derivedDocuments,
  secondaryUse,
  applicantsAsked,
  newFences,
  pauses,
  answersToldInFull,
];

/**
 * Versions of the tables that bring a fence which older code does not keep, or remove something that it needs. Code
 * below the highest of them writes nothing more. Begins at 8: before it no ledger could say so.
 */
export const WITHOUT_OLDER_WRITERS: readonly number[] = [8, 9, 10];

/** Indexes for holds and late news, which are few among many millions of rows. */
function whatNeedsPeople(dialect: SqlDialect): string[] {
  return [
    "CREATE INDEX attempts_in_doubt ON attempts (claimed_at) WHERE state = 'answered' AND answer_kind <> 'outcome'",
    'CREATE INDEX inquiries_answered_late ON inquiries (late_answer_at) WHERE late_answer_at IS NOT NULL',
    'CREATE INDEX inquiries_revoked_late ON inquiries (late_consent_at) WHERE late_consent_at IS NOT NULL',
    `CREATE TABLE attention_seen (
      customer_trace_number TEXT NOT NULL REFERENCES inquiries,
      decision_id TEXT NOT NULL,
      seen_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      seen_at BIGINT NOT NULL,
      PRIMARY KEY (customer_trace_number, decision_id)
    )`,
    ...dialect.guardRows('attention_seen', 'appendOnly'),
  ];
}

/** Documents that were derived from reports and are as personal: sealed like a report, and destroyed with either. */
function derivedDocuments({ bytes }: SqlDialect): string[] {
  return [
    `CREATE TABLE derived_documents (
      -- The report that it is about.
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      kind TEXT NOT NULL,
      -- The other report that is in it.
      from_trace_number TEXT NOT NULL REFERENCES inquiries,
      from_attempt BIGINT NOT NULL,
      stored_at BIGINT NOT NULL,
      algorithm TEXT NOT NULL,
      body ${bytes},
      key_id TEXT,
      wrapped_key ${bytes},
      PRIMARY KEY (customer_trace_number, attempt, kind),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX derived_documents_from ON derived_documents (from_trace_number)',
    'CREATE INDEX derived_documents_by_key ON derived_documents (key_id)',
  ];
}

/** Who disposed of something or held it, and why. Also an index by which old inquiries are found. */
function retention(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE retention_events (
      event_id TEXT PRIMARY KEY,
      caller_id TEXT NOT NULL,
      -- NULL: all of it.
      product_code TEXT,
      kind TEXT NOT NULL,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      details TEXT,
      recorded_at BIGINT NOT NULL
    )`,
    'CREATE INDEX retention_events_of_caller ON retention_events (caller_id, kind)',
    ...dialect.guardRows('retention_events', 'appendOnly'),
    'CREATE INDEX inquiries_not_disposed ON inquiries (created_at, customer_trace_number) WHERE disposed_at IS NULL',
    'CREATE INDEX inquiries_on_legal_hold ON inquiries (legal_hold_at) WHERE legal_hold_at IS NOT NULL',
    // Kept with the attempt that it made accepted, where it can be destroyed: a decision is never changed.
    'ALTER TABLE decisions DROP COLUMN answer',
  ];
}

/**
 * Which report a reference means, and which report a share is of. References stay sealed. Both sides hold a keyed
 * digest of one, so that a look-up unseals nothing.
 */
function secondaryUse(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE report_references (
      reference_digest TEXT NOT NULL,
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      PRIMARY KEY (customer_trace_number, attempt, reference_digest),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    'CREATE INDEX report_references_by_digest ON report_references (reference_digest)',
    // Until when answers of before had their rows; since version 8 `migrateLedger` adds them at once.
    'CREATE TABLE report_references_until (only_row BIGINT PRIMARY KEY CHECK (only_row = 1), until_ms BIGINT NOT NULL)',
    'INSERT INTO report_references_until VALUES (1, 0)',
    `CREATE TABLE report_shares (
      caller_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      reference_digest TEXT NOT NULL,
      -- Whose report it is, where a caller said so; else the report's own inquiry tells.
      report_end_user_code TEXT,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (caller_id, share_id)
    )`,
    'CREATE INDEX report_shares_of_report ON report_shares (reference_digest)',
    'CREATE INDEX attempt_consents_of_share ON attempt_consents (journey_id, share_id)',
    ...dialect.guardRows('report_references', 'appendOnly'),
    ...dialect.guardRows('report_shares', 'appendOnly'),
  ];
}

/**
 * The applicants of an inquiry, by the caller's ids (`["1A"]`). An accepted reference is compared with them, and each
 * outcome names them. NULL: claimed before this column existed.
 */
function applicantsAsked(): string[] {
  return ['ALTER TABLE inquiries ADD COLUMN applicant_ids TEXT'];
}

/**
 * What the claims and decisions of this version check, and no older code does. Each group of statements names its rule.
 */
function newFences(dialect: SqlDialect): string[] {
  return [
    // The lowest version that may write to these tables. NULL: this version asks no more than the one before.
    'ALTER TABLE ledger_schema ADD COLUMN oldest_writer BIGINT',
    // When an attempt of unknown outcome may be sent again: until then its bytes may still arrive.
    'ALTER TABLE attempts ADD COLUMN resend_from BIGINT',
    'DROP TABLE report_references_until',
    // The version of the canonical form (model/canonical-request.ts) that the digest was made in.
    'ALTER TABLE inquiries ADD COLUMN digest_version TEXT',
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
    ...dialect.guardRows('closed_attempts', 'appendOnly'),
    // NULL until the first claim: an inquiry that only has decisions takes no key. See repeatOf in claim.ts.
    'ALTER TABLE inquiries ADD COLUMN permitted_repeat BIGINT',
    // Gives a key to inquiries that were claimed before keys existed, for all of their customers.
    `UPDATE inquiries SET permitted_repeat = (SELECT count(DISTINCT o.customer_id) FROM inquiries o
       WHERE o.caller_id = inquiries.caller_id AND o.product_code = inquiries.product_code
         AND o.environment = inquiries.environment AND o.workflow_type = inquiries.workflow_type
         AND coalesce(o.share_id, '') = coalesce(inquiries.share_id, '') AND o.customer_id < inquiries.customer_id
         AND EXISTS (SELECT 1 FROM attempts a WHERE a.customer_trace_number = o.customer_trace_number))
     WHERE EXISTS (SELECT 1 FROM attempts a WHERE a.customer_trace_number = inquiries.customer_trace_number)`,
    `CREATE UNIQUE INDEX inquiries_one_number ON inquiries (environment, workflow_type, caller_id, product_code,
      (coalesce(share_id, '')), ordinal, permitted_repeat)`,
    ...knownConsumers(),
    // The id of the key that has signed the decision. NULL: it came without a proof.
    'ALTER TABLE decisions ADD COLUMN proven_by TEXT',
    ...keptConsents(dialect),
    ...restoreTables(dialect),
  ];
}

/** What an `accept` is compared with. */
function knownConsumers(): string[] {
  return [
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
    // 1: a person has confirmed these consumerIds, although the ledger knows them from other people's inquiries.
    'ALTER TABLE decisions ADD COLUMN confirms_consumers BIGINT',
  ];
}

/**
 * Consents that no run has received, or whose share no run knew when it received them. The ledger keeps and shows them,
 * and their run finds them later.
 */
function keptConsents(dialect: SqlDialect): string[] {
  return [
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
      seen_at BIGINT,
      seen_by TEXT,
      seen_reason TEXT,
      PRIMARY KEY (journey_id, share_id, applicant_id, consent_id, decision),
      FOREIGN KEY (journey_id, share_id, applicant_id, consent_id, decision) REFERENCES consents
    )`,
    'CREATE INDEX kept_consents_unmatched ON kept_consents (kept_at) WHERE unmatched IS NOT NULL AND seen_at IS NULL',
    ...dialect.guardRows('kept_consents', 'keepRows'),
  ];
}

/** Consents with their proofs, and the chain that reveals tampering with consents and decisions: audit-chain.ts. */
function auditChain(dialect: SqlDialect): string[] {
  return [
    'ALTER TABLE consents ADD COLUMN proof TEXT',
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
    ...dialect.guardRows('audit_chain', 'appendOnly'),
    ...dialect.guardRows('audit_head', 'keepRows'),
  ];
}

/** The tables by which a ledger finds that it was restored. */
function restoreTables(dialect: SqlDialect): string[] {
  return [
    // The place in the sequence of all attempts. NULL: claimed before the sequence existed.
    'ALTER TABLE attempts ADD COLUMN position BIGINT',
    'CREATE UNIQUE INDEX attempts_by_position ON attempts (position)',
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
    ...dialect.guardRows('attempt_counter', 'keepRows'),
    ...dialect.guardRows('ledger_restores', 'appendOnly'),
  ];
}

/** The stop that holds for every worker and queue, and the inquiries that wait for its end. */
function pauses(dialect: SqlDialect): string[] {
  return [
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
    ...dialect.guardRows('inquiry_pauses', 'appendOnly'),
    // Whom `resume` wakes. Not a record: a row goes once its run was told.
    `CREATE TABLE paused_inquiries (
      customer_trace_number TEXT PRIMARY KEY,
      workflow_id TEXT NOT NULL,
      profile TEXT NOT NULL,
      noted_at BIGINT NOT NULL
    )`,
  ];
}
