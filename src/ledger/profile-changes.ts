/**
 * The approved profile changes of the ledger's port: runs of a profile's old fingerprint go on under its new one.
 * Errors as everywhere in the port.
 */
import type { Authorization } from './retention.ts';

/** Two fingerprints of one profile (gateway/profile-fingerprint.ts): as a run started with it, and as it is now. */
export interface ProfileChange {
  from: string;
  to: string;
}

/** What auditors read of the profile as it is after the change. Not secret. */
export interface ProfileWay {
  tokenUrl: string;
  requestUrl: string;
  audience: string;
}

/** A person's approval. It stands for ever: a further change needs another one. */
export interface ApprovedChange extends ProfileChange, Authorization {
  profile: string;
  way: ProfileWay;
  /** RFC 3339, by the ledger's clock. */
  approvedAt: string;
}

/** `duplicate`: the change was approved before; that approval stands, and nothing was written. */
export interface ApprovalVerdict {
  kind: 'approved' | 'duplicate';
  approval: ApprovedChange;
}

export interface ProfileChanges {
  /** Append-only, idempotent by (profile, from, to): from its commit on claims of runs that started with `from` pass. */
  approve(ledgerId: string, change: Omit<ApprovedChange, 'approvedAt'>): Promise<ApprovalVerdict>;

  /** All of them, the oldest first. */
  list(): Promise<ApprovedChange[]>;
}
