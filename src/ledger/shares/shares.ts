/** Shares: the report of each, the consents about it, what its claim depends on, its withdrawal, and late refusals. */

import { pick } from '../../base/defined.ts';
import type { ConsentRecord, GrantKey } from '../../consent/consent-record.ts';
import { findEnds } from '../../consent/refusals.ts';
import { judgeGrants, judgeShare, mayMean, type StoredConsent, toConsentStanding } from '../../consent/standing.ts';
import type { Stands } from '../../messages/journey/shapes.ts';
import { NOT_POSTED_STATES } from '../../model/inquiry.ts';
import { toRunKey } from '../../model/run-key.ts';
import { type SecondaryUser, toSecondaryUser } from '../../model/stage-end-user.ts';
import { appendToChain, lockHead } from '../audit/audit-chain.ts';
import { type ConsentRow, readPostedGrants, toConsentRecord } from '../consents/consents.ts';
import { hasMembers, insertRow, isIn, readRows } from '../database/rows.ts';
import type { SqlSession, Transaction } from '../database/sql-session.ts';
import { openTask } from '../holds/holds.ts';
import { isDisposalBegun, listWords, lockInquiry } from '../inquiries/inquiries.ts';
import { appendOrder, type OrderRow } from '../orders.ts';
import type { ClaimRequest, ConsentsQuery, ReportOrigin, ShareWithdrawal } from '../records.ts';
import { computeReferenceDigest } from '../reports/report-references.ts';
import { readHolds } from '../retention/legal-holds.ts';

/**
 * Append-only, idempotent by (runKey, shareId). Writes nothing and returns `false` if
 * the key has another report's share.
 */
export async function recordShare(
  tx: Transaction,
  share: ConsentsQuery & { reportReferenceNumber: string; reportEndUserCode?: string },
): Promise<boolean> {
  const { runKey, shareId, reportReferenceNumber } = share;
  const digest = computeReferenceDigest(tx.cipher, reportReferenceNumber);
  const inserted = await insertRow(tx, 'report_shares', { ...share, referenceDigest: digest }, { orKeep: true });
  if (inserted) return true;
  const [row] = await readRows(tx, 'report_shares', { runKey, shareId });
  return row?.referenceDigest === digest;
}

/**
 * Reads only: whether the report may still be shared, and every consent about it: to this share, to any share of the
 * report's owner, and to any other share of the report that the ledger knows. For a claim, after the chain's head was
 * locked.
 */
export async function readShareFacts(tx: Transaction, query: ConsentsQuery) {
  const { runKey, shareId } = query;
  const { digest, nowMs, owners, reports } = await readOwners(tx, query);
  const rows = await readAboutReport(tx, { shareId, owners, digest });
  // The grants under this share's id under which another share was, or may have been, posted, with that share's owner.
  const uses = await readPostedGrants(tx, { journeyId: isIn(owners), shareId });
  const ofOthers = uses.filter((use) => use.runKey !== runKey);
  const usedBy = new Map(ofOthers.map((use) => [useKey(use), use.runKey]));
  const stored = rows.map((row): StoredConsent => {
    const user = row.decision === 'granted' ? usedBy.get(useKey(row)) : undefined;
    const starts = [row.firstRunId, row.toldTo].filter((start) => start !== undefined);
    return { consent: toConsentRecord(row), starts, usedBy: user, noted: row.fault };
  });
  let reportIsGone = reports.some(({ disposedAt }) => disposedAt !== undefined);
  for (const { runKey: owner } of reports) {
    reportIsGone ||= (await isDisposalBegun(tx, owner)) || (await readHolds(tx, owner)).length > 0;
  }
  // A share by itself that would be posted under the grants to its journey's share is withdrawn with that one.
  const isWithdrawal = { kind: 'withdrawShare', shareId, runKey: isIn(owners) } as const;
  const withdrawn = await readRows(tx, 'orders', isWithdrawal, 'LIMIT 1');
  return { owners, stored, reportIsGone, isWithdrawn: withdrawn.length > 0, nowMs };
}

/** Reads the run keys to which consents to the share count: its own, and those of the inquiries that its report came from. */
async function readOwners(tx: Transaction, { runKey, shareId, reportReferenceNumber }: ConsentsQuery) {
  const [known] = reportReferenceNumber === undefined ? await readRows(tx, 'report_shares', { runKey, shareId }) : [];
  // Empty where the report is not known.
  const digest = reportReferenceNumber
    ? computeReferenceDigest(tx.cipher, reportReferenceNumber)
    : (known?.referenceDigest ?? '');
  // One row without an inquiry where the ledger knows of none.
  const rows = await tx.read<{ now: number; runKey?: string; disposedAt?: string }>(
    `SELECT ${tx.dialect.now} AS now, i.run_key, i.disposed_at
     FROM ledger_identity LEFT JOIN inquiries i ON i.product_code <> 'SECONDUSE' AND i.customer_trace_number IN (
       SELECT r.customer_trace_number FROM report_references r WHERE r.reference_digest = $1)`,
    [digest],
  );
  const [{ now: nowMs } = { now: Date.now() }] = rows;
  const reports = rows.filter((row): row is typeof row & { runKey: string } => row.runKey !== undefined);
  return { digest, nowMs, reports, owners: [...new Set([runKey, ...reports.map((report) => report.runKey)])] };
}

/**
 * Reads only: the decision that is in force for applicant and share of a consent, by all that the ledger has. Grants of
 * any age and of every start of the run count.
 */
export async function readStands(
  tx: Transaction,
  consent: { runKey: string; shareId: string; applicantId: string } & SecondaryUser,
): Promise<Omit<Stands, 'changed'>> {
  const { runKey, shareId, applicantId, endUserCode, endUser } = consent;
  const { stored, owners, nowMs } = await readShareFacts(tx, { runKey, shareId });
  const terms = { shareId, owners, consentTrust: 'namespace' as const, endUserCode, endUser };
  return toConsentStanding(judgeShare(stored, terms, nowMs).applicants, applicantId);
}

/** All consents to one of the owners, for any share; and those to other shares of the report, by their own names. */
function readAboutReport(
  session: SqlSession,
  { shareId, owners, digest }: { shareId: string; owners: readonly string[]; digest: string },
): Promise<ConsentRow[]> {
  const { sql, values, place } = hasMembers({ journeyId: isIn(owners) }, 'c.');
  return session.read<ConsentRow>(
    `SELECT c.* FROM consents c WHERE ${sql} AND (c.share_id = ${place(shareId)} OR EXISTS (
         SELECT 1 FROM consents r WHERE r.journey_id = c.journey_id AND r.share_id = c.share_id
           AND r.applicant_id = c.applicant_id AND r.decision <> 'granted'))
     UNION SELECT c.* FROM report_shares s
       JOIN consents c ON c.journey_id = s.run_key AND c.share_id = s.share_id
     WHERE s.reference_digest = ${place(digest)}`,
    values,
  );
}

function useKey({ journeyId, shareId, applicantId, consentId }: GrantKey): string {
  return [journeyId, shareId, applicantId, consentId].join('|');
}

// The facts beside its own rows that decide a share's claim: the consents, and whether the report may still be used.

/**
 * Reads and judges it; `undefined` where the claim is of no share. Locks the chain's head first. So a refusal that is
 * being written is waited for. A later one finds the claim, and is then respected or flagged.
 */
export async function readClaimedShare(tx: Transaction, request: ClaimRequest) {
  const { inquiry, consents, consentValidForMs, sharedReference } = request;
  const { applicantIds = consents.map(({ applicantId }) => applicantId) } = request;
  const { productCode, runKey, shareId } = inquiry;
  if (productCode !== 'SECONDUSE' || shareId === undefined) return undefined;
  await lockHead(tx);
  const query = { runKey, shareId, reportReferenceNumber: sharedReference };
  const { owners, stored, reportIsGone, isWithdrawn, nowMs } = await readShareFacts(tx, query);
  const terms = { shareId, owners, ...toSecondaryUser(inquiry), validForMs: consentValidForMs };
  const grants = judgeGrants(stored, terms, { grants: consents, applicantIds, nowMs });
  return { reportIsGone, isWithdrawn, grants };
}

// Withdrawals of shares are orders: such shares are never posted again, under any number and by any run.
//
// A withdrawal takes the lock of the chain's head, which a share's claim takes before it reads what permits it. So each
// claim either comes before the withdrawal, which then is refused, or finds it.

/**
 * Closes every number of a share that nothing was sent under yet: from its commit on no claim of the share succeeds.
 * Append-only, idempotent by (runKey, shareId): an earlier withdrawal remains. `claimed`: that attempt may have been sent,
 * and nothing was written.
 */
export function withdrawShare(
  tx: Transaction,
  withdrawal: ShareWithdrawal,
): Promise<
  { kind: 'withdrawn'; standing: Pick<OrderRow, 'by' | 'reason' | 'recordedAt'> } | ({ kind: 'claimed' } & ReportOrigin)
> {
  const { runKey, shareId } = withdrawal;
  return appendToChain(tx, async (insert) => {
    const isThis = { runKey, shareId, kind: 'withdrawShare' } as const;
    let [row] = await readRows(tx, 'orders', isThis);
    const sent = row ? undefined : await readSentAttempt(tx, withdrawal);
    if (sent) return { kind: 'claimed', ...sent };
    const decisionId = `withdrawShare ${shareId}`;
    row ??= await appendOrder(tx, insert, { ...withdrawal, ...isThis, decisionId });
    return { kind: 'withdrawn', standing: pick(row, ['by', 'reason', 'recordedAt']) };
  });
}

/** The latest attempt of the share that may have been sent. Closed attempts have a table of their own. */
async function readSentAttempt(
  session: SqlSession,
  { runKey, shareId }: ShareWithdrawal,
): Promise<ReportOrigin | undefined> {
  const [row] = await session.read<ReportOrigin>(
    `SELECT a.customer_trace_number, a.attempt FROM attempts a
     JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE i.run_key = $1 AND i.product_code = 'SECONDUSE' AND i.share_id = $2
       AND NOT (a.state IN (${listWords(NOT_POSTED_STATES)}) AND a.late_state IS NULL)
     ORDER BY a.claimed_at DESC, a.customer_trace_number, a.attempt DESC LIMIT 1`,
    [runKey, shareId],
  );
  return row;
}

// Flags posted shares for a person if a refusal is in force against their grants.

/**
 * Marks the shares that this late refusal concerns and that were, or may have been, posted; returns how many. A refusal
 * to a share by itself ends the grant to its report's journey, and the other way round.
 */
export async function flagShares(tx: Transaction, refusal: ConsentRecord): Promise<number> {
  const said = pick(refusal, ['journeyId', 'shareId', 'applicantId']);
  const byItself = { runKey: toRunKey('share', said.shareId), shareId: said.shareId };
  const isItsName = (await readOwners(tx, byItself)).owners.includes(said.journeyId);
  const rows = [
    ...(await readRows(tx, 'attempt_consents', said)),
    ...(isItsName ? await readRows(tx, 'inquiries', { ...byItself, productCode: 'SECONDUSE' }) : []),
  ];
  const numbers = [...new Set(rows.map(({ customerTraceNumber }) => customerTraceNumber))].sort();
  // Waits for an outcome that is being written: either that transaction reads this refusal, or this one reads the
  // outcome.
  for (const customerTraceNumber of numbers) await lockInquiry(tx, customerTraceNumber);
  const links = { customerTraceNumber: isIn(numbers), applicantId: said.applicantId };
  return flagIfRefused(tx, links, (all) => [...all.filter(({ decision }) => decision === 'granted'), refusal]);
}

/**
 * Does the same for the grants of an attempt that turns out to be, or to be possibly, posted: a refusal may have come
 * while it was sent.
 *
 * @param choose which consents of the applicant count. Default: all
 */
export async function flagIfRefused(
  tx: Transaction,
  links: Parameters<typeof readPostedGrants>[1],
  choose = (said: ConsentRecord[]) => said,
): Promise<number> {
  const concerned = new Set<string>();
  // Most refusals concern no posting. The full history of messages is read only for those that do.
  for (const posted of await readPostedGrants(tx, links)) {
    // The outcome of an attempt in progress, or the end of its time, decides.
    if (posted.state === 'sending') continue;
    const { journeyId, shareId, applicantId, consentId } = posted;
    const names = isIn([journeyId, ...(await readOwners(tx, posted)).owners]);
    const history = (await readRows(tx, 'consents', { journeyId: names, shareId, applicantId })).map(toConsentRecord);
    const isGrant = (consent: ConsentRecord) => consent.decision === 'granted';
    const isSpent = (consent: ConsentRecord) => consent.journeyId === journeyId && consent.consentId === consentId;
    const grant = history.find((consent) => isGrant(consent) && isSpent(consent));
    const said = choose(history).filter((consent) => isGrant(consent) || mayMean(consent.secondaryUser, posted));
    if (grant && findEnds(said)(grant)) concerned.add(posted.customerTraceNumber);
  }
  for (const customerTraceNumber of concerned)
    await openTask(tx, { kind: 'flagged', reason: 'revokedAfterPosting', customerTraceNumber });
  return concerned.size;
}
