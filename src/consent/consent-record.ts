/** Consents as the ledger keeps them, and what they mean for one share (types). */
import type { ConsentMessage } from '../messages/consent.ts';

export interface ConsentRecord extends ConsentMessage {
  /** When the run received it, RFC 3339. */
  receivedAt: string;
}

/** The key of a grant in the ledger. */
export type GrantKey = Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId'>;

/**
 * Why a grant permits nothing. `missing`: it is not for this share and its secondary user. `otherPerson`: when it came,
 * its applicant's id named another person than in the report.
 */
export type GrantFault = 'refused' | 'tooOld' | 'spent' | 'missing' | 'otherPerson';

/** A grant that permits nothing, and why. */
export interface FaultyGrant extends GrantKey {
  fault: GrantFault;
}

/** The decision of one applicant about one share that is in force, by all messages in the ledger. */
export type ApplicantStanding = { applicantId: string } & (
  | {
      stands: 'granted';
      grant: GrantKey & Pick<ConsentRecord, 'receivedAt'>;
      /** When the applicant decided (RFC 3339). */
      since: string;
      /** The last instant at which the grant is young enough, in milliseconds. Absent: it never becomes too old. */
      youngUntilMs?: number;
    }
  /** Absent `consentId`: refused under another share's id. */
  | { stands: 'denied' | 'revoked'; since: string; consentId?: string }
  /** `fault`: why the newest `grant` does not count. */
  | { stands: 'none'; fault?: GrantFault; grant?: GrantKey }
);

/** The ledger's answer about one share. */
export interface ShareStanding {
  shareId: string;
  /** The applicants who have consented to the share or refused it. */
  applicants: ApplicantStanding[];
  /** The share was withdrawn. */
  withdrawn?: true;
  /** The report was disposed of, or is about to be, or is under a legal hold. */
  reportGone?: true;
}
