/** Decides what to do with news about an attempt: how it ended, or what became known later. Pure; docs/protocol.md. */
import { findAttempt, findLatest, type KnownInquiry } from '../claim.ts';
import type { OutcomeRecord } from '../records.ts';

export interface OutcomeFacts {
  attempt: number;
  state: OutcomeRecord['state'];
  /** The row holds exactly this as the outcome that came, even where an `accept` has overruled it since. */
  isRepeated: boolean;
}

export type OutcomeDecision =
  /** Write it as the attempt's outcome. */
  | { kind: 'record' }
  /** The row already holds this, or more. */
  | { kind: 'already' }
  /** Write it beside the row and raise attention; the recorded outcome stays untouched. */
  | { kind: 'late' }
  | { kind: 'missing' };

/**
 * `unknown` may change to anything as long as nothing was built on it; a known outcome never changes. After a decision
 * or a later attempt, news is late: it may reveal a second posting.
 */
export function decideOutcome(known: KnownInquiry, news: OutcomeFacts): OutcomeDecision {
  const row = findAttempt(known, news.attempt);
  if (!row || row.closed) return { kind: 'missing' };
  if (news.isRepeated) return { kind: 'already' };
  const isOpen = row.state === 'sending' || row.state === 'unknown';
  // A disposal leaves nothing to compare with. A known outcome stays, and only news about an unknown one counts.
  if (known.disposal === 'done') return { kind: isOpen && news.state !== 'unknown' ? 'late' : 'already' };
  const isLatest = findLatest(known)?.attempt === row.attempt;
  if (isOpen && isLatest && !known.abandoned) return { kind: 'record' };
  // `unknown` adds nothing to a row that has an outcome, or a decision.
  return { kind: news.state === 'unknown' ? 'already' : 'late' };
}
