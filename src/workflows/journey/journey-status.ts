/** How a journey stands, as its queries and its result say it. */
import type { PreparedRun } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { ConsentBook } from '../../consent/consent-book.ts';
import type {
  HoldStatus,
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyState,
  JourneyStatus,
  ShareStatus,
  TerminalState,
} from '../../messages/journey/shapes.ts';
import type { WebhookEventData } from '../../messages/webhooks/events.ts';
import type { StageCode } from '../../model/products.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { RefusedMessages } from '../run/messages/refused-messages.ts';
import type { StageRecord } from './stage-record.ts';

/** What of a journey shows in its status. */
export interface JourneyStanding {
  journeyId: string;
  run: PreparedRun | undefined;
  stages: readonly StageRecord[];
  stagesAreSettled: boolean;
  shares: ReadonlyMap<string, ShareRecord>;
  consents: Pick<ConsentBook, 'early'>;
  holds: { list: HoldStatus[] };
  gate: StageCode | undefined;
  gateTimes: { until: string };
  /** It waits at no gate any more. */
  isEnding: boolean;
  reportTooOld: StageCode | undefined;
  /** What a retry waits for, in words. */
  retry: string | undefined;
  outcome: JourneyOutcome | undefined;
  endedAs: TerminalState | undefined;
  problems: Pick<JourneyStatus, 'problems'>;
  refusedMessages: ReturnType<RefusedMessages['list']>;
  /** The applicants who have not consented. */
  ungranted(share: ShareRecord): string[];
}

/** The answer to the query `status`. */
export function journeyStatus(journey: JourneyStanding): JourneyStatus {
  const [state, waitingFor] = [stateOf(journey), waitingForOf(journey)];
  return {
    journeyId: journey.journeyId,
    environment: journey.run?.environment ?? null,
    state,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(state === 'waitingAtGate' ? { waitingUntil: journey.gateTimes.until } : {}),
    ...(journey.reportTooOld === undefined ? {} : { reportTooOld: journey.reportTooOld }),
    stages: journey.stages.map(({ status }) => ({ ...status })),
    shares: shareStatuses(journey),
    ...journey.problems,
    holds: journey.holds.list,
    ...earlyConsents(journey),
    ...journey.refusedMessages,
  };
}

/** The answer to the query `references`. */
export function journeyReferences(journey: JourneyStanding): JourneyReferences {
  const said = ofStages(journey, ({ said: words = [] }) => words);
  const withoutRecord = ofStages(journey, ({ withoutRecord: consumers = [] }) => consumers);
  return {
    journeyId: journey.journeyId,
    references: ofStages(journey, ({ reference }) => (reference ? [{ reference }] : [])),
    shares: [...journey.shares.values()].flatMap(({ input, reportReferenceNumber }) =>
      reportReferenceNumber === undefined ? [] : [{ shareId: input.shareId, reportReferenceNumber }],
    ),
    ...(said.length > 0 ? { said } : {}),
    ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
  };
}

/** Something of each stage, with the stage's name. */
function ofStages<T extends object>({ stages }: JourneyStanding, list: (stage: StageRecord) => readonly T[]) {
  return stages.flatMap((stage) => {
    const { productCode, occurrence } = stage.status;
    return list(stage).map((item) => ({ productCode, ...(occurrence === undefined ? {} : { occurrence }), ...item }));
  });
}

export function journeyResult(journey: JourneyStanding, outcome: JourneyOutcome): JourneyResult {
  if (!journey.run) throw new Error('a result before the input was checked');
  return {
    journeyId: journey.journeyId,
    environment: journey.run.environment,
    outcome,
    stages: journey.stages.map(({ status, reference }) => ({ ...status, ...(reference ? { reference } : {}) })),
    shares: shareStatuses(journey),
  };
}

function stateOf(journey: JourneyStanding): JourneyState {
  if (journey.endedAs) return journey.endedAs;
  if (journey.holds.list.length > 0) return 'held';
  if (journey.outcome) return journey.outcome;
  if (journey.gate && !journey.isEnding) return 'waitingAtGate';
  if (journey.stagesAreSettled && waitingShare(journey)) return 'waitingForConsent';
  return 'running';
}

function waitingForOf(journey: JourneyStanding): string | undefined {
  if (journey.endedAs) return undefined;
  const hold = journey.holds.list[0];
  if (hold) return `a decision about ${hold.customerTraceNumber} (${hold.failureType})`;
  if (journey.outcome) return undefined;
  if (journey.gate && !journey.isEnding) return journey.gate;
  const { retry } = journey;
  if (retry !== undefined) return retry;
  const share = journey.stagesAreSettled ? waitingShare(journey) : undefined;
  return share ? `share ${share.input.shareId}` : undefined;
}

function waitingShare(journey: JourneyStanding): ShareRecord | undefined {
  return [...journey.shares.values()].find(({ state }) => state === 'awaitingConsent');
}

function earlyConsents(journey: JourneyStanding): Pick<JourneyStatus, 'earlyConsents'> {
  const early = journey.endedAs ? undefined : journey.consents.early((shareId) => journey.shares.has(shareId));
  return early?.count ? { earlyConsents: early } : {};
}

function shareStatuses(journey: JourneyStanding): ShareStatus[] {
  return [...journey.shares.values()].map((share) => {
    const { input, state, until, customerTraceNumber, reportReferenceNumber, attention, remarks } = share;
    return {
      shareId: input.shareId,
      state,
      waitingFor: state === 'awaitingConsent' ? journey.ungranted(share) : [],
      ...(state === 'awaitingConsent' && until !== undefined ? { until } : {}),
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      ...(reportReferenceNumber === undefined ? {} : { reportReferenceNumber }),
      ...(remarks === undefined ? {} : { remarks }),
      ...(share.withdrawn?.replacedBy === undefined ? {} : { replacedBy: share.withdrawn.replacedBy }),
      ...(attention === undefined ? {} : { attention }),
    };
  });
}

/** As the event of the journey's end has them; a journey without shares has no such member. */
export function sharesAtTheEnd(journey: JourneyStanding): Pick<WebhookEventData['journey.ended'], 'shares'> {
  if (journey.shares.size === 0) return {};
  const shares = shareStatuses(journey).map(({ shareId, state, customerTraceNumber, attention }) => ({
    ...{ shareId, state },
    ...defined({ customerTraceNumber, attention }),
  }));
  return { shares };
}
