/** How a journey is listed: its search attributes, from its stages, shares and holds. */
import type { HoldStatus, LendingJourneyInput } from '../../messages/journey/shapes.ts';
import type { StageCode } from '../../model/products.ts';
import { endUserOf } from '../../model/stage-end-user.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { RunAttributes } from '../run/published-attributes.ts';
import type { StageRecord } from './stage-record.ts';

/** What of a journey shows in the lists. */
interface Listed {
  input: Pick<LendingJourneyInput, 'endUserCode' | 'endUserCodes'>;
  stages: readonly StageRecord[];
  shares: ReadonlyMap<string, ShareRecord>;
  holds: { list: HoldStatus[] };
  stageBegunLast: StageCode | undefined;
}

/** @param journeyStage `undefined` where stage and end user stay as they are listed */
export function listedAttributes(
  journey: Listed,
  journeyStage: StageCode | 'awaitingConsent' | undefined,
): RunAttributes {
  const stages = journey.stages.map(({ status }) => status);
  const shares = [...journey.shares.values()];
  const attention = [
    ...journey.holds.list.map(({ failureType }) => failureType),
    ...[...shares, ...stages].flatMap((one) => one.attention ?? []),
  ];
  const traceNumbers = [
    ...journey.stages.map(({ status, plannedTraceNumber }) => status.customerTraceNumber ?? plannedTraceNumber),
    ...shares.map((share) => share.customerTraceNumber ?? share.plannedTraceNumber),
  ].filter((traceNumber) => traceNumber !== undefined);
  // Of a share that waits: for whom its report was pulled.
  const stage = journeyStage === 'awaitingConsent' ? journey.stageBegunLast : journeyStage;
  const endUser = stage ? endUserOf(journey.input, stage) : journey.input.endUserCode;
  return {
    NeedsAttention: attention[0] ?? null,
    ...(journeyStage ? { JourneyStage: journeyStage, EndUserCode: endUser } : {}),
    CustomerTraceNumber: traceNumbers,
  };
}
