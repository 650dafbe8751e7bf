/**
 * The part of the ledger's port for consents that no run was told, or whose share no run knew when it was told (types).
 * They are kept, shown, and found by the run that they are for. Errors as everywhere in the port.
 */

import type { ConsentRecord } from '../consent/consent-record.ts';
import type { ConsentVerdict } from './records.ts';

/** What of a consent the ledger does not know. */
export const UNMATCHED = ['journey', 'share', 'applicant'] as const;
export type Unmatched = (typeof UNMATCHED)[number];

export interface KeptVerdict {
  verdict: ConsentVerdict;
  /** Absent where journey, share and applicant are known. */
  unmatched?: Unmatched;
}

/** A consent that matches nothing, as a person reads it. */
export interface UnmatchedConsent extends Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId'> {
  decision: ConsentRecord['decision'];
  unmatched: Unmatched;
  /** Since when the ledger has it (RFC 3339). */
  since: string;
}

/** A run that begins, and what it knows. */
export interface HearingRun {
  ownerId: string;
  /** The first run of its chain: what one of them was told counts in all of them, and in no other start. */
  firstRunId: string;
  shareIds: readonly string[];
  applicantIds: readonly string[];
}

/** A consent from before a run. */
export interface HeardConsent {
  consent: ConsentRecord;
  /** A revocation that names a grant which the ledger has: it ends that one alone. */
  namesGrant?: true;
}

/** What a run was told, where the ledger has to know more of it than the message. */
export interface ToldConsents {
  ownerId: string;
  firstRunId: string;
  consents: readonly ConsentRecord[];
  /** Those of their shares that the run does not know yet. */
  unknownShares: readonly string[];
  /** Shares that the run has come to know since it was told of consents to them. */
  matchedShares: readonly string[];
}

export interface KeptConsents {
  /** Records a consent that no run was told, by the rules of `recordConsents`. */
  keep(ledgerId: string, consent: ConsentRecord): Promise<KeptVerdict>;

  /**
   * What a run that begins has to hear, in the order in which it came: every refusal for its shares, and the grants that
   * no other start was told. From then on these grants were told to this one. The newest 1,000 where there are more.
   */
  hear(ledgerId: string, run: HearingRun): Promise<HeardConsent[]>;

  /** Writes down what a run was told for shares that it does not know, and which of them it has come to know. */
  noteTold(ledgerId: string, told: ToldConsents): Promise<void>;

  /** Reads only: the oldest consents that match nothing and that no person has seen to. */
  unmatched(limit: number): Promise<UnmatchedConsent[]>;

  /** A person has seen to those of one owner; how many there were. */
  markSeen(ledgerId: string, seen: { ownerId: string; by: string; reason: string }): Promise<number>;
}
