/**
 * The parts of a run that receives consents: `lendingJourney`, or `shareReport`, whose `journeyId` is its owner's id.
 */
import type { PreparedRun } from '../../activities/contract.ts';
import type { ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { EventsOut } from '../run/events-out.ts';
import type { Extensions } from '../run/extensions.ts';
import type { HandOver } from '../run/hand-over.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';
import type { RunDecisions } from '../run/run-decisions.ts';
import type { ConsentChecks } from './consent-checks.ts';
import type { ConsentRecorder } from './consent-recording.ts';
import type { ShareRecord } from './share-record.ts';

export interface ConsentHost {
  readonly journeyId: string;
  /** Absent until the run is prepared. */
  readonly run: PreparedRun | undefined;
  readonly consents: ConsentBook;
  readonly checks: ConsentChecks;
  readonly recorder: ConsentRecorder;
  readonly events: Pick<EventsOut, 'emit'>;
  readonly inFlight: InFlightActivities;
  readonly handOver: HandOver;
  /** The waits of shares that were made longer. */
  readonly extensions: Extensions;
  readonly decided: Pick<RunDecisions, 'isAboutShare'>;
  readonly shares: ReadonlyMap<string, ShareRecord>;
  knowsApplicant(applicantId: string): boolean;
  /** Why it is not known that a grant, coming now, is by the person of the report; a share by itself keeps its report. */
  personProblem?(grant: Pick<ConsentRecord, 'shareId' | 'applicantId'>): string | null;
  /** Of the report that is shared. */
  applicantsOf(share: ShareRecord): readonly string[];
  publish(): void;
  refuse(refused: RefusedMessage): void;
}
