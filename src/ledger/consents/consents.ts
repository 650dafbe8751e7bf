/**
 * Consents: each grant and each refusal is one row, whose content never changes. Its state may: which start of a run has
 * received it, what of it the ledger does not know, and who has seen that. Also the grants that permitted each attempt.
 */

import { omitUndefined, pick } from '../../base/defined.ts';
import type { ConsentRecord, FaultyGrant, GrantFault, GrantKey } from '../../consent/consent-record.ts';
import { findConsentDifferences, findEnds } from '../../consent/refusals.ts';
import { appendToChain } from '../audit/audit-chain.ts';
import type { UnmatchedConsent } from '../audit/audited.ts';
import { insertRow, readRows, toColumnName, updateRows } from '../database/rows.ts';
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

type ConsentKey = Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId' | 'decision'>;

const KEY = ['journeyId', 'shareId', 'applicantId', 'consentId', 'decision'] as const;
const SAID = [...KEY, 'decidedAt', 'receivedAt', 'proof', 'evidence'] as const;
const IS_THIS = KEY.map((name, index) => `${toColumnName(name)} = $${index + 1}`).join(' AND ');

export type ConsentRow = Row<'consents'>;

/** No start has received it. */
const IS_RECEIVED_BY_NONE = 'first_run_id IS NULL AND told_to IS NULL';

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
  const verdicts: ConsentVerdict[] = [];
  if (consents.length > 0) {
    await appendToChain(tx, async (insert) => {
      for (const consent of consents) {
        const given = { ...consent, ...consent.secondaryUser, firstRunId: receiver?.firstRunId };
        const row = await insert('consents', given, { orKeep: true });
        verdicts.push(row ? { kind: 'recorded' } : await judgeKnown(tx, consent));
        const isUnknown = receiver?.shareIds.includes(consent.shareId) === false;
        if (receiver && (!row || isUnknown)) await noteReceived(tx, consent, receiver, isUnknown);
      }
    });
  }
  for (const { fault, ...grant } of receiver?.faultyGrants ?? []) {
    await tx.session.rows(`UPDATE consents SET fault = $6, told_to = coalesce(told_to, $7) WHERE ${IS_THIS}`, [
      ...toValues({ ...grant, decision: 'granted' }),
      fault,
      receiver?.firstRunId,
    ]);
  }
  return verdicts;
}

/** Notes a further start of a known consent, and whether the start does not know the share yet. */
async function noteReceived(
  { session, dialect }: Transaction,
  consent: ConsentRecord,
  { firstRunId }: Receiver,
  isUnknown: boolean,
): Promise<void> {
  await session.rows(
    `UPDATE consents SET told_to = $6, unmatched = $7, listed_from = coalesce(listed_from, ${dialect.now} + ${SHARE_MAY_FOLLOW_MS})
     WHERE ${IS_THIS}`,
    [...toValues(consent), firstRunId, isUnknown ? 'share' : null],
  );
}

/** Records a consent that no run has received. `unmatched` is absent where journey, share and applicant are known. */
export async function keepConsent(
  tx: Transaction,
  consent: ConsentRecord,
): Promise<{ verdict: ConsentVerdict; unmatched?: Unmatched }> {
  const unmatched = await findUnmatched(tx.session, consent);
  const [verdict = { kind: 'recorded' as const }] = await recordConsents(tx, [consent]);
  if (verdict.kind === 'recorded') {
    await tx.session.rows(
      `UPDATE consents SET unmatched = $6, listed_from = coalesce(listed_from, ${tx.dialect.now})
       WHERE ${IS_THIS} AND ${IS_RECEIVED_BY_NONE}`,
      [...toValues(consent), unmatched],
    );
  }
  return { verdict, ...omitUndefined({ unmatched }) };
}

/**
 * Gives the start those grants that no start has received: they count in no other. A consent that matches what the start
 * knows leaves the list of unmatched ones. Idempotent.
 */
export async function adoptConsents({ session }: Transaction, start: Start): Promise<void> {
  const { runKey, firstRunId, shareIds, applicantIds, reportRunKey } = start;
  await session.rows(`UPDATE consents SET told_to = $2 WHERE journey_id = $1 AND ${IS_RECEIVED_BY_NONE}`, [
    runKey,
    firstRunId,
  ]);
  for (const row of await readRows(session, 'consents', { journeyId: runKey }, 'AND unmatched IS NOT NULL')) {
    const unknownShare = shareIds.includes(row.shareId) ? undefined : 'share';
    const unmatched = applicantIds.includes(row.applicantId) ? unknownShare : 'applicant';
    await updateRows(session, 'consents', pick(row, KEY), { unmatched });
  }
  for (const shareId of reportRunKey === undefined ? [] : shareIds) {
    await session.rows(
      "UPDATE consents SET unmatched = NULL WHERE journey_id = $1 AND share_id = $2 AND unmatched = 'share'",
      [reportRunKey, shareId],
    );
  }
}

/** Marks the consents of one owner as seen by a person; returns how many there were. */
export async function markConsentsSeen(
  { session, dialect }: Transaction,
  { runKey, by, reason }: { runKey: string; by: string; reason: string },
): Promise<number> {
  const rows = await session.rows(
    `UPDATE consents SET seen_at = ${dialect.now}, seen_by = $2, seen_reason = $3
     WHERE journey_id = $1 AND unmatched IS NOT NULL AND seen_at IS NULL RETURNING consent_id`,
    [runKey, by, reason],
  );
  return rows.length;
}

/** Finds what the ledger does not know from inquiries, shares, and consents that runs have received. */
async function findUnmatched(session: SqlSession, consent: ConsentRecord): Promise<Unmatched | undefined> {
  const { journeyId, shareId, applicantId } = consent;
  const received = `SELECT count(*) FROM consents WHERE journey_id = $1 AND NOT (${IS_RECEIVED_BY_NONE})`;
  const [known] = await session.read<{ journey: number; share: number }>(
    `SELECT
       (SELECT count(*) FROM inquiries WHERE run_key = $1)
         + (SELECT count(*) FROM report_shares WHERE run_key = $1)
         + (${received}) AS journey,
       (SELECT count(*) FROM inquiries WHERE run_key = $1 AND share_id = $2)
         + (SELECT count(*) FROM report_shares WHERE run_key = $1 AND share_id = $2)
         + (SELECT count(*) FROM report_shares s JOIN report_references r ON r.reference_digest = s.reference_digest
             JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
             WHERE s.share_id = $2 AND i.run_key = $1)
         + (${received} AND share_id = $2 AND unmatched IS NULL) AS share`,
    [journeyId, shareId],
  );
  if (!known || Number(known.journey) === 0) return 'journey';
  if (Number(known.share) === 0) return 'share';
  const asked = await session.read<{ applicantIds: string[] }>(
    'SELECT DISTINCT applicant_ids FROM inquiries WHERE run_key = $1 AND applicant_ids IS NOT NULL',
    [journeyId],
  );
  const isKnown = asked.some(({ applicantIds }) => applicantIds.includes(applicantId));
  return asked.length === 0 || isKnown ? undefined : 'applicant';
}

/** Reads only: why a grant permits nothing; `undefined` also where its own share was posted under it. */
export async function readFault(tx: Transaction, grant: GrantKey): Promise<GrantFault | undefined> {
  const { journeyId, shareId, applicantId, consentId } = grant;
  const recorded = await readConsent(tx.session, { ...grant, decision: 'granted' });
  if (recorded?.fault === 'spent') return recorded.fault;
  const attempts = await tx.session.read<PostingRow>(
    `SELECT a.state, a.outcome, a.answer_kind, a.late_state FROM attempt_consents l
     JOIN attempts a ON a.customer_trace_number = l.customer_trace_number AND a.attempt = l.attempt
     JOIN inquiries i ON i.customer_trace_number = l.customer_trace_number
     WHERE l.journey_id = $1 AND l.share_id = $2 AND l.applicant_id = $3 AND l.consent_id = $4 AND i.run_key = $1`,
    [journeyId, shareId, applicantId, consentId],
  );
  if (!recorded || attempts.some(wasPosted)) return undefined;
  if (recorded.fault) return recorded.fault;
  return findEnds(await readConsentHistory(tx, grant))(toConsentRecord(recorded)) ? 'refused' : undefined;
}

async function readConsent(session: SqlSession, consent: ConsentKey): Promise<ConsentRow | undefined> {
  return (await readRows(session, 'consents', pick(consent, KEY)))[0];
}

/** Judges a consent whose key has a row already: from an earlier try of this call, or from another message. */
async function judgeKnown({ session }: Transaction, consent: ConsentRecord): Promise<ConsentVerdict> {
  const row = await readConsent(session, consent);
  if (!row) return { kind: 'known', paths: [] };
  const hasGrantedSince = consent.decidedNow === true && (await isGrantedSince(session, row));
  const paths = findConsentDifferences(toConsentRecord(row), consent, { hasGrantedSince });
  const isThis = paths.length === 0 && row.receivedAt === consent.receivedAt;
  return isThis ? { kind: 'recorded' } : { kind: 'known', paths };
}

/** Whether the applicant has granted the share after the ledger took this row. */
async function isGrantedSince(session: SqlSession, row: ConsentRow): Promise<boolean> {
  const since = await session.rows(
    `SELECT 1 FROM consents WHERE journey_id = $1 AND share_id = $2 AND applicant_id = $3 AND decision = 'granted'
       AND recorded_at > $4 LIMIT 1`,
    [row.journeyId, row.shareId, row.applicantId, Date.parse(row.recordedAt)],
  );
  return since.length > 0;
}

export function toConsentRecord(row: ConsentRow): ConsentRecord {
  return { ...pick(row, SAID), secondaryUser: pick(row, ['endUserCode', 'endUser']) };
}

/** Reads the messages of one applicant about one share that the rules about refusals need. */
export async function readConsentHistory(
  { session }: Transaction,
  { journeyId, shareId, applicantId }: Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId'>,
): Promise<ConsentRecord[]> {
  return (await readRows(session, 'consents', { journeyId, shareId, applicantId })).map(toConsentRecord);
}

/** Records which grants permitted this attempt. */
export async function linkConsents(
  { session }: Transaction,
  attempt: { customerTraceNumber: string; attempt: number },
  grants: readonly GrantKey[],
): Promise<void> {
  await Promise.all(
    grants.map((grant) => insertRow(session, 'attempt_consents', { ...attempt, ...grant }, { orKeep: true })),
  );
}

/** The members that show whether an attempt of SECONDUSE was posted. */
export type PostingRow = Pick<Row<'attempts'>, 'state' | 'outcome' | 'answerKind' | 'lateState'>;

/**
 * Whether a share was, or may have been, posted. Where it may have been, the person who revoked the consent has a right
 * to know.
 */
export function wasPosted({ state, outcome, answerKind, lateState }: PostingRow): boolean {
  // A late answer may still mean a posting.
  if (state === 'sending' || state === 'unknown' || lateState === 'answered') return true;
  // For SECONDUSE only `Record` means posted; an answer that could not be read may mean it.
  if (state === 'accepted') return outcome === 'record';
  return state === 'answered' && (answerKind !== 'outcome' || outcome === 'record');
}

function toValues({ journeyId, shareId, applicantId, consentId, decision }: ConsentKey): string[] {
  return [journeyId, shareId, applicantId, consentId, decision];
}
