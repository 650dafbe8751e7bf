import type { ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import type { GatewayProfile } from './profile.ts';

/**
 * Interface 2.4 and 2.8 show `Record` and `No Record`. `Suppress` and `Exempt` are known from elsewhere
 * (docs/decisions/gateway.md): an answer without a report. `Error` is known too, but in no table, so that a person
 * decides.
 */
const REPORT_CODES: ReadonlyMap<string, ReportOutcome> = new Map([
  ['Record', 'record'],
  ['No Record', 'noRecord'],
  ['Suppress', 'noReport'],
  ['Exempt', 'noReport'],
]);

const FAILSAFE_CODES: ReadonlyMap<string, ReportOutcome> = new Map([
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
  const outcome = Object.hasOwn(own, returnCode) ? own[returnCode] : builtIn(product).get(returnCode);
  // Any other code of a share needs a person's decision: no setting may turn it into "no record".
  return product === 'SECONDUSE' && outcome !== 'record' ? undefined : outcome;
}

function builtIn(product: ProductCode): ReadonlyMap<string, ReportOutcome> {
  if (product === 'SECONDUSE') return SECOND_USE_CODES;
  return product === 'FAILSAFE' ? FAILSAFE_CODES : REPORT_CODES;
}
