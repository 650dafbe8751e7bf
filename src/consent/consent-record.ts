/** Consents as the ledger keeps them, and what they mean for one share (types). */
import type { ConsentMessage } from '../messages/journey/shapes.ts';

export interface ConsentRecord extends ConsentMessage {
  /** When the journey received it, RFC 3339. */
  receivedAt: string;
}

/** Why a share's claim was not taken: nothing was written. */
export interface ShareObjection {
  /** The report was disposed of, or is about to be, or is under a legal hold. */
  reportGone?: true;
  /** Those of the claim's grants that permit nothing. */
  grants: { applicantId: string; consentId: string; fault: GrantFault }[];
  /** What was refused of their applicants: the newest that end their grants, and under other shares' ids. */
  standing: StandingConsents;
}

/** What the ledger has about sharing one report with one secondary user. */
export interface StandingConsents {
  /** Said under this share's id, in the order in which it came; of the grants those that count. */
  own: ConsentRecord[];
  /** What stands refused under other ids: it ends every grant that was decided no later. */
  elsewhere: RefusalElsewhere[];
}

export interface RefusalElsewhere {
  applicantId: string;
  decision: 'denied' | 'revoked';
  decidedAt: string;
}

/** Why the ledger has not taken a grant. `missing`: it is not for this share and its secondary user. */
export type GrantFault = Exclude<GrantWorth, 'stands'> | 'spent' | 'missing';

/** What a grant is worth by everything that was said and by its age. */
export type GrantWorth = 'stands' | 'refused' | 'tooOld';
