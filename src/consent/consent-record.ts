/** Consents as the ledger keeps them, and their meaning for one share (types). */
import type { ConsentMessage } from '../messages/consent.ts';

export interface ConsentRecord extends ConsentMessage {
  /** When the run received it, RFC 3339. */
  receivedAt: string;
}

/** Why the ledger did not take a share's claim. It wrote nothing. */
export interface ShareObjection {
  /** The share was withdrawn, and perhaps another has taken its place. */
  withdrawn?: { replacedBy?: string };
  /** The report was disposed of, or is about to be, or is under a legal hold. */
  reportGone?: true;
  /** The grants of the claim that permit nothing. */
  grants: { applicantId: string; consentId: string; fault: GrantFault }[];
  /** The refusals of their applicants: the newest that end their grants, and those under other shares' ids. */
  standing: StandingConsents;
}

/** The ledger's consents about sharing one report with one secondary user. */
export interface StandingConsents {
  /** Consents under this share's id, in the order in which they came; only those grants that count. */
  own: ConsentRecord[];
  /** Effective refusals under other ids: each ends every grant that was decided no later than it. */
  elsewhere: RefusalElsewhere[];
}

export interface RefusalElsewhere {
  applicantId: string;
  decision: 'denied' | 'revoked';
  decidedAt: string;
}

/**
 * Why a grant permits nothing. `missing`: it is not for this share and its secondary user. `otherPerson`: when it came,
 * its applicant's id named another person than in the report.
 */
export type GrantFault = 'refused' | 'tooOld' | 'spent' | 'missing' | 'otherPerson';

/** A grant that permits nothing, by its key in the ledger, and why. */
export interface FaultyGrant extends Pick<ConsentRecord, 'journeyId' | 'shareId' | 'applicantId' | 'consentId'> {
  fault: GrantFault;
}
