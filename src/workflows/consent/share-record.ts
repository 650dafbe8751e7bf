/** One share of a run: its state, and which consents of its applicants it has. */

import type { ApplicantStanding, GrantKey } from '../../consent/consent-record.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { Problem } from '../../model/problems.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { InquiryState } from '../inquiry/inquiry-spec.ts';
import type { Underway } from '../run/message-answers.ts';

/** A withdrawal that the ledger has not decided yet. */
export type AskedWithdrawal = RunWithdrawal & Underway;

export interface ShareRecord {
  readonly input: ShareInput;
  /** The report that it shares. The first posting fixes it, and a later repeat of the stage does not change it. */
  report?: ReportReference;
  state: ShareState;
  customerTraceNumber?: string;
  attempts?: number;
  reportReferenceNumber?: string;
  /** From the answer that confirmed its posting. */
  remarks?: Problem[];
  attention?: 'revokedAfterPosting';
  since?: string;
  /** The end of the wait for consent, once the report exists. */
  until?: string;
  /** The applicants that the last event named as missing, without those who have granted their consent since. */
  toldMissing?: string[];
  /** State of the inquiry while the share is being posted or held. */
  inquiry?: InquiryState;
  withdrawal?: AskedWithdrawal;
  /** Set once the ledger has its withdrawal. `by` and `reason` are known if this run asked for it. */
  withdrawn?: { by?: string; reason?: string };
}

/** Whether the share has not ended yet. */
export function isOpen({ state }: ShareRecord): boolean {
  return state === 'awaitingConsent' || state === 'posting' || state === 'held';
}

export function changeShare(share: ShareRecord, state: ShareState): void {
  if (state !== share.state) share.since = new Date().toISOString();
  share.state = state;
}

/** The consents of all applicants, judged together: one refusal refuses the share. */
export interface JointConsent {
  /** `waiting` also while a refusal is on its way to the ledger. */
  kind: 'granted' | 'denied' | 'revoked' | 'waiting';
  grants: GrantKey[];
  /** The applicants without a valid grant: it never came, or is too old, refused or spent. */
  missing: string[];
  /** Milliseconds until the first valid grant becomes too old; infinite if none will. */
  endsInMs: number;
}

/**
 * @param known the ledger's answers about applicants
 * @param isBlocked whether a refusal of the share is on its way to the ledger
 * @param nowMs the instant at which the age of grants is judged. A predicate takes it from the code that waits
 *   (docs/decisions/journeys.md, 54)
 */
export function judgeConsents(
  known: readonly ApplicantStanding[],
  applicantIds: readonly string[],
  { isBlocked, nowMs }: { isBlocked: boolean; nowMs: number },
): JointConsent {
  const standings = known.filter(({ applicantId }) => applicantIds.includes(applicantId));
  // A grant is valid up to and including its last millisecond.
  const granted = standings.flatMap((standing) =>
    standing.stands === 'granted' && nowMs <= (standing.youngUntilMs ?? nowMs) ? [standing] : [],
  );
  const missing = applicantIds.filter((id) => !granted.some(({ applicantId }) => applicantId === id));
  const refusal = (['denied', 'revoked'] as const).find((kind) => standings.some(({ stands }) => stands === kind));
  const isGranted = granted.length > 0 && missing.length === 0 && !isBlocked;
  const leftMs = granted.map(({ youngUntilMs = Number.POSITIVE_INFINITY }) => youngUntilMs + 1 - nowMs);
  return {
    kind: refusal ?? (isGranted ? 'granted' : 'waiting'),
    grants: granted.map(({ grant }) => grant),
    missing,
    endsInMs: Math.max(1, Math.min(...leftMs)),
  };
}
