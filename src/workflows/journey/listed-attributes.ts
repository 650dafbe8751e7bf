/** How a journey is listed: its search attributes, from its stages, shares and holds. */

import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { StageCode } from '../../model/products.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { endUserOf, endUsersOf } from '../../model/stage-end-user.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { NeededWork } from '../run/noted-work.ts';
import type { RunAttributes } from '../run/published-attributes.ts';
import type { RetryWaits } from '../run/retry-waits.ts';
import type { StageRecord } from './stage-record.ts';

/** What of a journey shows in the lists. */
interface Listed {
  input: Pick<LendingJourneyInput, 'endUserCode' | 'endUserCodes'>;
  stages: readonly StageRecord[];
  shares: ReadonlyMap<string, ShareRecord>;
  holds: { list: HoldStatus[] };
  stageBegunLast: StageCode | undefined;
  gate: StageCode | undefined;
  waits: Pick<RetryWaits, 'first'>;
  stagesAreSettled: boolean;
  sharesAreSettled: boolean;
  sharesInWait: readonly ShareRecord[];
  openUntil: string | undefined;
  isEnding: boolean;
  isClosing: boolean;
  run: { profile: string } | undefined;
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
    WaitsFor: waitsForOf(journey),
    ...(journeyStage ? { JourneyStage: journeyStage, EndUserCode: endUser } : {}),
    ...(journey.run ? { GatewayProfile: journey.run.profile, EndUserCodes: endUsersOf(journey.input) } : {}),
    CustomerTraceNumber: traceNumbers,
  };
}

/** The longest wait where there are several. What waits for a person needs no word here. */
function waitsForOf(journey: Listed): WaitsFor | null {
  if (journey.gate && !journey.isEnding) return 'gate';
  if (journey.waits.first) return journey.waits.first;
  if (!journey.stagesAreSettled) return null;
  if (journey.sharesInWait.length > 0) return 'consents';
  const isOpen = journey.openUntil !== undefined && journey.sharesAreSettled;
  return isOpen && !journey.isEnding && !journey.isClosing ? 'requests' : null;
}

/** What of a journey a person should look at, although nothing waits for it. */
export function flaggedWork(journey: Listed & { journeyId: string }): NeededWork[] {
  const { input, stages, shares } = journey;
  const owned = { kind: 'flagged' as const, ownerId: journey.journeyId, gatewayProfile: journey.run?.profile ?? '' };
  return [
    ...stages.flatMap(({ status: { attention: reason, customerTraceNumber, productCode } }) =>
      reason === undefined || customerTraceNumber === undefined
        ? []
        : [{ ...owned, reason, customerTraceNumber, productCode, endUserCode: endUserOf(input, productCode) }],
    ),
    ...[...shares.values()].flatMap(({ attention: reason, customerTraceNumber, input: { shareId, ...share } }) =>
      reason === undefined || customerTraceNumber === undefined
        ? []
        : [
            {
              ...{ ...owned, reason, customerTraceNumber, productCode: 'SECONDUSE' as const, shareId },
              ...(share.endUserCode === undefined ? {} : { endUserCode: share.endUserCode }),
              ...(share.endUser === undefined ? {} : { endUser: share.endUser }),
            },
          ],
    ),
  ];
}
