/** For whom a journey pulls each of its stages, and whom its reports are therefore not shared with. Pure. */
import { isRecord } from '../base/is-record.ts';
import type { StageCode } from './products.ts';

export function endUserOf(
  { endUserCode, endUserCodes }: { endUserCode: string; endUserCodes?: Partial<Record<StageCode, string>> },
  stage: StageCode,
): string {
  return endUserCodes?.[stage] ?? endUserCode;
}

/** All for whom a journey may pull. */
export function endUsersOf({ endUserCode, endUserCodes = {} }: Parameters<typeof endUserOf>[0]): string[] {
  return [...new Set([endUserCode, ...Object.values(endUserCodes)])];
}

/** The rule of a share's end user. */
export const OWN_END_USER = 'must not be the journey’s own end user';

/**
 * The end users that the report shared may be of: where the share does not say which, of each of `stages`.
 *
 * @param input of the journey, not checked yet
 */
export function ownUsersOf(
  { endUserCode, endUserCodes }: { endUserCode?: unknown; endUserCodes?: unknown },
  reportOf: unknown,
  stages: readonly StageCode[],
): unknown[] {
  const codes: Record<string, unknown> = isRecord(endUserCodes) ? endUserCodes : {};
  return stages
    .filter((stage) => reportOf === undefined || stage === reportOf)
    .map((stage) => codes[stage] ?? endUserCode);
}
