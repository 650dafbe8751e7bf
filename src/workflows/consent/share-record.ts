/** One share of a run, and how it stands. */

import type { ShareState } from '../../messages/journey/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { Problem } from '../../model/problems.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { CarriedInquiry } from '../inquiry/inquiry-spec.ts';
import type { EventsOut } from '../run/events-out.ts';

/** A withdrawal of which the ledger has not said yet what becomes of it. */
export interface AskedWithdrawal {
  by: string;
  reason: string;
  /** The share that is to take its place. */
  replacement?: ShareInput;
  /** Its sender was answered before the ledger was. */
  isAnswered?: true;
  /** Why the ledger, or the share's hold, has refused it. */
  refusal?: string;
}

export interface ShareRecord {
  readonly input: ShareInput;
  /** The report that it is of, from the first posting on: a repeat changes nothing about that any more. */
  report?: ReportReference;
  state: ShareState;
  customerTraceNumber?: string;
  reportReferenceNumber?: string;
  /** Of the answer that confirmed its posting. */
  remarks?: Problem[];
  attention?: 'revokedAfterPosting';
  /** When it came into its state. */
  since?: string;
  /** Until when it waits for consent, once its report exists. */
  until?: string;
  /** The report was disposed of, or came under a legal hold, before the share was posted. */
  reportIsGone?: boolean;
  /** Listed already while it waits, so that its posting costs no upsert of its own. */
  plannedTraceNumber?: string;
  /** Whom the last event named whose consent is missing, less those who have granted it since. */
  toldMissing?: string[];
  /** While it is posted or held: how the inquiry stands. */
  inquiry?: CarriedInquiry;
  withdrawal?: AskedWithdrawal;
  /** The ledger has its withdrawal; who and why is known of one that this run has asked for. */
  withdrawn?: { replacedBy?: string; by?: string; reason?: string };
}

/** Whether something may still come of the share. */
export function isOpen({ state }: ShareRecord): boolean {
  return state === 'awaitingConsent' || state === 'posting' || state === 'held';
}

export function changeShare(share: ShareRecord, state: ShareState): void {
  if (state !== share.state) share.since = new Date().toISOString();
  share.state = state;
}

/** A refusal that came while the attempt was on the wire changes nothing at the gateway: a person must see it. */
export function noteRefusalAfterPosting(
  run: { publish(): void; events: Pick<EventsOut, 'emit'> },
  share: ShareRecord,
  isRefused: boolean,
): void {
  if (share.state !== 'posted' || !isRefused) return;
  if (share.attention === undefined) {
    const { shareId } = share.input;
    run.events.emit('share.revokedAfterPosting', [shareId], { shareId, ...traceNumberOf(share) });
  }
  share.attention = 'revokedAfterPosting';
  run.publish();
}

/** As events name the inquiry. */
export function traceNumberOf({ customerTraceNumber }: ShareRecord): { customerTraceNumber?: string } {
  return customerTraceNumber === undefined ? {} : { customerTraceNumber };
}
