/** Rows of `consents` and `attempt_consents`: what was granted and refused, and what permitted each attempt. */

import type { ConsentRecord } from '../../consent/consent-record.ts';
import { consentDifferences } from '../../consent/refusals.ts';
import { chaining, columnsOf } from '../audit/audit-chain.ts';
import type { SqlRow, SqlSession } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { ConsentVerdict } from '../records.ts';
import { insertRow } from './inquiry-writes.ts';

/** A row of `consents`, as read. */
export interface ConsentRow {
  journey_id: string;
  share_id: string;
  applicant_id: string;
  consent_id: string;
  decision: ConsentRecord['decision'];
  decided_at: string;
  end_user_code: string | null;
  end_user: string | null;
  evidence: string | null;
  received_at: string;
  recorded_at: number;
  proof: string | null;
}

/** Append-only; an earlier row under the same (journey, share, applicant, id, decision) stays as it is. */
export async function insertConsents(writing: Writing, consents: readonly ConsentRecord[]): Promise<ConsentVerdict[]> {
  const verdicts: ConsentVerdict[] = [];
  if (consents.length === 0) return verdicts;
  await chaining(writing, async (append) => {
    for (const consent of consents) {
      const row = await insertConsent(writing, consent);
      if (row) await append('consents', row);
      verdicts.push(row ? { kind: 'recorded' } : await verdictOnKnown(writing, consent));
    }
  });
  return verdicts;
}

/** The verdict where a row stands under the same key: from an earlier try of this call, or from another message. */
async function verdictOnKnown({ session }: Writing, consent: ConsentRecord): Promise<ConsentVerdict> {
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

function insertConsent({ session, dialect }: Writing, consent: ConsentRecord): Promise<SqlRow | undefined> {
  return insertRow(
    session,
    'consents',
    {
      journey_id: consent.journeyId,
      share_id: consent.shareId,
      applicant_id: consent.applicantId,
      consent_id: consent.consentId,
      decision: consent.decision,
      decided_at: consent.decidedAt,
      end_user_code: consent.secondaryUser.endUserCode,
      end_user: consent.secondaryUser.endUser,
      evidence: consent.evidence ? JSON.stringify(consent.evidence) : null,
      received_at: consent.receivedAt,
      proof: consent.proof,
    },
    { sql: { recorded_at: dialect.now }, onConflict: 'ON CONFLICT DO NOTHING', returning: columnsOf('consents') },
  );
}

/** Everything that one applicant has said about one share, as far as the rules about refusals need it. */
export async function saidAbout(
  { session }: Writing,
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
  { session }: Writing,
  attempt: { customerTraceNumber: string; attempt: number },
  grants: readonly ConsentRecord[],
): Promise<void> {
  await Promise.all(
    grants.map((grant) =>
      insertRow(
        session,
        'attempt_consents',
        {
          customer_trace_number: attempt.customerTraceNumber,
          attempt: attempt.attempt,
          journey_id: grant.journeyId,
          share_id: grant.shareId,
          applicant_id: grant.applicantId,
          consent_id: grant.consentId,
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
  // An answer that came too late for its attempt may still mean a posting.
  if (state === 'sending' || state === 'unknown' || late_state === 'answered') return true;
  // For SECONDUSE only `Record` means posted; an answer that could not be read may mean it.
  if (state === 'accepted') return outcome === 'record';
  return state === 'answered' && (answer_kind !== 'outcome' || outcome === 'record');
}

export function consentRecord(row: ConsentRow): ConsentRecord {
  return {
    journeyId: row.journey_id,
    shareId: row.share_id,
    applicantId: row.applicant_id,
    consentId: row.consent_id,
    decision: row.decision,
    decidedAt: row.decided_at,
    secondaryUser: {
      ...(row.end_user_code === null ? {} : { endUserCode: row.end_user_code }),
      ...(row.end_user === null ? {} : { endUser: row.end_user }),
    },
    ...(row.evidence === null ? {} : { evidence: JSON.parse(row.evidence) as NonNullable<ConsentRecord['evidence']> }),
    ...(row.proof === null ? {} : { proof: row.proof }),
    receivedAt: row.received_at,
  };
}
