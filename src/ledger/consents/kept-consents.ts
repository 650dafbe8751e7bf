/**
 * Consents that no run has received, or whose share no run knew when it received them. The ledger keeps and shows them,
 * and their run finds them.
 */

import { omitUndefined } from '../../base/defined.ts';
import { parseInstantMs, utcInstant } from '../../base/instants.ts';
import type { ConsentRecord, FaultyGrant, GrantFault, GrantKey } from '../../consent/consent-record.ts';
import { findEnds } from '../../consent/refusals.ts';
import { columnsFrom, toFields } from '../database/fields.ts';
import { insertRow, type SqlSession, type SqlValue, type Transaction, type Written } from '../database/sql-session.ts';
import { type ReadersReach, withoutForeignRuns } from '../owners.ts';
import type { ConsentVerdict } from '../records.ts';
import { type ConsentRow, insertConsents, type PostingRow, saidAbout, wasPosted } from './consents.ts';

/** The part of a consent that the ledger does not know. */
export const UNMATCHED = ['journey', 'share', 'applicant'] as const;
export type Unmatched = (typeof UNMATCHED)[number];

export interface KeptVerdict {
  verdict: ConsentVerdict;
  /** Absent where journey, share and applicant are known. */
  unmatched?: Unmatched;
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

/** Consents that a run has received, where the ledger needs more than the message. */
export interface ReceivedConsents extends Pick<Start, 'runKey' | 'firstRunId'> {
  /** The consents that the ledger had before, and consents to shares that the run does not know. */
  consents: readonly ConsentRecord[];
  /** The shares among them that the run does not know yet. */
  unknownShares: readonly string[];
  /** Grants that the run does not count any more. */
  faultyGrants: readonly FaultyGrant[];
}

/** A share is often requested a little after its consents. They are listed only where that takes longer. */
const SHARE_MAY_FOLLOW_MS = 60 * 60_000;

const KEY = ['journey_id', 'share_id', 'applicant_id', 'consent_id', 'decision'] as const;
/** Joins a consent `c` with its row `k` in `kept_consents`. */
export const SAME_KEY = KEY.map((column) => `k.${column} = c.${column}`).join(' AND ');

/** Records a consent that no run has received, by the rules of `recordConsents`. */
export async function keepConsent(tx: Transaction, consent: ConsentRecord): Promise<Written<KeptVerdict>> {
  const unmatched = await unmatchedIn(tx.session, consent);
  const [verdict = { kind: 'recorded' as const }] = await insertConsents(tx, [consent]);
  if (verdict.kind === 'recorded') await insertKept(tx, consent, unmatched);
  return { keep: true, value: { verdict, ...omitUndefined({ unmatched }) } };
}

/**
 * Gives the start those grants that no start has received: they count in no other. A consent that matches what the start
 * knows leaves the list of unmatched ones. Idempotent.
 */
export async function adoptConsents({ session }: Transaction, start: Start): Promise<Written<void>> {
  const { runKey, firstRunId } = start;
  await session.rows('UPDATE kept_consents SET told_to = $2 WHERE journey_id = $1 AND told_to IS NULL', [
    runKey,
    firstRunId,
  ]);
  const unmatched = await session.rows<KeptRow>(
    'SELECT * FROM kept_consents WHERE journey_id = $1 AND unmatched IS NOT NULL',
    [runKey],
  );
  for (const row of unmatched) await rematch(session, row, start);
  for (const shareId of start.reportRunKey === undefined ? [] : start.shareIds) {
    await session.rows(
      "UPDATE kept_consents SET unmatched = NULL WHERE journey_id = $1 AND share_id = $2 AND unmatched = 'share'",
      [start.reportRunKey ?? null, shareId],
    );
  }
  return { keep: true, value: undefined };
}

/** Records which start has received consents, those for unknown shares, and which grants do not count. */
export async function noteReceived(tx: Transaction, received: ReceivedConsents): Promise<Written<void>> {
  const { session, dialect } = tx;
  const { firstRunId, consents, unknownShares, faultyGrants } = received;
  for (const consent of consents) {
    await session.rows(
      `INSERT INTO kept_consents (${KEY.join(', ')}, kept_at, listed_from, told_to, unmatched)
       VALUES ($1, $2, $3, $4, $5, ${dialect.now}, ${dialect.now} + ${SHARE_MAY_FOLLOW_MS}, $6, $7)
       ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET told_to = excluded.told_to, unmatched = excluded.unmatched`,
      [...toValues(consent), firstRunId, unknownShares.includes(consent.shareId) ? 'share' : null],
    );
  }
  for (const { fault, ...grant } of faultyGrants) {
    await session.rows(
      `INSERT INTO kept_consents (${KEY.join(', ')}, kept_at, listed_from, told_to, fault)
       SELECT ${KEY.join(', ')}, ${dialect.now}, ${dialect.now}, $6, $7 FROM consents WHERE ${whereKey(1)}
       ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET fault = excluded.fault`,
      [...toValues({ ...grant, decision: 'granted' }), firstRunId, fault],
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
  const last = after ? [instantMs(after.since), ...toValues(after)] : [];
  const conditions = [
    `unmatched IS NOT NULL AND seen_at IS NULL AND listed_from <= ${dialect.now}`,
    ...(after ? [`(${order}) > (${last.map(place).join(', ')})`] : []),
    ...withoutForeignRuns('kept_consents.journey_id', reach, place),
  ];
  const rows = await session.rows<KeptRow>(
    `SELECT * FROM kept_consents WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT $1`,
    values,
  );
  return rows.map((row) => ({ ...toFields(row, [...KEY, 'unmatched']), since: utcInstant(row.kept_at) }));
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

/** Reads only: why a grant permits nothing; `undefined` also where its own share was posted under it. */
export async function readFault(tx: Transaction, grant: GrantKey): Promise<GrantFault | undefined> {
  const { session } = tx;
  const { journeyId, shareId, applicantId, consentId } = grant;
  const key = toValues({ ...grant, decision: 'granted' });
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
  const recorded = said.find((candidate) => candidate.decision === 'granted' && candidate.consentId === consentId);
  return recorded && findEnds(said)(recorded) ? 'refused' : undefined;
}

async function insertKept(
  { session, dialect }: Transaction,
  consent: ConsentRecord,
  unmatched: Unmatched | undefined,
): Promise<void> {
  await insertRow(
    session,
    'kept_consents',
    {
      ...columnsFrom(consent, KEY),
      unmatched,
    },
    {
      sql: { kept_at: dialect.now, listed_from: dialect.now },
      onConflict: 'ON CONFLICT DO NOTHING',
    },
  );
}

/** Updates what the consent matches by what the start knows. */
async function rematch(session: SqlSession, row: KeptRow, run: Start): Promise<void> {
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

function toValues({ journeyId, shareId, applicantId, consentId, decision }: UnmatchedKey): string[] {
  return [journeyId, shareId, applicantId, consentId, decision];
}
