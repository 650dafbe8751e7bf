/**
 * The part of the ledger's port for consents that no run has received, or whose share no run knew when it received them
 * (types). The ledger keeps and shows them, and their run finds them. Errors as everywhere in the port.
 */

import type { ConsentRecord, FaultyGrant, GrantFault } from '../consent/consent-record.ts';
import type { ReadersReach } from './readers-reach.ts';
import type { ConsentVerdict } from './records.ts';

/** The part of a consent that the ledger does not know. */
export const UNMATCHED = ['journey', 'share', 'applicant'] as const;
export type Unmatched = (typeof UNMATCHED)[number];

export interface KeptVerdict {
  verdict: ConsentVerdict;
  /** Absent where journey, share and applicant are known. */
  unmatched?: Unmatched;
  /** Why a grant that the ledger had before permits nothing. */
  fault?: GrantFault;
}

/** A consent that matches nothing, for people. */
export interface UnmatchedConsent extends Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId'> {
  decision: ConsentRecord['decision'];
  unmatched: Unmatched;
  /** When the ledger got it (RFC 3339). */
  since: string;
}

/** A reader's reach leaves out runs of which the ledger knows that they are another's. */
export interface UnmatchedQuery extends ReadersReach {
  /** At most so many; from 1. */
  limit: number;
  /** The last one of the page before. */
  after?: UnmatchedConsent;
}

/** A run that begins, and what it knows. */
export interface HearingRun {
  ownerId: string;
  /**
   * The first run of its chain. What one run of the chain has received counts in all of them, and in no other start.
   */
  firstRunId: string;
  shareIds: readonly string[];
  applicantIds: readonly string[];
}

/** A consent from before the run. */
export interface HeardConsent {
  consent: ConsentRecord;
  /** A revocation that names a grant in the ledger: it ends that grant alone. */
  namesGrant?: true;
}

/** Consents that a run has received, where the ledger needs more than the message. */
export interface ToldConsents {
  ownerId: string;
  firstRunId: string;
  consents: readonly ConsentRecord[];
  /** The shares among them that the run does not know yet. */
  unknownShares: readonly string[];
  /** Shares that the run has come to know since it received consents to them. */
  matchedShares: readonly string[];
  /** Grants that the run does not count any more. */
  faultyGrants: readonly FaultyGrant[];
}

export interface KeptConsents {
  /** Records a consent that no run has received, by the rules of `recordConsents`. */
  keep(ledgerId: string, consent: ConsentRecord): Promise<KeptVerdict>;

  /**
   * What a run that begins must hear, in the order in which it came: every refusal for its shares, and the grants that
   * no other start has received. From then on these grants belong to this start. The newest 1,000 where there are more.
   */
  hear(ledgerId: string, run: HearingRun): Promise<HeardConsent[]>;

  /** Records what a run has received for shares that it does not know, which of them it has come to know, and which grants it does not count. */
  noteTold(ledgerId: string, told: ToldConsents): Promise<void>;

  /**
   * Reads only: the oldest consents that match nothing, and that no person has marked as seen.
   *
   * @throws RangeError where `since` of `after` is no instant
   */
  unmatched(query: UnmatchedQuery): Promise<UnmatchedConsent[]>;

  /** Marks the consents of one owner as seen by a person; returns how many there were. */
  markSeen(ledgerId: string, seen: { ownerId: string; by: string; reason: string }): Promise<number>;
}
