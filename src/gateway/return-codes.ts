import type { ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import type { GatewayProfile } from './profile.ts';

/**
 * The codes that interface 2.4 and 2.8 show. The complete list is not shown (7.3): a person decides about every other
 * code, unless the profile's `returnCodes` map it.
 */
const SHOWN_CODES: ReadonlyMap<string, ReportOutcome> = new Map([
  ['Record', 'record'],
  ['No Record', 'noRecord'],
]);

/** Interface 2.7 shows `Record` alone, and only that means posted (docs/protocol.md). */
const SECOND_USE_CODES: ReadonlyMap<string, ReportOutcome> = new Map([['Record', 'record']]);

/**
 * The meaning of a `returnCode` for a product, the profile's own table first; `undefined` where neither table has it.
 */
export function outcomeOf(
  returnCode: string,
  product: ProductCode,
  profile: Pick<GatewayProfile, 'returnCodes'>,
): ReportOutcome | undefined {
  const own = profile.returnCodes[product] ?? {};
  const shown = product === 'SECONDUSE' ? SECOND_USE_CODES : SHOWN_CODES;
  const outcome = Object.hasOwn(own, returnCode) ? own[returnCode] : shown.get(returnCode);
  // Any other code of a share needs a person's decision: no setting may turn it into "no record".
  return product === 'SECONDUSE' && outcome !== 'record' ? undefined : outcome;
}
