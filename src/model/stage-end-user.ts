/** The inquiries of stages, pulls and rows as their inputs describe them, and the end users of journeys and shares. Pure. */

import { omitUndefined } from '../base/defined.ts';
import { isRecord } from '../base/is-record.ts';
import { type InquiryTerms, pickTerms } from './inquiry.ts';
import type { ProductCode, StageCode } from './products.ts';
import { toRowRunKey, toRunKey } from './run-key.ts';

/** Describes a stage's inquiry, for the check of the input and for the run. */
export function toStageInquiry(
  journey: {
    journeyId: string;
    endUserCode: string;
    endUserCodes?: Partial<Record<StageCode, string>>;
    permissiblePurposeCodes: Partial<Record<StageCode, string>>;
  },
  productCode: StageCode,
) {
  const endUserCode = journey.endUserCodes?.[productCode] ?? journey.endUserCode;
  const permissiblePurposeCode = journey.permissiblePurposeCodes[productCode];
  return { runKey: journey.journeyId, productCode, ...pickTerms({ endUserCode, permissiblePurposeCode }) };
}

/** Describes a pull's inquiry, for its check and for its run. */
export function toPullInquiry<Product extends ProductCode>(
  pull: { pullId: string; productCode: Product } & InquiryTerms,
) {
  return { runKey: toRunKey('pull', pull.pullId), productCode: pull.productCode, ...pickTerms(pull) };
}

/** Describes the inquiry of one row of a review. */
export function toRowInquiry(review: { reviewId: string } & InquiryTerms, accountId: string) {
  return { runKey: toRowRunKey(review.reviewId, accountId), productCode: 'ACCTRVW' as const, ...pickTerms(review) };
}

export const OWN_END_USER = 'must not be the journey’s own end user';

/**
 * Returns the possible end users of the shared report: if the share does not name its stage, those of all `stages`.
 *
 * @param input of the journey, not checked yet
 */
export function listOwnUsers(
  { endUserCode, endUserCodes }: { endUserCode?: unknown; endUserCodes?: unknown },
  reportOf: unknown,
  stages: readonly StageCode[],
): unknown[] {
  const codes: Record<string, unknown> = isRecord(endUserCodes) ? endUserCodes : {};
  return stages
    .filter((stage) => reportOf === undefined || stage === reportOf)
    .map((stage) => codes[stage] ?? endUserCode);
}

export function toSecondaryUser({ endUserCode, endUser }: Partial<SecondaryUser>): SecondaryUser {
  return omitUndefined({ endUserCode, endUser });
}

/** The name of a secondary user for people. */
export function describeSecondaryUser({ endUserCode, endUser }: Partial<SecondaryUser>): string {
  return [endUserCode, endUser].filter((name) => name !== undefined).join(', ');
}

/**
 * Whether a consent names this secondary user. If either side has a code, the code decides, since several users may
 * have one name. A name beside the code is compared if both sides have one.
 */
export function isForUser(named: SecondaryUser, user: SecondaryUser): boolean {
  if (named.endUserCode !== user.endUserCode) return false;
  if (user.endUserCode === undefined) return user.endUser !== undefined && named.endUser === user.endUser;
  return named.endUser === undefined || user.endUser === undefined || named.endUser === user.endUser;
}

/** A secondary user: a code, a name, or both (interface 2.6). */
export interface SecondaryUser {
  endUserCode?: string;
  endUser?: string;
}
