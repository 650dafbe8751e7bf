/** Reads audited attempts and shares in pages by time, so that a million rows are never in memory at once. */

import { pick } from '../../base/defined.ts';
import { listApplicantOutcomes } from '../../model/consumer-results.ts';
import { type AttemptState, NOT_POSTED_STATES } from '../../model/inquiry.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveState, HELD_STATES } from '../claim.ts';
import { type Page, readKeyset, selectPeriod } from '../database/pages.ts';
import { hasMembers, isIn, readRows } from '../database/rows.ts';
import type { SqlSession, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import {
  type AttemptRow,
  type DecisionRow,
  type InquiryRow,
  openOutcome,
  selectDerived,
} from '../inquiries/inquiries.ts';
import { toClaimOwners, withoutForeignRuns } from '../owners.ts';
import type { ReportOrigin } from '../records.ts';
import { computeReferenceDigest } from '../reports/reports.ts';
import { readHoldsOn } from '../retention/legal-holds.ts';
import {
  type AuditDecision,
  type AuditedAttempt,
  type AuditedShare,
  type AuditOutcome,
  type InquiriesQuery,
  judgesAttempts,
  type Posted,
  RECORDS,
  type SharesQuery,
} from './audited.ts';

/**
 * Attempts that one statement looks at, whether or not the other conditions want them: it stays short in any ledger.
 */
const PAGE_SIZE = 1_000;

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
  { pageSize = PAGE_SIZE, ofGrants = ['applicantId', 'consentId'] }: PageOptions = {},
): Promise<Page<AuditedAttempt, FoundRow>> {
  const { reportReferenceNumber } = query;
  // An index finds the rows of these conditions.
  const { where, values, place } = selectPeriod('claimedAt', query, ['runKey', 'customerTraceNumber']);
  if (reportReferenceNumber !== undefined) {
    where.push(`(customer_trace_number, attempt) IN (SELECT r.customer_trace_number, r.attempt FROM report_references r
      WHERE r.reference_digest = ${place(computeReferenceDigest(tx.cipher, reportReferenceNumber))})`);
  }
  const isReached = ['1 = 1', ...withoutForeignRuns('i.run_key', query, place)].join(' AND ');
  // Closed attempts come before the first attempt, and were never sent.
  const { items, end } = await readKeyset<FoundRow>(tx, {
    // In a subquery of its own, the clock would keep PostgreSQL from reading the attempts in the order of their index.
    columns: `*, ${selectDerived(tx.dialect)}, CASE WHEN ${isReached} THEN 1 ELSE 0 END AS is_reached,
      (SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = i.customer_trace_number) AS first_attempt`,
    from: 'attempts a JOIN inquiries i USING (customer_trace_number)',
    where,
    values,
    order: ORDER,
    after,
    limit: pageSize,
  });
  const wanted = items.filter((row) => isWanted(row, query));
  return { items: await describeAttempts(tx, wanted, ofGrants), end };
}

function isWanted(row: FoundRow, { productCode, applicants, outcome, endUser }: InquiriesQuery): boolean {
  return (
    row.isReached === 1 &&
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
  const holds = await readHoldsOn(tx, [...new Set(rows.flatMap(({ runKey }) => toClaimOwners(runKey)))]);
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
