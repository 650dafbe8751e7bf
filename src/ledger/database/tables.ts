/**
 * The ledger's tables: the one declaration of columns, rows, guards and of what the audit chain covers. Statements, types
 * and the mapping between rows and objects (rows.ts) follow from it. Instants are milliseconds since 1970.
 */
import type { ConsentRecord, GrantFault } from '../../consent/consent-record.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import type { DecisionAction, FailureType } from '../../model/failure-types.ts';
import type { Answer, AttemptState, LATE_NEWS, REPORT_CHANGED, SSN_MISMATCH } from '../../model/inquiry.ts';
import type { Environment, ProductCode, StageCode } from '../../model/products.ts';
import type { ProviderSaid } from '../../model/provider-word.ts';
import type { ApplicantOutcome, ReportOutcome } from '../../model/report-outcome.ts';
import type { SqlDialect } from './sql-session.ts';

// The parts of which tables are declared, and the types of the objects that hold their rows.

/** A column, and the value of the member that holds it. */
export interface Column<Value> {
  /** A type of PostgreSQL. SQLite keeps texts, numbers and bytes under these names as they are. */
  type: 'TEXT' | 'BIGINT' | 'BYTEA';
  /** The meaning of the text or the number. */
  holds?: 'json' | 'flag' | 'instant';
  isOptional?: boolean;
  /** The database's clock fills it when the row is inserted. */
  isStamp?: boolean;
  /** The column may change, so no guard and no hash of the audit chain covers it. */
  isState?: boolean;
  constraint?: string;
  readonly value?: Value;
}

const text = <Text extends string = string>(): Column<Text> => ({ type: 'TEXT' });
const int = (constraint?: string): Column<number> => ({ type: 'BIGINT', constraint });
/** Milliseconds since 1970; RFC 3339 in an object. A time that a message brought is text, and stays as it came. */
const instant = (): Column<string> => ({ type: 'BIGINT', holds: 'instant' });
const stamp = (): Column<string> => ({ ...instant(), isStamp: true });
const bytes = (): Column<Uint8Array> => ({ type: 'BYTEA' });
const json = <Value>(): Column<Value> => ({ type: 'TEXT', holds: 'json' });
const flag = <Held extends boolean = boolean>(): Column<Held> => ({ type: 'BIGINT', holds: 'flag' });
/** NULL where an object lacks the member. */
const optional = <Value>(column: Column<Value>): Column<Value | null> => ({ ...column, isOptional: true });
const state = <Value>(column: Column<Value>): Column<Value | null> => ({ ...optional(column), isState: true });

/**
 * The rows that no statement deletes. `appendOnly`: nor does any change them. `keepSealed`: a `body` is never replaced,
 * only destroyed. `none`: rows may go.
 */
type Guard = 'appendOnly' | 'keepRows' | 'keepSealed' | 'none';

export interface Table {
  columns: Readonly<Record<string, Column<unknown>>>;
  /** The primary key. */
  key: readonly string[];
  /** Default: `appendOnly`, and where a column is state, every other column refuses a change. */
  guard?: Guard;
  /** The audit chain has an entry for each row (audit-chain.ts). */
  isChained?: boolean;
  constraints?: readonly string[];
  /** Each is the rest of a statement that begins with `CREATE`. */
  indexes?: readonly string[];
}

type MemberName<Name> = Name extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<MemberName<Rest>>}` : Name;
type ValueIn<C> = C extends Column<infer Value> ? Value : never;

/** The objects that hold the rows of a table: NULL is an absent member. */
export type RowOf<T extends Table, C = T['columns']> = {
  [Name in keyof C as null extends ValueIn<C[Name]> ? never : MemberName<Name>]: ValueIn<C[Name]>;
} & {
  [Name in keyof C as null extends ValueIn<C[Name]> ? MemberName<Name> : never]?: NonNullable<ValueIn<C[Name]>>;
};

type FlagReason =
  | (typeof LATE_NEWS)[number]
  | typeof SSN_MISMATCH
  | typeof REPORT_CHANGED
  | typeof PORTFOLIO_UNAVAILABLE;
export type RunDecisionAction =
  | 'extend'
  | 'skip'
  | 'acceptAge'
  | 'seen'
  | 'withdraw'
  | 'withdrawShare'
  | 'pause'
  | 'resume'
  | 'cancel';
/** Details of a hold that only the run has. */
type HoldDetails = Pick<
  HoldStatus,
  'applicantIds' | 'httpStatus' | 'returnCode' | 'returnReasonCode' | 'otherTraceNumber' | 'resendFrom' | 'problems'
>;

const ofAttempt = { customer_trace_number: text(), attempt: int() };
const OF_ATTEMPT = 'FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts';
const OF_INQUIRY = 'FOREIGN KEY (customer_trace_number) REFERENCES inquiries';
const run = { workflow_id: text(), run_id: text() };
const endUser = { end_user_code: optional(text()), end_user: optional(text()) };
/** The person and the reason. */
const authorization = { by: text(), reason: text() };
const ofShare = { journey_id: text(), share_id: text(), applicant_id: text(), consent_id: text() };

/** The part of an attempt's end that is readable without a key. */
const news = {
  requested_at: optional(instant()),
  http_status: optional(int()),
  failure_type: optional(text<FailureType>()),
  outcome: optional(text<ReportOutcome>()),
  return_code: optional(text()),
  return_reason_code: optional(text()),
  // NULL: no applicant was answered by itself.
  applicant_outcomes: optional(json<ApplicantOutcome[]>()),
};

export const TABLES = {
  // The ledger's identity, the version of its tables, and how it finds that it was restored.
  ledger_identity: {
    columns: {
      only_row: int('CHECK (only_row = 1)'),
      ledger_id: text(),
      environment: text<Environment>(),
      created_at: stamp(),
      // The version of these tables, and the lowest one that may write to them; 0: any.
      schema_version: int(),
      oldest_writer: int(),
      // The ledger's secret, wrapped by the key ring. LedgerCipher derives the digest key from it.
      key_id: text(),
      wrapped_key: bytes(),
      // The head of the audit chain, authenticated (audit-chain.ts).
      chain_entries: int(),
      chain_hash: text(),
      chain_mac: text(),
    },
    key: ['only_row'],
    guard: 'keepRows',
  },
  /** The last place in the sequence of all attempts. */
  attempt_counter: {
    columns: { only_row: int('CHECK (only_row = 1)'), last_position: int() },
    key: ['only_row'],
    guard: 'keepRows',
  },

  // Inquiries and their attempts: the fence. Not one of these rows may be deleted, even by mistake.
  inquiries: {
    columns: {
      customer_trace_number: text(),
      environment: text<Environment>(),
      profile: text(),
      customer_id: text(),
      workflow_type: text(),
      run_key: text(),
      product_code: text<ProductCode>(),
      share_id: optional(text()),
      ordinal: int(),
      ...endUser,
      permissible_purpose_code: optional(text()),
      amends: optional(text()),
      // The caller's ids of the applicants. An accepted reference is compared with them, and each outcome names them.
      applicant_ids: state(json<string[]>()),
      // NULL until the first claim.
      digest: state(text()),
      // NULL until the first claim: an inquiry that only has decisions takes no key. See findRepeat in rules.ts.
      permitted_repeat: state(int()),
      created_at: stamp(),
      // When a pause last refused its claim. NULL: never, or its run was woken since.
      paused_at: state(instant()),
      abandoned_at: state(instant()),
      disposed_at: state(instant()),
    },
    key: ['customer_trace_number'],
    guard: 'keepRows',
    indexes: [
      `UNIQUE INDEX inquiries_one_number ON inquiries (environment, workflow_type, run_key, product_code, (coalesce(share_id, '')), ordinal,
        permitted_repeat)`,
      'INDEX inquiries_of_run ON inquiries (run_key, product_code)',
      'INDEX inquiries_by_share ON inquiries (share_id) WHERE share_id IS NOT NULL',
      'INDEX inquiries_paused ON inquiries (run_key) WHERE paused_at IS NOT NULL',
      // Rows that are not disposed of yet: few among many millions.
      'INDEX inquiries_not_disposed ON inquiries (created_at, customer_trace_number) WHERE disposed_at IS NULL',
    ],
  },
  /** LedgerCipher seals the `answer` columns: a reference holds consumer ids. `outcome` sums a report up. */
  attempts: {
    columns: {
      customer_trace_number: text(),
      attempt: int('CHECK (attempt >= 1)'),
      // The place in the sequence of all attempts, by which a restored ledger is found.
      position: int(),
      state: text<AttemptState>(),
      claimed_at: instant(),
      answer_by: int(),
      // When an attempt of unknown outcome may be sent again: until then its bytes may still arrive.
      resend_from: optional(instant()),
      ...run,
      permitted_by: optional(text()),
      // NULL: under the inquiry's own number. See toResendNumber in trace-number.ts.
      sent_trace_number: optional(text()),
      recorded_at: optional(instant()),
      retry_after_ms: optional(int()),
      answer_kind: optional(text<Answer['kind']>()),
      ...news,
      answer: optional(bytes()),
      accepted_by: optional(text()),
      accepted_answer: optional(bytes()),
      // An answer that came after its attempt was superseded.
      late_at: optional(instant()),
      late_state: optional(text<AttemptState>()),
      late_news: optional(json<RowOf<Table, typeof news>>()),
      late_answer: optional(bytes()),
    },
    key: ['customer_trace_number', 'attempt'],
    guard: 'keepRows',
    constraints: [OF_INQUIRY],
    indexes: [
      'UNIQUE INDEX attempts_by_position ON attempts (position)',
      'INDEX attempts_by_state ON attempts (state, claimed_at)',
      'INDEX attempts_by_time ON attempts (claimed_at)',
    ],
  },
  /**
   * Attempts that were closed before any claim. They have a table of their own, so that no count of sent
   * attempts includes them.
   */
  closed_attempts: {
    columns: {
      customer_trace_number: text(),
      attempt: int('CHECK (attempt >= 1)'),
      closed_at: stamp(),
      ...run,
    },
    key: ['customer_trace_number', 'attempt'],
    constraints: [OF_INQUIRY],
  },

  /** Decisions of operators about attempts. The answer of an `accept` is kept with its attempt, where it can be destroyed: a decision is never changed. */
  decisions: {
    columns: {
      // The attempt that is judged. It is unclaimed where the hold came before a claim, and 0 for `repeat`.
      ...ofAttempt,
      decision_id: text(),
      action: text<DecisionAction>(),
      ...authorization,
      provider_said: text<ProviderSaid>(),
      failure_type: optional(text<FailureType>()),
      decided_at: text(),
      recorded_at: stamp(),
      permits_attempt: optional(int()),
      // A person has confirmed these consumerIds, although the ledger knows them from other people's inquiries.
      confirm_consumer_ids: optional(flag<true>()),
      // The id of the key that has signed the decision. NULL: it came without a proof.
      proven_by: optional(text()),
    },
    key: ['customer_trace_number', 'decision_id'],
    isChained: true,
    // One resend for each attempt: the first one wins.
    constraints: [OF_INQUIRY, 'UNIQUE (customer_trace_number, permits_attempt)'],
    indexes: ['INDEX decisions_by_id ON decisions (decision_id)'],
  },
  // Consents as they were given, with their state; and those that a claim was made under.
  consents: {
    columns: {
      ...ofShare,
      decision: text<ConsentRecord['decision']>(),
      decided_at: text(),
      ...endUser,
      evidence: optional(json<NonNullable<ConsentRecord['evidence']>>()),
      proof: optional(text()),
      received_at: text(),
      recorded_at: stamp(),
      // The start that has received it: the first run of its chain. NULL: no run had.
      first_run_id: optional(text()),
      // A further start that has received it. NULL: none has.
      told_to: state(text()),
      // The part that the ledger does not know. NULL: it matches.
      unmatched: state(text<'journey' | 'share' | 'applicant'>()),
      listed_from: state(int()),
      // Why the run that received the grant does not count it any more.
      fault: state(text<GrantFault>()),
      seen_at: state(instant()),
      seen_by: state(text()),
      seen_reason: state(text()),
    },
    key: ['journey_id', 'share_id', 'applicant_id', 'consent_id', 'decision'],
    isChained: true,
    indexes: [
      'INDEX consents_by_share ON consents (share_id)',
      'INDEX consents_by_time ON consents (recorded_at)',
      'INDEX consents_unmatched ON consents (recorded_at) WHERE unmatched IS NOT NULL AND seen_at IS NULL',
    ],
  },
  attempt_consents: {
    columns: { ...ofAttempt, ...ofShare },
    key: ['customer_trace_number', 'attempt', 'applicant_id', 'consent_id'],
    constraints: [OF_ATTEMPT],
    indexes: ['INDEX attempt_consents_of_share ON attempt_consents (journey_id, share_id)'],
  },
  /** The report of each share. */
  report_shares: {
    columns: {
      run_key: text(),
      share_id: text(),
      reference_digest: text(),
      // The report's end user, where a caller named one. Otherwise the report's inquiry has it.
      report_end_user_code: optional(text()),
      recorded_at: stamp(),
    },
    key: ['run_key', 'share_id'],
    indexes: [
      'INDEX report_shares_of_report ON report_shares (reference_digest)',
      'INDEX report_shares_by_id ON report_shares (share_id)',
    ],
  },

  // Sealed content, destroyed one by one. Also whose references reports have, and who has read what.
  sealed_bodies: {
    columns: {
      ...ofAttempt,
      // `changes`: the list of what differs between two reports.
      kind: text<'report' | 'refusal' | 'changes'>(),
      // It came after the attempt was superseded: kept, and never returned as its report.
      late: flag(),
      // The other report that is in a list of changes. For any other kind, the attempt itself.
      from_trace_number: text(),
      from_attempt: int(),
      http_status: optional(int()),
      // 0: it is kept as far as it could be read.
      is_whole: flag(),
      stored_at: stamp(),
      algorithm: text(),
      // NULL, as its key, once it is disposed of.
      body: optional(bytes()),
      key_id: optional(text()),
      wrapped_key: optional(bytes()),
    },
    key: ['customer_trace_number', 'attempt', 'kind', 'late', 'from_trace_number', 'from_attempt'],
    guard: 'keepSealed',
    constraints: [OF_ATTEMPT, 'FOREIGN KEY (from_trace_number) REFERENCES inquiries'],
    indexes: [
      'INDEX sealed_bodies_from ON sealed_bodies (from_trace_number)',
      'INDEX sealed_bodies_by_key ON sealed_bodies (key_id)',
    ],
  },
  /** References stay sealed. Both sides hold a keyed digest of one, so that a look-up unseals nothing. */
  report_references: {
    columns: { reference_digest: text(), ...ofAttempt },
    key: ['customer_trace_number', 'attempt', 'reference_digest'],
    constraints: [OF_ATTEMPT],
    indexes: ['INDEX report_references_by_digest ON report_references (reference_digest)'],
  },
  /** The owner of each consumerId that the ledger knows, by a keyed digest: a disposal destroys it. */
  report_consumers: {
    columns: { consumer_digest: text(), ...ofAttempt, applicant_id: text() },
    key: ['customer_trace_number', 'attempt', 'applicant_id', 'consumer_digest'],
    guard: 'none',
    constraints: [OF_ATTEMPT],
    indexes: ['INDEX report_consumers_by_digest ON report_consumers (consumer_digest)'],
  },
  report_accesses: {
    columns: {
      access_id: text(),
      ...ofAttempt,
      kind: text<'report' | 'refusal' | 'changes'>(),
      by: text(),
      via: text<'ledger' | 'api'>(),
      // NULL: a look. With a purpose the report was served again to its end user.
      purpose: optional(text()),
      // A reader got it masked.
      redacted: flag(),
      recorded_at: stamp(),
    },
    key: ['access_id'],
    constraints: [OF_ATTEMPT],
    indexes: [
      'INDEX report_accesses_by_attempt ON report_accesses (customer_trace_number, attempt)',
      'INDEX report_accesses_by_time ON report_accesses (recorded_at)',
    ],
  },

  // The chain that reveals tampering with consents and decisions (audit-chain.ts), disposals, and legal holds.
  audit_chain: {
    columns: {
      position: int(),
      row_table: text(),
      // The row's primary key, as a JSON list.
      row_key: text(),
      previous: text(),
      hash: text(),
    },
    key: ['position'],
    constraints: ['UNIQUE (row_table, row_key)'],
  },
  /** Orders of people about runs, about their data, or about the ledger as a whole (orders.ts). */
  orders: {
    columns: {
      order_id: text(),
      kind: text<
        | 'pauseBegun'
        | 'pauseEnded'
        | 'legalHoldSet'
        | 'legalHoldReleased'
        | 'disposalBegun'
        | 'historyDeleted'
        | 'disposed'
        | 'restoreFound'
        | 'restoreAccepted'
        | RunDecisionAction
      >(),
      // NULL: it is about no run. A hold on a review covers every row that it has or will have.
      run_key: optional(text()),
      // NULL: it is no decision about a run (orders.ts).
      decision_id: optional(text()),
      // The inquiry whose flags were seen.
      customer_trace_number: optional(text()),
      stage: optional(text<StageCode>()),
      share_id: optional(text()),
      // The new end of a wait.
      until: optional(text()),
      decided_at: optional(text()),
      // A pause is about a profile. NULL: all profiles.
      profile: optional(text()),
      // The pause or the legal hold that the order ends. Each is ended once.
      ends: optional(text()),
      matter: optional(text()),
      ...authorization,
      // The deleted history's run.
      run: optional(json<{ workflowId: string; runId: string }>()),
      // The amounts that were disposed of.
      details: optional(json<{ inquiries: number; reports: number; runs: number }>()),
      // The attempt that was seen and is not here; for an accepted restore, the ledger's newest.
      position: optional(int()),
      claimed_at: optional(instant()),
      recorded_at: stamp(),
    },
    key: ['order_id'],
    isChained: true,
    indexes: [
      'UNIQUE INDEX orders_ended ON orders (ends) WHERE ends IS NOT NULL',
      'INDEX orders_of_run ON orders (run_key, kind)',
      'INDEX orders_by_kind ON orders (kind, recorded_at)',
      'INDEX orders_by_decision ON orders (decision_id) WHERE decision_id IS NOT NULL',
    ],
  },

  /** Work for operators: runs that hold, and flags. */
  operator_tasks: {
    columns: {
      work_id: text(),
      run_key: text(),
      // `held`: an inquiry waits for a decision. `flagged`: a person should look, and nothing waits for it.
      kind: text<'held' | 'flagged'>(),
      reason: text<FailureType | FlagReason>(),
      // The run's clock says it; where a transaction of the ledger has caused the row, the ledger's.
      since: instant(),
      profile: text(),
      ...endUser,
      product_code: optional(text<ProductCode>()),
      share_id: optional(text()),
      // NULL: it is about a run, and about none of its inquiries.
      customer_trace_number: optional(text()),
      attempt: optional(int()),
      // The run's details of its hold, as JSON. NULL: the ledger's rows have them.
      details: optional(json<HoldDetails>()),
      // Start of the run's wait, by the run's clock. NULL: no run has reported that it waits.
      held_since: optional(instant()),
      closed_at: optional(instant()),
      closed_how: optional(text<'decided' | 'overtaken' | 'seen' | 'claimed' | 'replaced' | 'ended' | 'disposed'>()),
      // The decision's id.
      closed_by: optional(text()),
    },
    key: ['work_id'],
    guard: 'keepRows',
    indexes: [
      // An inquiry waits for one decision at a time.
      `UNIQUE INDEX work_held_once ON operator_tasks (customer_trace_number) WHERE kind = 'held' AND closed_at IS NULL`,
      `UNIQUE INDEX work_flagged_once ON operator_tasks (run_key, reason, (coalesce(customer_trace_number, '')))
       WHERE kind = 'flagged' AND closed_at IS NULL`,
      // A page, and the counts: few are open among all that there ever were.
      'INDEX work_open ON operator_tasks (since, work_id) WHERE closed_at IS NULL',
      'INDEX work_open_by_reason ON operator_tasks (kind, reason, since) WHERE closed_at IS NULL',
      'INDEX work_of_inquiry ON operator_tasks (customer_trace_number)',
      'INDEX work_of_run ON operator_tasks (run_key)',
    ],
  },
} as const satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof TABLES;
export type Row<Name extends TableName> = RowOf<(typeof TABLES)[Name]>;

/** Returns the columns of a table with this property. */
export function listColumns(name: TableName, has: (column: Column<unknown>, name: string) => boolean): string[] {
  const { columns }: Table = TABLES[name];
  return Object.entries(columns).flatMap(([column, declared]) => (has(declared, column) ? [column] : []));
}

/** The statements that make the tables, their indexes and guards. */
export function createTables(dialect: SqlDialect): string[] {
  const tables = Object.entries(TABLES) as [TableName, Table][];
  return [
    ...dialect.triggerPrelude,
    ...tables.flatMap(([name, { columns, key, constraints = [], indexes = [], guard = 'appendOnly' }]) => [
      `CREATE TABLE ${name} (${[...listParts(dialect, columns), `PRIMARY KEY (${key.join(', ')})`, ...constraints].join(', ')})`,
      ...indexes.map((index) => `CREATE ${index}`),
      ...guardTable(dialect, name, guard),
    ]),
    'INSERT INTO attempt_counter VALUES (1, 0)',
  ];
}

function listParts({ textType }: SqlDialect, columns: Table['columns']): string[] {
  return Object.entries(columns).map(
    ([column, { type, isOptional, constraint = '' }]) =>
      `${column} ${type === 'TEXT' ? textType : type} ${isOptional ? '' : 'NOT NULL'} ${constraint}`,
  );
}

function guardTable({ refuse }: SqlDialect, name: TableName, guard: Guard): string[] {
  const given = listColumns(name, ({ isState }) => !isState);
  const hasState = listColumns(name, () => true).length > given.length;
  const updates = {
    appendOnly: [refuse(name, hasState ? `UPDATE OF ${given.join(', ')}` : 'UPDATE')],
    keepSealed: [refuse(name, 'UPDATE OF body', 'WHEN (NEW.body IS NOT NULL)')],
    keepRows: [],
  };
  return guard === 'none' ? [] : [refuse(name, 'DELETE'), ...updates[guard]];
}
