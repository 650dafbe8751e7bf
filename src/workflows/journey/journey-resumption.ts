/** What a journey hands over to its next run (continue-as-new). Plain data; personal like the journey's own input. */
import type { CarriedRefusal } from '../../consent/applicants-word.ts';
import type { CarriedConsent } from '../../consent/carried-consent.ts';
import type { JourneyOutcome, PassGateMessage, WithdrawMessage } from '../../messages/journey/shapes.ts';
import type { Applicant } from '../../model/applicant.ts';
import type { StageCode } from '../../model/products.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { RunResumption } from '../run/run.ts';
import type { StageRecord } from './stage-record.ts';

export interface JourneyResumption extends RunResumption<WithdrawMessage> {
  stages: StageRecord[];
  shares: ShareRecord[];
  advances: PassGateMessage[];
  applicants: Applicant[];
  applicantIds: string[];
  consents: CarriedConsent[];
  /** What was refused under other shares' ids. */
  elsewhere: CarriedRefusal[];
  /** Shares requested after consents to them had come, of which the ledger does not know yet. */
  matchedShares: readonly string[];
  stageWasAbandoned: boolean;
  isClosing: boolean;
  hasHeard: boolean;
  gate?: { before: StageCode; since: string; until: string };
  stagesEndedAs?: JourneyOutcome;
  openUntil?: string;
}
