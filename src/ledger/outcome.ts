/** What becomes of news about an attempt: how it ended, or what is known of it later. Pure; docs/protocol.md. */
import { attemptOf, type KnownInquiry, latestOf } from './claim.ts';
import type { OutcomeRecord } from './records.ts';

export interface OutcomeFacts {
  attempt: number;
  state: OutcomeRecord['state'];
  /** The row holds exactly this as the outcome that came (even where `accept` has overruled it since). */
  isRepeated: boolean;
}

export type OutcomeDecision =
  /** Write it as the attempt's outcome. */
  | { kind: 'record' }
  /** The row says this, or more than this, already. */
  | { kind: 'already' }
  /** Write it beside the row and raise attention; the outcome that stands is not touched. */
  | { kind: 'late' }
  | { kind: 'missing' };

/**
 * `unknown` may become anything as long as nothing was built on it; a known outcome never changes. After a decision
 * or a later attempt, what arrives is late: it may tell of a second posting.
 */
export function decideOutcome(known: KnownInquiry, news: OutcomeFacts): OutcomeDecision {
  const row = attemptOf(known, news.attempt);
  if (!row || row.closed) return { kind: 'missing' };
  if (news.isRepeated) return { kind: 'already' };
  const isOpen = row.state === 'sending' || row.state === 'unknown';
  // Nothing is left to compare with: what was known stays known, and only what nobody knew is news.
  if (known.disposal === 'done') return { kind: isOpen && news.state !== 'unknown' ? 'late' : 'already' };
  const isLatest = latestOf(known)?.attempt === row.attempt;
  if (isOpen && isLatest && !known.abandoned) return { kind: 'record' };
  // "I do not know" adds nothing to a row that knows, or that has been decided upon.
  return { kind: news.state === 'unknown' ? 'already' : 'late' };
}
