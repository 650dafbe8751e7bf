/** Rows of `consents` and `attempt_consents`: grants, refusals, and the grants that permitted each attempt. */

import type { ConsentRecord, GrantKey } from '../../consent/consent-record.ts';
import { consentDifferences } from '../../consent/refusals.ts';
import { chaining } from '../audit/audit-chain.ts';
import { type Columns, columnsFrom, toFields } from '../database/fields.ts';
import { insertRow, type SqlSession, type SqlValue, type Transaction, type Written } from '../database/sql-session.ts';
import type { ConsentVerdict } from '../records.ts';

/** Columns with the content of a consent, except its secondary user and its evidence. */
const SAID = [
  'journey_id',
  'share_id',
  'applicant_id',
  'consent_id',
  'decision',
  'decided_at',
  'received_at',
  'proof',
] as const;
const SECONDARY_USER = ['end_user_code', 'end_user'] as const;

export interface ConsentRow
  extends Columns<Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId' | 'decision'>>,
    Columns<Pick<ConsentRecord, 'decidedAt' | 'receivedAt' | 'proof'> & ConsentRecord['secondaryUser']> {
  evidence: string | null;
  recorded_at: number;
  /** The start that has received it (the first run of its chain). */
  first_run_id: string | null;
}

/**
 * Append-only, idempotent by (journeyId, shareId, applicantId, consentId, decision): an earlier consent under the same
 * key stays. Returns the verdict on each, in the same order.
 *
 * @param firstRunId the start that has received them; absent where no run has
 */
export async function recordConsents(
  tx: Transaction,
  consents: readonly ConsentRecord[],
  firstRunId?: string,
): Promise<Written<ConsentVerdict[]>> {
  return { keep: true, value: await insertConsents(tx, consents, firstRunId) };
}

/** Like `recordConsents`, as a part of a transaction. */
export async function insertConsents(
  tx: Transaction,
  consents: readonly ConsentRecord[],
  firstRunId?: string,
): Promise<ConsentVerdict[]> {
  const verdicts: ConsentVerdict[] = [];
  if (consents.length === 0) return verdicts;
  await chaining(tx, async (insert) => {
    for (const consent of consents) {
      const columns = { ...consentColumns(consent), first_run_id: firstRunId };
      const row = await insert('consents', columns, { orKeep: true });
      verdicts.push(row ? { kind: 'recorded' } : await verdictOnKnown(tx, consent));
    }
  });
  return verdicts;
}

/** Judges a consent whose key has a row already: from an earlier try of this call, or from another message. */
async function verdictOnKnown({ session }: Transaction, consent: ConsentRecord): Promise<ConsentVerdict> {
  const [row] = await session.rows<ConsentRow>(
    `SELECT * FROM consents WHERE journey_id = $1 AND share_id = $2 AND applicant_id = $3 AND consent_id = $4
       AND decision = $5`,
    [consent.journeyId, consent.shareId, consent.applicantId, consent.consentId, consent.decision],
  );
  if (!row) return { kind: 'known', paths: [] };
  const hasGrantedSince = consent.decidedNow === true && (await isGrantedSince(session, row));
  const paths = consentDifferences(consentRecord(row), consent, { hasGrantedSince });
  const isThis = paths.length === 0 && row.received_at === consent.receivedAt;
  return isThis ? { kind: 'recorded' } : { kind: 'known', paths };
}

/** Whether the applicant has granted the share after the ledger took this row. */
async function isGrantedSince(session: SqlSession, row: ConsentRow): Promise<boolean> {
  const since = await session.rows(
    `SELECT 1 FROM consents WHERE journey_id = $1 AND share_id = $2 AND applicant_id = $3 AND decision = 'granted'
       AND recorded_at > $4 LIMIT 1`,
    [row.journey_id, row.share_id, row.applicant_id, row.recorded_at],
  );
  return since.length > 0;
}

function consentColumns(consent: ConsentRecord): Record<string, SqlValue | undefined> {
  return {
    ...columnsFrom(consent, SAID),
    ...columnsFrom(consent.secondaryUser, SECONDARY_USER),
    evidence: consent.evidence ? JSON.stringify(consent.evidence) : null,
  };
}

/** Everything that one applicant has said about one share, as far as the rules about refusals need it. */
export async function saidAbout(
  { session }: Transaction,
  { journeyId, shareId, applicantId }: Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId'>,
): Promise<ConsentRecord[]> {
  const rows = await session.rows<ConsentRow>(
    'SELECT * FROM consents WHERE journey_id = $1 AND share_id = $2 AND applicant_id = $3',
    [journeyId, shareId, applicantId],
  );
  return rows.map(consentRecord);
}

/** Records which grants permitted this attempt. */
export async function linkConsents(
  { session }: Transaction,
  attempt: { customerTraceNumber: string; attempt: number },
  grants: readonly GrantKey[],
): Promise<void> {
  await Promise.all(
    grants.map((grant) =>
      insertRow(
        session,
        'attempt_consents',
        {
          ...columnsFrom(attempt, ['customer_trace_number', 'attempt']),
          ...columnsFrom(grant, ['journey_id', 'share_id', 'applicant_id', 'consent_id']),
        },
        { onConflict: 'ON CONFLICT DO NOTHING' },
      ),
    ),
  );
}

/** The columns that show whether an attempt of SECONDUSE was posted. */
export interface PostingRow {
  state: string;
  outcome: string | null;
  answer_kind: string | null;
  late_state: string | null;
}

/**
 * Whether a share was, or may have been, posted. Where it may have been, the person who revoked the consent has a right
 * to know.
 */
export function wasPosted({ state, outcome, answer_kind, late_state }: PostingRow): boolean {
  // A late answer may still mean a posting.
  if (state === 'sending' || state === 'unknown' || late_state === 'answered') return true;
  // For SECONDUSE only `Record` means posted; an answer that could not be read may mean it.
  if (state === 'accepted') return outcome === 'record';
  return state === 'answered' && (answer_kind !== 'outcome' || outcome === 'record');
}

export function consentRecord(row: ConsentRow): ConsentRecord {
  return {
    ...toFields(row, SAID),
    secondaryUser: toFields(row, SECONDARY_USER),
    ...(row.evidence === null ? {} : { evidence: JSON.parse(row.evidence) as NonNullable<ConsentRecord['evidence']> }),
  };
}
