/**
 * The pauses of the ledger's port: while one is in force, no worker of any queue claims anything for its profiles.
 * Errors as everywhere in the port.
 */
import type { Authorization } from './retention.ts';

/** What a pause covers: one gateway profile, or all of them. */
export interface PauseScope {
  /** Absent: all profiles. */
  profile?: string;
}

/** A pause, in force or past. The ledger keeps both ends for ever. */
export interface Pause extends PauseScope, Authorization {
  /** RFC 3339, by the ledger's clock. */
  since: string;
  /** Absent while it is in force. */
  ended?: Authorization & { at: string };
}

/** `duplicate`: the scope was paused already; that pause stands, and nothing was written. */
export interface PauseVerdict {
  kind: 'paused' | 'duplicate';
  pause: Pause;
  /** Attempts of the scope that were claimed before and may still be answered. */
  inFlight: number;
}

export type ResumeVerdict = { kind: 'resumed'; pause: Pause } | { kind: 'notPaused' };

/** An inquiry whose claim was refused by a pause. */
export interface WaitingInquiry extends Required<PauseScope> {
  workflowId: string;
  customerTraceNumber: string;
  /** When its claim was refused last, in milliseconds since 1970. */
  notedAtMs: number;
}

export interface Pauses {
  /** From its commit on nothing is claimed for the scope, until `end` of the same scope. */
  begin(ledgerId: string, scope: PauseScope, authorization: Authorization): Promise<PauseVerdict>;

  /** Ends the pause of exactly this scope. A profile that another pause covers too stays paused. */
  end(ledgerId: string, scope: PauseScope, authorization: Authorization): Promise<ResumeVerdict>;

  /** All pauses, in force and past, the oldest first. */
  list(): Promise<Pause[]>;

  /** Inquiries that a pause has stopped, and that no pause covers any more. */
  waiting(): Promise<WaitingInquiry[]>;

  /** Forgets inquiries whose runs got the signal; keeps those that a pause has stopped again since. Idempotent. */
  forget(ledgerId: string, inquiries: readonly WaitingInquiry[]): Promise<void>;
}

/** `inquiries of all profiles`, `inquiries of the profile east`. */
export function scopeWords({ profile }: PauseScope): string {
  return profile === undefined ? 'inquiries of all profiles' : `inquiries of the profile ${profile}`;
}

/** The pause as one sentence without its full stop: what is paused, since when, by whom and why. */
export function pauseWords(pause: Pause): string {
  return `${scopeWords(pause)} are paused since ${pause.since}, by ${pause.by}: ${pause.reason}`;
}
