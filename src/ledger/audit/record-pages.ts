/**
 * Reads audited records in pages by time, so that a million rows are never in memory at once: attempts, shares, decisions,
 * consents, disposals and readings. Also finds records by their names.
 */
import type { z } from 'zod';
import { omitUndefined, pick } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { listApplicantOutcomes } from '../../model/consumer-results.ts';
import { type AttemptState, NOT_POSTED_STATES } from '../../model/inquiry.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveState, HELD_STATES } from '../claim.ts';
import { type Keyset, type Page, readKeyset } from '../database/pages.ts';
import { type Condition, hasMembers, isIn, type Members, readRows } from '../database/rows.ts';
import type { SqlDialect, SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import {
  type AttemptRow,
  type DecisionRow,
  type InquiryRow,
  openOutcome,
  selectDerived,
} from '../inquiries/inquiries.ts';
import { type ReadersReach, toClaimOwners, withoutForeignRuns } from '../owners.ts';
import type { ReportOrigin } from '../records.ts';
import { computeReferenceDigest } from '../reports/reports.ts';
import { readHoldsOn } from '../retention/retention.ts';
import {
  type AccessesQuery,
  type AuditDecision,
  type AuditedAttempt,
  type AuditedShare,
  type AuditOutcome,
  type InquiriesQuery,
  judgesAttempts,
  type NamedRecord,
  type Posted,
  RECORDS,
  type SharesQuery,
} from './audited.ts';

type PeriodQuery = ReadersReach & Partial<Record<'from' | 'before' | 'runKey' | 'customerTraceNumber' | 'by', string>>;

/**
 * Reads a page of the rows of a period that have the query's values and these members, without those of runs that the
 * reader does not reach. The first member of the order is the time.
 *
 * @param owner the SQL of a row's run key
 * @throws RangeError where an end of the period is no instant
 */
async function readPeriod<Row extends { isReached: number }>(
  session: SqlSession,
  query: PeriodQuery,
  owner: string,
  members: object,
  list: Keyset<Row>,
): Promise<Page<Row, Row>> {
  const fromMs = query.from === undefined ? 0 : parseInstantMs(query.from);
  const beforeMs = query.before === undefined ? Number.MAX_SAFE_INTEGER : parseInstantMs(query.before);
  if (fromMs === null || beforeMs === null) {
    throw new RangeError('from and before must be RFC 3339 instants with offset');
  }
  const isInPeriod: Condition = (column, place) => `${column} >= ${place(fromMs)} AND ${column} < ${place(beforeMs)}`;
  const asked = omitUndefined(pick(query, ['runKey', 'customerTraceNumber', 'by']));
  const { sql, values, place } = hasMembers({ [String(list.order[0])]: isInPeriod, ...asked, ...members });
  const isReached = ['1 = 1', ...withoutForeignRuns(owner, query, place)].join(' AND ');
  const columns = `${list.columns ?? '*'}, CASE WHEN ${isReached} THEN 1 ELSE 0 END AS is_reached`;
  const { items, end } = await readKeyset<Row>(session, { ...list, columns, where: [sql], values });
  return { items: items.filter((row) => row.isReached === 1), end };
}

/**
 * Attempts that one statement looks at, whether or not the other conditions want them: it stays short in any ledger.
 */
const ATTEMPTS_PAGE = 1_000;

/** By time of the claim. */
const ORDER = ['claimedAt', 'customerTraceNumber', 'attempt'] as const;

export type FoundRow = InquiryRow & Row<'attempts'> & AttemptRow & { firstAttempt: number; isReached: number };

/** A grant that permitted an attempt. */
type Grant = Row<'attempt_consents'> & { runKey: string } & Pick<Row<'consents'>, 'decidedAt' | 'evidence'>;

interface PageOptions {
  pageSize?: number;
  /** The members to show of the grants that permitted the attempt. */
  ofGrants?: readonly (keyof Grant)[];
}

/**
 * Reads only: attempts that were claimed in a period, oldest first. Each comes with its purpose, its decisions and
 * consents, and its outcome. Attempts that are claimed meanwhile may be among them. For a past period the whole is one
 * consistent view, except for late answers.
 */
export async function readAttemptsPage(
  tx: Transaction,
  query: InquiriesQuery,
  after?: FoundRow,
  { pageSize = ATTEMPTS_PAGE, ofGrants = ['applicantId', 'consentId'] }: PageOptions = {},
): Promise<Page<AuditedAttempt, FoundRow>> {
  const { reportReferenceNumber } = query;
  const isReferredTo: Condition = (_column, place) =>
    `(customer_trace_number, attempt) IN (SELECT r.customer_trace_number, r.attempt FROM report_references r
      WHERE r.reference_digest = ${place(computeReferenceDigest(tx.cipher, reportReferenceNumber ?? ''))})`;
  // An index finds the rows of these conditions.
  const members = reportReferenceNumber === undefined ? {} : { attempt: isReferredTo };
  const { items, end } = await readPeriod<FoundRow>(tx, query, 'i.run_key', members, {
    // In a subquery of its own, the clock would keep PostgreSQL from reading the attempts in the order of their index.
    // Closed attempts come before the first attempt, and were never sent.
    columns: `*, ${selectDerived(tx.dialect)},
      (SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = i.customer_trace_number) AS first_attempt`,
    from: 'attempts a JOIN inquiries i USING (customer_trace_number)',
    order: ORDER,
    after,
    limit: pageSize,
  });
  const wanted = items.filter((row) => isWanted(row, query));
  return { items: await describeAttempts(tx, wanted, ofGrants), end };
}

function isWanted(row: FoundRow, { productCode, applicants, outcome, endUser }: InquiriesQuery): boolean {
  return (
    (productCode === undefined || row.productCode === productCode) &&
    (applicants === undefined || row.applicantIds?.length === Number(applicants)) &&
    (outcome === undefined || readOutcome(row) === outcome) &&
    (endUser === undefined || [row.endUserCode, row.endUser].includes(endUser))
  );
}

function readOutcome(row: FoundRow): AuditOutcome {
  return (row.outcome ?? (row.state === 'answered' ? row.answerKind : effectiveState(row))) as AuditOutcome;
}

async function describeAttempts(
  tx: Transaction,
  rows: readonly FoundRow[],
  ofGrants: readonly (keyof Grant)[],
): Promise<AuditedAttempt[]> {
  if (rows.length === 0) return [];
  const numbers = [...new Set(rows.map((row) => row.customerTraceNumber))];
  const related = [...numbers, ...rows.flatMap(({ amends }) => amends ?? [])];
  const decisions = Map.groupBy(
    await readRows(tx, 'decisions', { customerTraceNumber: isIn(related) }, 'ORDER BY recorded_at, decision_id'),
    (row) => row.customerTraceNumber,
  );
  const permitted = hasMembers({ customerTraceNumber: isIn(numbers) }, 'l.');
  const grants = Map.groupBy(
    await tx.read<Grant>(
      `SELECT l.*, l.journey_id AS run_key, c.decided_at, c.evidence FROM attempt_consents l
       LEFT JOIN consents c ON c.journey_id = l.journey_id AND c.share_id = l.share_id
         AND c.applicant_id = l.applicant_id AND c.consent_id = l.consent_id AND c.decision = 'granted'
       WHERE ${permitted.sql} ORDER BY l.applicant_id, l.consent_id`,
      permitted.values,
    ),
    toAttemptKey,
  );
  const holds = await readHoldsOn(tx, isIn([...new Set(rows.flatMap(({ runKey }) => toClaimOwners(runKey)))]));
  return rows.map((row) => {
    const owners = toClaimOwners(row.runKey);
    const own = decisions.get(row.customerTraceNumber) ?? [];
    const judging = own.filter(({ attempt, failureType }) => attempt === row.attempt && judgesAttempts(failureType));
    return {
      ...pick(row, COLUMNS),
      ...readAnswer(tx.cipher, row, 'answer', row),
      outcome: readOutcome(row),
      posted: judgePosting(row, judging),
      permittedBy: toDecision(findPermit(row, own, decisions)),
      decision: toDecision(judging.at(-1)),
      applicants: row.applicantIds?.length,
      late: row.lateNews && { at: row.lateAt ?? '', ...readAnswer(tx.cipher, row, 'lateAnswer', row.lateNews) },
      consents: (grants.get(toAttemptKey(row)) ?? []).map((grant) => pick(grant, ofGrants)),
      legalHolds: holds.filter((hold) => owners.includes(hold.runKey)),
    };
  });
}

/** The members of a listed attempt that are columns of its row. */
const COLUMNS = Object.keys(RECORDS.inquiries.output.shape) as Exclude<
  keyof FoundRow & keyof AuditedAttempt,
  'permittedBy'
>[];

function toAttemptKey({ customerTraceNumber, attempt }: ReportOrigin): string {
  return `${customerTraceNumber} ${attempt}`;
}

/** States of an attempt that was not posted, as far as a refusal proves that (docs/protocol.md). */
const NOT_POSTED: readonly AttemptState[] = [
  ...NOT_POSTED_STATES,
  ...HELD_STATES.filter((state) => state !== 'unknown'),
];

/**
 * Judges whether an attempt was posted. The gateway's own answer comes first, also a late one; then what the provider
 * said to a person, then the state. A share is posted by the code `Record` alone: any other code got its meaning from a
 * person.
 */
function judgePosting(row: FoundRow, judging: readonly DecisionRow[]): Posted {
  const state = effectiveState(row);
  const isAccepted = state === 'accepted' && !row.answeredLate;
  if (isAccepted && row.productCode === 'SECONDUSE' && row.outcome !== 'record') return 'no';
  const said = judging.findLast(({ providerSaid }) => providerSaid === 'posted' || providerSaid === 'notPosted');
  if (row.answerKind !== undefined || row.answeredLate || said?.providerSaid === 'posted') return 'yes';
  return said || NOT_POSTED.includes(state) ? 'no' : 'unknown';
}

/**
 * The resend that this attempt has spent. For an inquiry's first attempt, the amendment or the repeat that asked for
 * it.
 */
function findPermit(
  row: FoundRow,
  own: readonly DecisionRow[],
  decisions: ReadonlyMap<string, DecisionRow[]>,
): DecisionRow | undefined {
  const resend = own.find((decision) => decision.decisionId === row.permittedBy);
  if (resend || row.attempt > row.firstAttempt) return resend;
  if (row.amends === undefined) return own.find(({ action }) => action === 'repeat');
  return decisions.get(row.amends)?.findLast(({ action }) => action === 'amend');
}

function toDecision(row: DecisionRow | undefined): AuditDecision | undefined {
  return row && pick(row, ['decisionId', 'action', 'by', 'reason', 'providerSaid', 'decidedAt', 'provenBy']);
}

/**
 * Reads an answer of an attempt. The number of an answer without a record is sealed: of a record it is half of a share.
 */
function readAnswer(
  cipher: LedgerCipher,
  { productCode, applicantIds, ...row }: FoundRow,
  name: 'answer' | 'lateAnswer',
  answer: Pick<FoundRow, 'outcome' | 'returnCode' | 'returnReasonCode' | 'applicantOutcomes'>,
) {
  const { outcome, returnCode, returnReasonCode, applicantOutcomes: applicants } = answer;
  const isOpened = name === 'lateAnswer' || row.state === 'answered';
  const opened = isOpened && outcome !== undefined && outcome !== 'record' ? openOutcome(cipher, row, name) : undefined;
  const isOfApplicants = outcome && applicantIds && productCode !== 'SECONDUSE';
  return {
    outcome,
    returnCode,
    returnReasonCode,
    noRecordReference: opened?.noRecordReference,
    applicantOutcomes: isOfApplicants ? listApplicantOutcomes({ outcome, applicants }, applicantIds) : undefined,
  };
}

// Shares: the attempts of SECONDUSE, each with its report and consents.

const GRANT = ['runKey', 'shareId', 'applicantId', 'consentId', 'decidedAt', 'evidence'] as const;

/**
 * Reads only: shares that were, or may have been, posted in a period, oldest first. Each comes with its report and the
 * grants that permitted it.
 */
export async function readSharesPage(
  tx: Transaction,
  { endUser, report, runKey, ...query }: SharesQuery,
  after?: FoundRow,
): Promise<Page<AuditedShare, FoundRow>> {
  const { items, end } = await readAttemptsPage(tx, { ...query, productCode: 'SECONDUSE' }, after, { ofGrants: GRANT });
  const posted = items.filter((attempt) => attempt.posted !== 'no');
  const reports = await readReports(tx, posted);
  const digest = report === undefined ? undefined : computeReferenceDigest(tx.cipher, report);
  const shares = posted.flatMap((attempt): AuditedShare[] => {
    const row = reports.get(attempt.customerTraceNumber);
    const sharedBy = row?.endUserCode ?? row?.reportEndUserCode;
    const isWanted =
      (endUser === undefined || [attempt.endUserCode, attempt.endUser, sharedBy].includes(endUser)) &&
      (report === undefined || row?.referenceDigest === digest || row?.customerTraceNumber === report) &&
      (runKey === undefined || [attempt.runKey, row?.runKey].includes(runKey));
    if (!isWanted) return [];
    const consents = attempt.consents as AuditedShare['consents'];
    return [{ ...attempt, report: row?.customerTraceNumber ? pick(row, REPORT) : undefined, sharedBy, consents }];
  });
  return { items: shares, end };
}

const REPORT = ['customerTraceNumber', 'runKey', 'productCode', 'endUserCode'] as const;

/** It lacks the members of the report's inquiry where the ledger does not know the report. */
type ReportRow = Pick<InquiryRow, (typeof REPORT)[number]> &
  Pick<Row<'report_shares'>, 'referenceDigest' | 'reportEndUserCode'> & { shareTraceNumber: string };

/** Reads the report of each share, by the share's trace number. */
async function readReports(
  session: SqlSession,
  shares: readonly AuditedAttempt[],
): Promise<ReadonlyMap<string, ReportRow>> {
  const numbers = [...new Set(shares.map(({ customerTraceNumber }) => customerTraceNumber))];
  const { sql, values } = hasMembers({ customerTraceNumber: isIn(numbers) }, 'i.');
  const rows = await session.read<ReportRow>(
    `SELECT i.customer_trace_number AS share_trace_number, s.reference_digest, s.report_end_user_code,
       o.customer_trace_number AS customer_trace_number, o.run_key, o.product_code, o.end_user_code
     FROM inquiries i JOIN report_shares s ON s.run_key = i.run_key AND s.share_id = i.share_id
     LEFT JOIN (report_references r JOIN inquiries o
       ON o.customer_trace_number = r.customer_trace_number AND o.product_code <> 'SECONDUSE')
       ON r.reference_digest = s.reference_digest
     WHERE ${sql}`,
    values,
  );
  return new Map(rows.map((row) => [row.shareTraceNumber, row]));
}

// The other records.

/**
 * Rows that one statement looks at, whether or not a reader may see them. The tables of decisions and orders have no index
 * on the time, so pages are large.
 */
const RECORDS_PAGE = 5_000;

/** The members by which rows are ordered. `rowKey` makes the order total. */
interface Ordered {
  recordedAt: string;
  rowKey: string;
  isReached: number;
}

type ReadPage<Item> = (tx: Transaction, query: AccessesQuery, after?: Ordered) => Promise<Page<Item, Ordered>>;

const CONSENT = `c.*, c.journey_id AS run_key, c.recorded_at AS since,
    c.journey_id || ' ' || c.share_id || ' ' || c.applicant_id || ' ' || c.consent_id || ' ' || c.decision AS row_key`;

/** Read only: the records of a period, oldest first, by the names that the ledger's methods have. */
export const RECORD_PAGES = {
  /** A person's decisions about inquiries, and about runs. */
  decisionsBetween: createReader(
    RECORDS.decisions.output,
    `SELECT d.recorded_at, d.customer_trace_number || ' ' || d.decision_id AS row_key, d.customer_trace_number,
        d.decision_id, d.attempt, d.action, d.by, d.reason, d.provider_said, d.failure_type, d.decided_at, d.proven_by,
        i.run_key, i.product_code, i.profile, i.share_id, i.end_user_code, i.end_user, NULL AS until
      FROM decisions d JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
    UNION ALL
    SELECT r.recorded_at, r.order_id, r.customer_trace_number, r.decision_id, NULL, r.kind, r.by, r.reason, NULL, NULL, r.decided_at, NULL, r.run_key, coalesce(r.stage, i.product_code),
        i.profile, coalesce(r.share_id, i.share_id), i.end_user_code, i.end_user, r.until
      FROM orders r LEFT JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
      WHERE r.decision_id IS NOT NULL`,
  ),

  /** Consents and refusals, including those under which nothing was sent. */
  consentsBetween: createReader(
    RECORDS.consents.output.omit({ stands: true }),
    `SELECT ${CONSENT},
      CASE WHEN c.proof IS NULL THEN 0 ELSE 1 END AS has_proof,
      (SELECT count(*) FROM attempt_consents l WHERE c.decision = 'granted' AND l.journey_id = c.journey_id
        AND l.share_id = c.share_id AND l.applicant_id = c.applicant_id AND l.consent_id = c.consent_id) AS permitted_attempts
    FROM consents c`,
  ),

  /** The consents that match nothing, and that no person has marked as seen. */
  unmatchedBetween: createReader(
    RECORDS.unmatchedConsents.output,
    `SELECT ${CONSENT} FROM consents c WHERE c.unmatched IS NOT NULL AND c.seen_at IS NULL`,
    ({ now }) => ({ listedFrom: (column) => `${column} <= ${now}` }),
  ),

  /** Disposals that were begun or finished, and legal holds set or released. */
  disposalsBetween: createReader(
    RECORDS.disposals.output,
    'SELECT e.*, e.order_id AS row_key FROM orders e WHERE e.run_key IS NOT NULL AND e.decision_id IS NULL',
  ),

  /** Readings of sealed content. */
  accessesBetween: createReader(
    RECORDS.accesses.output,
    `SELECT r.*, r.access_id AS row_key, i.run_key, i.product_code, i.end_user_code, i.end_user
      FROM report_accesses r JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number`,
  ),
};

/** Makes a reader of records: each member of a record is a column of the statement. */
function createReader<Shape extends z.ZodRawShape>(
  record: z.ZodObject<Shape>,
  rows: string,
  listed = (_dialect: SqlDialect): Members<Row<'consents'>> => ({}),
): ReadPage<z.infer<z.ZodObject<Shape>>> {
  const members = Object.keys(record.shape);
  return async (session, query, after) => {
    const { items, end } = await readPeriod<Ordered>(session, query, 'found.run_key', listed(session.dialect), {
      from: `(${rows}) found`,
      order: ['recordedAt', 'rowKey'],
      after,
      limit: RECORDS_PAGE,
    });
    return { items: items.map((row) => pick(row, members as never[]) as z.infer<typeof record>), end };
  };
}

/** One more than a search shows. */
const MOST = 21;

/** Each part finds records by an index. A share that was not sent yet is found by its report or its consents. */
const NAMED = `SELECT 'inquiry' AS what, run_key, customer_trace_number, share_id FROM inquiries WHERE customer_trace_number = $1
  UNION ALL
  SELECT 'share', run_key, min(customer_trace_number), $1 FROM (
      SELECT run_key, customer_trace_number FROM inquiries WHERE share_id = $1
      UNION ALL SELECT run_key, NULL FROM report_shares WHERE share_id = $1
      UNION ALL SELECT journey_id, NULL FROM consents WHERE share_id = $1) shares
    GROUP BY run_key
  UNION ALL
  SELECT 'decision', i.run_key, i.customer_trace_number, i.share_id
    FROM decisions d JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number WHERE d.decision_id = $1
  UNION ALL
  SELECT DISTINCT 'decision', d.run_key, d.customer_trace_number, coalesce(d.share_id, i.share_id)
    FROM orders d LEFT JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number WHERE d.decision_id = $1`;

/**
 * Reads only: at most 21 records with exactly this name, which is a trace number or the id of a share or a decision. Others
 * than the reader's do not count: many runs may have a share of one name.
 */
export function readNamed(session: SqlSession, name: string, reach: ReadersReach): Promise<NamedRecord[]> {
  const values: SqlValue[] = [name];
  const isReached = withoutForeignRuns('named.run_key', reach, (value) => `$${values.push(value)}`);
  const where = ['1 = 1', ...isReached].join(' AND ');
  return session.read<NamedRecord>(`SELECT * FROM (${NAMED}) named WHERE ${where} LIMIT ${MOST}`, values);
}
