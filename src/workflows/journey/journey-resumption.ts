/** What a journey hands over to its next run (continue-as-new). Plain data; personal like the journey's own input. */
import type { PreparedRun } from '../../activities/contract.ts';
import type { CarriedRefusal } from '../../consent/applicants-word.ts';
import type { CarriedConsent } from '../../consent/carried-consent.ts';
import type {
  JourneyOutcome,
  JourneyStatus,
  PassGateMessage,
  ShareInput,
  WithdrawMessage,
} from '../../messages/journey/shapes.ts';
import type { Applicant } from '../../model/applicant.ts';
import type { StageCode } from '../../model/products.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { CarriedEvents } from '../run/events-out.ts';
import type { PastHolds } from '../run/holds.ts';
import type { CarriedAttributes } from '../run/published-attributes.ts';
import type { StageRecord } from './stage-record.ts';

export interface JourneyResumption {
  /** Absent where the input was not checked yet. */
  run?: PreparedRun;
  stages: StageRecord[];
  shares: ShareRecord[];
  advances: PassGateMessage[];
  applicants: Applicant[];
  applicantIds: string[];
  consents: CarriedConsent[];
  /** What was refused under other shares' ids. */
  elsewhere: CarriedRefusal[];
  withdrawal?: WithdrawMessage;
  stageWasAbandoned: boolean;
  isClosing: boolean;
  hasHeard: boolean;
  gate?: { before: StageCode; since: string; until: string };
  stagesEndedAs?: JourneyOutcome;
  openUntil?: string;
  holds: PastHolds;
  events: CarriedEvents;
  refused: Pick<JourneyStatus, 'refusedMessages' | 'refusedMessagesTotal'>;
  published: CarriedAttributes;
}

/** The stages and shares that a journey's input lists. It is not checked yet: nothing here may fail on it. */
export function recordsOf(stages: readonly StageCode[], shares: readonly ShareInput[]) {
  return {
    stages: stages.map((productCode): StageRecord => ({ status: { productCode, state: 'pending', attempts: 0 } })),
    shares: shares.map((input): ShareRecord => ({ input, state: 'awaitingConsent' })),
  };
}
