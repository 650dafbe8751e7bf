/**
 * Shares, and the consents about them. Each grant and each refusal is one row, whose content never changes. Its state may:
 * which start of a run has received it, what of it the ledger does not know, and who has seen that. Also the report of
 * each share, what its claim depends on, its withdrawal, and late refusals.
 */

import { isDeepStrictEqual } from 'node:util';
import { omitUndefined, pick } from '../../base/defined.ts';
import type { ConsentRecord, FaultyGrant, GrantFault, GrantKey } from '../../consent/consent-record.ts';
import { findConsentDifferences, findEnds, isRefusal } from '../../consent/refusals.ts';
import { judgeGrants, judgeShare, mayMean, type StoredConsent, toConsentStanding } from '../../consent/standing.ts';
import { NOT_POSTED_STATES } from '../../model/inquiry.ts';
import { parseRunKey, toRunKey } from '../../model/run-key.ts';
import { type SecondaryUser, toSecondaryUser } from '../../model/stage-end-user.ts';
import { appendToChain, lockHead } from '../audit/audit-chain.ts';
import type { UnmatchedConsent } from '../audit/audited.ts';
import {
  type Expression,
  hasMembers,
  IS_SET,
  ifUnset,
  insertRow,
  isIn,
  type Members,
  NOW,
  readRows,
  updateRows,
} from '../database/rows.ts';
import type { SqlSession, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { openTask } from '../holds/holds.ts';
import { isDisposalBegun, listWords, lockInquiry } from '../inquiries/inquiries.ts';
import { type Authorization, appendOrder } from '../orders.ts';
import type { ClaimRequest, ConsentsQuery, ConsentVerdict, ReportOrigin, ShareWithdrawal } from '../records.ts';
import { computeReferenceDigest } from '../reports/reports.ts';
import { readHolds } from '../retention/retention.ts';

type Unmatched = UnmatchedConsent['unmatched'];

/** A start of a run that receives consents, and what it knows. */
export interface Start {
  runKey: string;
  /**
   * The first run of its chain. What one run of the chain has received counts in all of them, and in no other start.
   */
  firstRunId: string;
  shareIds: readonly string[];
  applicantIds: readonly string[];
  /** The owner of the report: consents to its shares of the same ids match, too. */
  reportRunKey?: string | undefined;
  /** Grants that the run has found invalid. */
  faultyGrants?: readonly FaultyGrant[];
}

export type Receiver = Pick<Start, 'firstRunId' | 'shareIds' | 'faultyGrants'>;

const SUBJECT = ['journeyId', 'shareId', 'applicantId'] as const;
const GRANT = [...SUBJECT, 'consentId'] as const;
const KEY = [...GRANT, 'decision'] as const;
const SAID = [...KEY, 'decidedAt', 'receivedAt', 'proof', 'evidence'] as const;

type ConsentRow = Row<'consents'>;

/** A share is often requested a little after its consents. They are listed only where that takes longer. */
const SHARE_MAY_FOLLOW_MS = 60 * 60_000;

/**
 * Idempotent by (journeyId, shareId, applicantId, consentId, decision): an earlier consent under the same key stays.
 * Returns the verdict on each, in the same order.
 *
 * @param receiver absent where no run has received them
 */
export async function recordConsents(tx: Transaction, consents: readonly ConsentRecord[], receiver?: Receiver) {
  const { faultyGrants = [] } = receiver ?? {};
  if (consents.length + faultyGrants.length === 0) return [];
  return appendToChain(tx, async (insert) => {
    for (const { fault, ...grant } of faultyGrants) {
      const isThis = pick({ ...grant, decision: 'granted' as const }, KEY);
      await updateRows(tx, 'consents', isThis, { fault, toldTo: ifUnset(receiver?.firstRunId ?? null) });
    }
    const verdicts: ConsentVerdict[] = [];
    for (const consent of consents) {
      const given = { ...consent, ...consent.secondaryUser, firstRunId: receiver?.firstRunId };
      const row = await insert('consents', given, { orKeep: true });
      verdicts.push(row ? { kind: 'recorded' } : await judgeKnown(tx, consent, consents));
      // Notes a further start of a known consent, and whether the start does not know the share yet.
      const isUnknown = receiver?.shareIds.includes(consent.shareId) === false;
      if (!receiver || (row && !isUnknown)) continue;
      await updateRows(tx, 'consents', pick(consent, KEY), {
        toldTo: receiver.firstRunId,
        unmatched: isUnknown ? 'share' : undefined,
        listedFrom: (now) => `coalesce(listed_from, ${now} + ${SHARE_MAY_FOLLOW_MS})`,
      });
    }
    return verdicts;
  });
}

/** Records a consent that no run has received. `unmatched` is absent where journey, share and applicant are known. */
export async function keepConsent(tx: Transaction, consent: ConsentRecord) {
  const unmatched = await findUnmatched(tx, consent);
  const [verdict = { kind: 'recorded' as const }] = await recordConsents(tx, [consent]);
  if (verdict.kind === 'recorded') {
    const isThis = { ...pick(consent, KEY), firstRunId: null, toldTo: null };
    const listedFrom = (now: string) => `coalesce(listed_from, ${now})`;
    await updateRows(tx, 'consents', isThis, { unmatched, listedFrom });
  }
  return { verdict, unmatched };
}

/**
 * Gives the start those grants that no start has received: they count in no other. A consent that matches what the start
 * knows leaves the list of unmatched ones. Idempotent.
 */
export async function adoptConsents(session: SqlSession, start: Start): Promise<void> {
  const { runKey, firstRunId, shareIds, applicantIds, reportRunKey } = start;
  const ofNoStart = { journeyId: runKey, firstRunId: null, toldTo: null };
  await updateRows(session, 'consents', ofNoStart, { toldTo: firstRunId });
  const judgeMatch: Expression = (_now, place) =>
    `CASE WHEN NOT (${isIn(applicantIds)('applicant_id', place)}) THEN 'applicant'
      WHEN NOT (${isIn(shareIds)('share_id', place)}) THEN 'share' END`;
  await updateRows(session, 'consents', { journeyId: runKey, unmatched: IS_SET }, { unmatched: judgeMatch });
  if (reportRunKey === undefined) return;
  const ofReport = { journeyId: reportRunKey, shareId: isIn(shareIds), unmatched: 'share' } as const;
  await updateRows(session, 'consents', ofReport, { unmatched: undefined });
}

/** Marks the consents of one owner as seen by a person; returns how many there were. */
export function markConsentsSeen(session: SqlSession, { runKey, by, reason }: Authorization & { runKey: string }) {
  const isListed = { journeyId: runKey, unmatched: IS_SET, seenAt: null };
  return updateRows(session, 'consents', isListed, { seenAt: NOW, seenBy: by, seenReason: reason });
}

/** Finds what the ledger does not know from inquiries, shares, and consents that runs have received. */
async function findUnmatched(session: SqlSession, consent: ConsentRecord): Promise<Unmatched | undefined> {
  const { journeyId, shareId, applicantId } = consent;
  const [known] = await session.read<{ journey: number; share: number }>(
    `SELECT count(*) AS journey, count(CASE WHEN share_id = $2 THEN 1 END)
         + (SELECT count(*) FROM report_shares s JOIN report_references r ON r.reference_digest = s.reference_digest
             JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
             WHERE s.share_id = $2 AND i.run_key = $1) AS share
     FROM (SELECT share_id FROM inquiries WHERE run_key = $1
       UNION ALL SELECT share_id FROM report_shares WHERE run_key = $1
       UNION ALL SELECT CASE WHEN unmatched IS NULL THEN share_id END FROM consents
         WHERE journey_id = $1 AND (first_run_id IS NOT NULL OR told_to IS NOT NULL)) known`,
    [journeyId, shareId],
  );
  if (!known?.journey && parseRunKey(journeyId).kind === 'journey') return 'journey';
  if (!known?.share) return 'share';
  const asked = await readRows(session, 'inquiries', { runKey: journeyId, applicantIds: IS_SET });
  const isKnown = asked.some(({ applicantIds = [] }) => applicantIds.includes(applicantId));
  return asked.length === 0 || isKnown ? undefined : 'applicant';
}

/**
 * Judges a consent whose key has a row already: from an earlier try of this call, or from another message.
 *
 * @param together written in the same transaction, refusals first: a grant that came before this one may follow
 */
async function judgeKnown(
  tx: Transaction,
  consent: ConsentRecord,
  together: readonly ConsentRecord[],
): Promise<ConsentVerdict> {
  const said = await readRows(tx, 'consents', pick(consent, SUBJECT));
  const row = said.find(({ consentId, decision }) => consentId === consent.consentId && decision === consent.decision);
  if (!row) throw new Error('a known consent that is not in the ledger');
  const isSaidSince = ({ decision, receivedAt }: ConsentRecord | ConsentRow) =>
    decision === 'granted' &&
    Date.parse(receivedAt) > Date.parse(row.receivedAt) &&
    Date.parse(receivedAt) < Date.parse(consent.receivedAt);
  const isAlike = (other: ConsentRecord) => isDeepStrictEqual(pick(other, SUBJECT), pick(consent, SUBJECT));
  const hasGrantedSince = consent.decidedNow === true && [...said, ...together.filter(isAlike)].some(isSaidSince);
  const paths = findConsentDifferences(toConsentRecord(row), consent, { hasGrantedSince });
  if (paths.length > 0) return { kind: 'known', paths };
  if (row.receivedAt === consent.receivedAt) return { kind: 'recorded' };
  const fault = row.decision === 'granted' ? await findFault(tx, row, said) : undefined;
  return { kind: 'known', paths, ...omitUndefined({ fault }) };
}

/** Finds why a grant permits nothing; `undefined` also where its own share was posted under it. */
async function findFault(tx: Transaction, grant: ConsentRow, said: ConsentRow[]): Promise<GrantFault | undefined> {
  if (grant.fault === 'spent') return grant.fault;
  const posted = await readPostedGrants(tx, pick(grant, GRANT));
  if (posted.some((use) => use.runKey === grant.journeyId)) return undefined;
  // The rules about refusals need all messages of the applicant about the share.
  return grant.fault ?? (findEnds(said.map(toConsentRecord))(toConsentRecord(grant)) && 'refused');
}

/** Reads only: the listed consents that match nothing, by what they lack: how many, and since when. */
export function countUnmatched(session: SqlSession) {
  return session.read<{ reason: string; count: number; since: string }>(
    `SELECT unmatched AS reason, count(*) AS count, min(recorded_at) AS since FROM consents
     WHERE unmatched IS NOT NULL AND seen_at IS NULL AND listed_from <= ${session.dialect.now} GROUP BY unmatched`,
  );
}

function toConsentRecord(row: ConsentRow): ConsentRecord {
  return { ...pick(row, SAID), secondaryUser: pick(row, ['endUserCode', 'endUser']) };
}

// Shares, their reports, and what permits a share's claim.

/** Append-only, idempotent by (runKey, shareId). Writes nothing and returns `false` if the key has another report's share. */
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
  const { sql, values, place } = hasMembers({ journeyId: isIn(owners) }, 'c.');
  // All consents to one of the owners, for any share; and those to other shares of the report, by their own names.
  const rows = await tx.read<ConsentRow>(
    `SELECT c.* FROM consents c WHERE ${sql} AND (c.share_id = ${place(shareId)} OR EXISTS (
         SELECT 1 FROM consents r WHERE r.journey_id = c.journey_id AND r.share_id = c.share_id
           AND r.applicant_id = c.applicant_id AND r.decision <> 'granted'))
     UNION SELECT c.* FROM report_shares s
       JOIN consents c ON c.journey_id = s.run_key AND c.share_id = s.share_id
     WHERE s.reference_digest = ${place(digest)}`,
    values,
  );
  // The grants under this share's id under which another share was, or may have been, posted, with that share's owner.
  const toName = (grant: GrantKey) => JSON.stringify(GRANT.map((name) => grant[name]));
  const uses = await readPostedGrants(tx, { journeyId: isIn(owners), shareId });
  const usedBy = new Map(uses.flatMap((use) => (use.runKey === runKey ? [] : [[toName(use), use.runKey]])));
  const stored = rows.map((row): StoredConsent => {
    const user = row.decision === 'granted' ? usedBy.get(toName(row)) : undefined;
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
export async function readStands(tx: Transaction, consent: ConsentsQuery & SecondaryUser & { applicantId: string }) {
  const { stored, owners, nowMs } = await readShareFacts(tx, consent);
  const terms = { owners, ...pick(consent, ['shareId', 'endUserCode', 'endUser']) };
  return toConsentStanding(judgeShare(stored, terms, nowMs).applicants, consent.applicantId);
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
 * Append-only, idempotent by (runKey, shareId): an earlier withdrawal remains. `claimed`: that attempt may have been sent
 * (the latest that may), and nothing was written.
 */
export function withdrawShare(tx: Transaction, withdrawal: ShareWithdrawal) {
  const { runKey, shareId } = withdrawal;
  return appendToChain(tx, async (insert) => {
    const isThis = { runKey, shareId, kind: 'withdrawShare' } as const;
    let [row] = await readRows(tx, 'orders', isThis);
    if (!row) {
      // Closed attempts have a table of their own.
      const [sent] = await tx.read<ReportOrigin>(
        `SELECT a.customer_trace_number, a.attempt FROM attempts a
         JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
         WHERE i.run_key = $1 AND i.product_code = 'SECONDUSE' AND i.share_id = $2
           AND NOT (a.state IN (${listWords(NOT_POSTED_STATES)}) AND a.late_state IS NULL)
         ORDER BY a.claimed_at DESC, a.customer_trace_number, a.attempt DESC LIMIT 1`,
        [runKey, shareId],
      );
      if (sent) return { kind: 'claimed' as const, ...sent };
      row = await appendOrder(tx, insert, { ...withdrawal, ...isThis, decisionId: `withdrawShare ${shareId}` });
    }
    return { kind: 'withdrawn' as const, standing: pick(row, ['by', 'reason', 'recordedAt']) };
  });
}

// Flags posted shares for a person if a refusal is in force against their grants.

type Links = Members<Row<'attempt_consents'>>;

/** A grant under which a share was, or may have been, posted; the attempt, and whose share it is. */
type PostedGrant = GrantKey &
  Pick<Row<'attempts'>, 'customerTraceNumber' | 'state'> &
  Pick<Row<'inquiries'>, 'runKey' | 'endUserCode' | 'endUser'>;

/**
 * Reads the grants under which a share was, or may have been, posted. Where it may have been, the person who revoked the
 * consent has a right to know. `state` is that of the attempt; an overdue one is `unknown`.
 */
function readPostedGrants(session: SqlSession, members: Links): Promise<PostedGrant[]> {
  const { sql, values } = hasMembers(members, 'l.');
  // A late answer may still mean a posting. For SECONDUSE only `Record` means posted; an answer that could not be read
  // may mean it.
  return session.read(
    `SELECT l.journey_id, l.share_id, l.applicant_id, l.consent_id, i.run_key, i.end_user_code, i.end_user,
       a.customer_trace_number,
       CASE WHEN a.state = 'sending' AND a.answer_by <= ${session.dialect.now} THEN 'unknown' ELSE a.state END AS state
     FROM attempt_consents l
     JOIN attempts a ON a.customer_trace_number = l.customer_trace_number AND a.attempt = l.attempt
     JOIN inquiries i ON i.customer_trace_number = l.customer_trace_number
     WHERE ${sql} AND (a.state IN ('sending', 'unknown') OR a.late_state = 'answered'
       OR (a.state IN ('accepted', 'answered') AND a.outcome = 'record')
       OR (a.state = 'answered' AND coalesce(a.answer_kind, '') <> 'outcome'))`,
    values,
  );
}

/**
 * Marks the shares that this late refusal concerns and that were, or may have been, posted; returns how many. A refusal
 * to a share by itself ends the grant to its report's journey, and the other way round.
 */
export async function flagShares(tx: Transaction, refusal: ConsentRecord): Promise<number> {
  const said = pick(refusal, SUBJECT);
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
  return flagIfRefused(tx, links, refusal);
}

/**
 * Does the same for the grants of an attempt that turns out to be, or to be possibly, posted: a refusal may have come
 * while it was sent.
 *
 * @param refusal the only one that counts. Default: all of the applicant's
 */
export async function flagIfRefused(tx: Transaction, links: Links, refusal?: ConsentRecord) {
  const concerned = new Set<string>();
  // Most refusals concern no posting. The full history of messages is read only for those that do.
  for (const posted of await readPostedGrants(tx, links)) {
    // The outcome of an attempt in progress, or the end of its time, decides.
    if (posted.state === 'sending') continue;
    const { journeyId, shareId, applicantId, consentId } = posted;
    const names = isIn([journeyId, ...(await readOwners(tx, posted)).owners]);
    const history = (await readRows(tx, 'consents', { journeyId: names, shareId, applicantId })).map(toConsentRecord);
    const grants = history.filter((consent) => !isRefusal(consent));
    const grant = grants.find((said) => said.journeyId === journeyId && said.consentId === consentId);
    const refusals = (refusal ? [refusal] : history.filter(isRefusal)).filter((said) =>
      mayMean(said.secondaryUser, posted),
    );
    if (grant && findEnds([...grants, ...refusals])(grant)) concerned.add(posted.customerTraceNumber);
  }
  for (const customerTraceNumber of concerned)
    await openTask(tx, { kind: 'flagged', reason: 'revokedAfterPosting', customerTraceNumber });
  return concerned.size;
}
