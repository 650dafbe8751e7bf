/**
 * Consents: each grant and each refusal is one row, whose content never changes. Its state may: which start of a run has
 * received it, what of it the ledger does not know, and who has seen that. Also the grants that permitted each attempt.
 */

import { isDeepStrictEqual } from 'node:util';
import { omitUndefined, pick } from '../../base/defined.ts';
import type { ConsentRecord, FaultyGrant, GrantFault, GrantKey } from '../../consent/consent-record.ts';
import { findConsentDifferences, findEnds } from '../../consent/refusals.ts';
import { parseRunKey } from '../../model/run-key.ts';
import { appendToChain } from '../audit/audit-chain.ts';
import type { UnmatchedConsent } from '../audit/audited.ts';
import { hasMembers, IS_SET, ifUnset, isIn, type Members, NOW, readRows, updateRows } from '../database/rows.ts';
import type { SqlSession, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import type { ConsentVerdict } from '../records.ts';

type Unmatched = UnmatchedConsent['unmatched'];

/** A start of a run, and what it knows. */
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
}

/** The start that receives consents. */
export interface Receiver extends Pick<Start, 'firstRunId' | 'shareIds'> {
  /** Grants that the run has found invalid. */
  faultyGrants?: readonly FaultyGrant[];
}

const SUBJECT = ['journeyId', 'shareId', 'applicantId'] as const;
const KEY = [...SUBJECT, 'consentId', 'decision'] as const;
const SAID = [...KEY, 'decidedAt', 'receivedAt', 'proof', 'evidence'] as const;

export type ConsentRow = Row<'consents'>;

/** A share is often requested a little after its consents. They are listed only where that takes longer. */
const SHARE_MAY_FOLLOW_MS = 60 * 60_000;

/**
 * Idempotent by (journeyId, shareId, applicantId, consentId, decision): an earlier consent under the same key stays.
 * Returns the verdict on each, in the same order.
 *
 * @param receiver absent where no run has received them
 */
export async function recordConsents(
  tx: Transaction,
  consents: readonly ConsentRecord[],
  receiver?: Receiver,
): Promise<ConsentVerdict[]> {
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
export async function keepConsent(
  tx: Transaction,
  consent: ConsentRecord,
): Promise<{ verdict: ConsentVerdict; unmatched?: Unmatched | undefined }> {
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
  await updateRows(
    session,
    'consents',
    { journeyId: runKey, unmatched: IS_SET },
    {
      unmatched: (_now, place) => `CASE WHEN NOT (${isIn(applicantIds)('applicant_id', place)}) THEN 'applicant'
      WHEN NOT (${isIn(shareIds)('share_id', place)}) THEN 'share' END`,
    },
  );
  if (reportRunKey === undefined) return;
  const ofReport = { journeyId: reportRunKey, shareId: isIn(shareIds), unmatched: 'share' } as const;
  await updateRows(session, 'consents', ofReport, { unmatched: undefined });
}

/** Marks the consents of one owner as seen by a person; returns how many there were. */
export function markConsentsSeen(
  session: SqlSession,
  { runKey, by, reason }: { runKey: string; by: string; reason: string },
): Promise<number> {
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
  const posted = await readPostedGrants(tx, pick(grant, [...SUBJECT, 'consentId']));
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

export function toConsentRecord(row: ConsentRow): ConsentRecord {
  return { ...pick(row, SAID), secondaryUser: pick(row, ['endUserCode', 'endUser']) };
}

/** A grant under which a share was, or may have been, posted; the attempt, and whose share it is. */
export type PostedGrant = GrantKey &
  Pick<Row<'attempts'>, 'customerTraceNumber' | 'state'> &
  Pick<Row<'inquiries'>, 'runKey' | 'endUserCode' | 'endUser'>;

/**
 * Reads the grants under which a share was, or may have been, posted. Where it may have been, the person who revoked the
 * consent has a right to know. `state` is that of the attempt; an overdue one is `unknown`.
 */
export function readPostedGrants(
  session: SqlSession,
  members: Members<Row<'attempt_consents'>>,
): Promise<PostedGrant[]> {
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
