/** How a journey is listed: its search attributes, from its stages, shares and holds. */
import type { StageCode } from '../../model/products.ts';
import type { RunAttributes } from '../run/published-attributes.ts';
import type { Journey } from './journey.ts';

/** @param journeyStage `undefined` where stage and end user stay as they are listed */
export function listedAttributes(
  journey: Journey,
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
  return {
    NeedsAttention: attention[0] ?? null,
    ...(journeyStage ? { JourneyStage: journeyStage, EndUserCode: journey.input.endUserCode } : {}),
    CustomerTraceNumber: traceNumbers,
  };
}
