/**
 * Consents that no run has received, or whose share no run knew when it received them. The ledger keeps and shows them,
 * and their run finds them.
 */

import { defined } from '../../base/defined.ts';
import { parseInstantMs, utcInstant } from '../../base/instants.ts';
import type { ConsentRecord, FaultyGrant, GrantFault } from '../../consent/consent-record.ts';
import { refusalsAgainst, revokesAllOf } from '../../consent/refusals.ts';
import { columnsFrom, fieldsOf } from '../database/fields.ts';
import { insertRow, type SqlSession, type SqlValue, type Transaction, type Written } from '../database/sql-session.ts';
import { type ReadersReach, withoutForeignRuns } from '../owners.ts';
import type { ConsentVerdict } from '../records.ts';
import { type ConsentRow, consentRecord, insertConsents, type PostingRow, saidAbout, wasPosted } from './consents.ts';

/** The part of a consent that the ledger does not know. */
export const UNMATCHED = ['journey', 'share', 'applicant'] as const;
export type Unmatched = (typeof UNMATCHED)[number];

export interface KeptVerdict {
  verdict: ConsentVerdict;
  /** Absent where journey, share and applicant are known. */
  unmatched?: Unmatched;
  /** Why a grant that the ledger had before permits nothing. */
  fault?: GrantFault;
}

/** A consent that matches nothing, for people. */
export interface UnmatchedConsent extends Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId'> {
  decision: ConsentRecord['decision'];
  unmatched: Unmatched;
  /** When the ledger got it (RFC 3339). */
  since: string;
}

/** A reader's reach leaves out runs of which the ledger knows that they are another's. */
export interface UnmatchedQuery extends ReadersReach {
  /** At most so many; from 1. */
  limit: number;
  /** The last one of the page before. */
  after?: UnmatchedConsent;
}

/** A run that begins, and what it knows. */
export interface HearingRun {
  runKey: string;
  /**
   * The first run of its chain. What one run of the chain has received counts in all of them, and in no other start.
   */
  firstRunId: string;
  shareIds: readonly string[];
  applicantIds: readonly string[];
}

/** A consent from before the run. */
export interface HeardConsent {
  consent: ConsentRecord;
  /** A revocation that names a grant in the ledger: it ends that grant alone. */
  namesGrant?: true;
}

/** Consents that a run has received, where the ledger needs more than the message. */
export interface ToldConsents {
  runKey: string;
  firstRunId: string;
  consents: readonly ConsentRecord[];
  /** The shares among them that the run does not know yet. */
  unknownShares: readonly string[];
  /** Shares that the run has learned of since it received consents to them. */
  matchedShares: readonly string[];
  /** Grants that the run does not count any more. */
  faultyGrants: readonly FaultyGrant[];
}

/** A flood of messages must not fill a run. The claim reads every refusal all the same. */
const MOST_HEARD = 1_000;
/** A share is often requested a little after its consents. They are listed only where that takes longer. */
const SHARE_MAY_FOLLOW_MS = 60 * 60_000;

const KEY = ['journey_id', 'share_id', 'applicant_id', 'consent_id', 'decision'] as const;
const SAME_KEY = KEY.map((column) => `k.${column} = c.${column}`).join(' AND ');

/** Records a consent that no run has received, by the rules of `recordConsents`. */
export async function keepConsent(tx: Transaction, consent: ConsentRecord): Promise<Written<KeptVerdict>> {
  const unmatched = await unmatchedIn(tx.session, consent);
  const [verdict = { kind: 'recorded' as const }] = await insertConsents(tx, [consent]);
  if (verdict.kind === 'recorded') await insertKept(tx, consent, { unmatched, listedAfterMs: 0 });
  const isKnownGrant = verdict.kind === 'known' && consent.decision === 'granted';
  const fault = isKnownGrant ? await readFault(tx, consent) : undefined;
  return { keep: true, value: { verdict, ...defined({ unmatched, fault }) } };
}

/**
 * Returns the consents that a new run must receive, in order of arrival: every refusal for its shares, and the grants
 * that no other start has received. From then on these grants belong to this start. Limited to the newest 1,000.
 */
export async function hearConsents({ session }: Transaction, run: HearingRun): Promise<Written<HeardConsent[]>> {
  const { runKey, firstRunId } = run;
  await session.rows('UPDATE kept_consents SET told_to = $2 WHERE journey_id = $1 AND told_to IS NULL', [
    runKey,
    firstRunId,
  ]);
  const rows = await session.rows<ConsentRow & { told_to: string | null; unmatched: Unmatched | null }>(
    `SELECT c.*, k.told_to, k.unmatched FROM consents c LEFT JOIN kept_consents k ON ${SAME_KEY}
     WHERE c.journey_id = $1 AND (c.decision <> 'granted' OR k.told_to = $2)
     ORDER BY c.recorded_at DESC LIMIT ${MOST_HEARD}`,
    [runKey, firstRunId],
  );
  for (const row of rows) {
    if (row.unmatched !== null) await rematch(session, row, run);
  }
  const grants = await session.rows<ConsentRow>(
    "SELECT * FROM consents WHERE journey_id = $1 AND decision = 'granted'",
    [runKey],
  );
  const granted = Map.groupBy(grants.map(consentRecord), saidKey);
  const heard = rows.sort(byArrival).map((row) => {
    const said = consentRecord(row);
    const { proof: _, ...consent } = said;
    const proof = row.decision === 'granted' && row.proof !== null ? { proof: row.proof } : {};
    const namesGrant = row.decision === 'revoked' && !revokesAllOf(granted.get(saidKey(said)) ?? [], said);
    return { consent: { ...consent, ...proof }, ...(namesGrant ? { namesGrant } : {}) };
  });
  return { keep: true, value: heard };
}

/** Records what a run has received for unknown shares, which of these it now knows, and which grants do not count. */
export async function noteToldConsents(tx: Transaction, told: ToldConsents): Promise<Written<void>> {
  const { session, dialect } = tx;
  const { runKey, firstRunId, consents, unknownShares, matchedShares, faultyGrants } = told;
  for (const consent of consents) {
    const isUnknown = unknownShares.includes(consent.shareId);
    await session.rows(
      `UPDATE kept_consents SET told_to = coalesce(told_to, $6), unmatched = $7 WHERE ${whereKey(1)}`,
      [...valuesOf(consent), firstRunId, isUnknown ? 'share' : null],
    );
    if (!isUnknown) continue;
    const listedAfterMs = SHARE_MAY_FOLLOW_MS;
    await insertKept(tx, consent, { unmatched: 'share', listedAfterMs, toldTo: firstRunId });
  }
  for (const { fault, ...grant } of faultyGrants) {
    await session.rows(
      `INSERT INTO kept_consents (${KEY.join(', ')}, kept_at, listed_from, told_to, fault)
       SELECT ${KEY.join(', ')}, ${dialect.now}, ${dialect.now}, $6, $7 FROM consents WHERE ${whereKey(1)}
       ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET fault = excluded.fault`,
      [...valuesOf({ ...grant, decision: 'granted' }), firstRunId, fault],
    );
  }
  for (const shareId of matchedShares) {
    await session.rows(
      "UPDATE kept_consents SET unmatched = NULL WHERE journey_id = $1 AND share_id = $2 AND unmatched = 'share'",
      [runKey, shareId],
    );
  }
  return { keep: true, value: undefined };
}

/**
 * Reads only: the oldest consents that match nothing, and that no person has marked as seen.
 *
 * @throws RangeError where `since` of `after` is no instant
 */
export async function readUnmatched(
  { session, dialect }: Transaction,
  { limit, after, ...reach }: UnmatchedQuery,
): Promise<UnmatchedConsent[]> {
  const order = ['kept_at', ...KEY].join(', ');
  const values: SqlValue[] = [limit];
  const place = (value: SqlValue) => `$${values.push(value)}`;
  const last = after ? [instantMs(after.since), ...valuesOf(after)] : [];
  const conditions = [
    `unmatched IS NOT NULL AND seen_at IS NULL AND listed_from <= ${dialect.now}`,
    ...(after ? [`(${order}) > (${last.map(place).join(', ')})`] : []),
    ...withoutForeignRuns('kept_consents.journey_id', reach, place),
  ];
  const rows = await session.rows<KeptRow>(
    `SELECT * FROM kept_consents WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT $1`,
    values,
  );
  return rows.map((row) => ({ ...fieldsOf(row, [...KEY, 'unmatched']), since: utcInstant(row.kept_at) }));
}

/** Marks the consents of one owner as seen by a person; returns how many there were. */
export async function markConsentsSeen(
  { session, dialect }: Transaction,
  { runKey, by, reason }: { runKey: string; by: string; reason: string },
): Promise<Written<number>> {
  const rows = await session.rows(
    `UPDATE kept_consents SET seen_at = ${dialect.now}, seen_by = $2, seen_reason = $3
     WHERE journey_id = $1 AND unmatched IS NOT NULL AND seen_at IS NULL RETURNING consent_id`,
    [runKey, by, reason],
  );
  return { keep: true, value: rows.length };
}

type UnmatchedKey = Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId' | 'decision'>;

interface KeptRow extends Pick<ConsentRow, (typeof KEY)[number]> {
  kept_at: number;
  unmatched: Unmatched;
}

/**
 * The part of the consent that the ledger does not know from inquiries, shares, and consents that runs have received.
 */
async function unmatchedIn(session: SqlSession, consent: ConsentRecord): Promise<Unmatched | undefined> {
  const { journeyId, shareId, applicantId } = consent;
  const [known] = await session.rows<{ journey: number; share: number }>(
    `SELECT
       (SELECT count(*) FROM inquiries WHERE run_key = $1)
         + (SELECT count(*) FROM report_shares WHERE run_key = $1)
         + (SELECT count(*) FROM consents c WHERE c.journey_id = $1 AND NOT EXISTS (
             SELECT 1 FROM kept_consents k WHERE ${SAME_KEY} AND k.told_to IS NULL)) AS journey,
       (SELECT count(*) FROM inquiries WHERE run_key = $1 AND share_id = $2)
         + (SELECT count(*) FROM report_shares WHERE run_key = $1 AND share_id = $2)
         + (SELECT count(*) FROM report_shares s JOIN report_references r ON r.reference_digest = s.reference_digest
             JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
             WHERE s.share_id = $2 AND i.run_key = $1)
         + (SELECT count(*) FROM consents c WHERE c.journey_id = $1 AND c.share_id = $2 AND NOT EXISTS (
             SELECT 1 FROM kept_consents k WHERE ${SAME_KEY} AND (k.told_to IS NULL OR k.unmatched IS NOT NULL))) AS share`,
    [journeyId, shareId],
  );
  if (!known || Number(known.journey) === 0) return 'journey';
  if (Number(known.share) === 0) return 'share';
  const asked = await session.rows<{ applicant_ids: string }>(
    'SELECT DISTINCT applicant_ids FROM inquiries WHERE run_key = $1 AND applicant_ids IS NOT NULL',
    [journeyId],
  );
  const isKnown = asked.some(({ applicant_ids }) => (JSON.parse(applicant_ids) as string[]).includes(applicantId));
  return asked.length === 0 || isKnown ? undefined : 'applicant';
}

/** Why a grant that no run receives any more permits nothing; `undefined` where its own share was posted under it. */
async function readFault(tx: Transaction, grant: ConsentRecord): Promise<GrantFault | undefined> {
  const { session } = tx;
  const { journeyId, shareId, applicantId, consentId } = grant;
  const key = valuesOf(grant);
  const [kept] = await session.rows<{ fault: GrantFault | null }>(
    `SELECT fault FROM kept_consents WHERE ${whereKey(1)}`,
    key,
  );
  if (kept?.fault === 'spent') return kept.fault;
  const attempts = await session.rows<PostingRow>(
    `SELECT a.state, a.outcome, a.answer_kind, a.late_state FROM attempt_consents l
     JOIN attempts a ON a.customer_trace_number = l.customer_trace_number AND a.attempt = l.attempt
     JOIN inquiries i ON i.customer_trace_number = l.customer_trace_number
     WHERE l.journey_id = $1 AND l.share_id = $2 AND l.applicant_id = $3 AND l.consent_id = $4 AND i.run_key = $1`,
    [journeyId, shareId, applicantId, consentId],
  );
  if (attempts.some(wasPosted)) return undefined;
  if (kept?.fault) return kept.fault;
  const said = await saidAbout(tx, grant);
  const recorded = said.find((one) => one.decision === 'granted' && one.consentId === consentId);
  return recorded && refusalsAgainst(recorded, said).length > 0 ? 'refused' : undefined;
}

async function insertKept(
  { session, dialect }: Transaction,
  consent: ConsentRecord,
  how: { unmatched: Unmatched | undefined; listedAfterMs: number; toldTo?: string },
): Promise<void> {
  await insertRow(
    session,
    'kept_consents',
    {
      ...columnsFrom(consent, KEY),
      unmatched: how.unmatched,
      told_to: how.toldTo,
    },
    {
      sql: { kept_at: dialect.now, listed_from: `${dialect.now} + ${how.listedAfterMs}` },
      onConflict: 'ON CONFLICT DO NOTHING',
    },
  );
}

/** Updates what the consent matches by what the run that begins knows. */
async function rematch(session: SqlSession, row: ConsentRow, run: HearingRun): Promise<void> {
  const isKnown = run.applicantIds.includes(row.applicant_id);
  const unmatched = isKnown ? (run.shareIds.includes(row.share_id) ? null : 'share') : 'applicant';
  await session.rows(`UPDATE kept_consents SET unmatched = $6 WHERE ${whereKey(1)}`, [
    ...KEY.map((column) => row[column]),
    unmatched,
  ]);
}

function whereKey(from: number): string {
  return KEY.map((column, index) => `${column} = $${from + index}`).join(' AND ');
}

/** @throws RangeError */
function instantMs(text: string): number {
  const ms = parseInstantMs(text);
  if (ms === null) throw new RangeError('since must be an RFC 3339 instant with offset');
  return ms;
}

function valuesOf({ journeyId, shareId, applicantId, consentId, decision }: UnmatchedKey): string[] {
  return [journeyId, shareId, applicantId, consentId, decision];
}

function saidKey({ shareId, applicantId }: ConsentRecord): string {
  return JSON.stringify([shareId, applicantId]);
}

function byArrival(a: ConsentRow, b: ConsentRow): number {
  return Date.parse(a.received_at) - Date.parse(b.received_at) || a.recorded_at - b.recorded_at;
}
