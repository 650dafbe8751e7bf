/** What the digits of an SSN say of this one consumer: a return code, or a file that changes. */

const SECONDUSE_OFFSET = 5000;

/**
 * 0000 to 0999: the return code of this one consumer. Every other number is `Record`. The interface shows the first two
 * (2.4, 2.8), and the others stand for codes that it does not show (7, item 3).
 */
const RETURN_CODES: ReadonlyMap<number, string> = new Map([
  [1, 'Record'],
  [404, 'No Record'],
  [405, 'Suppress'],
  [406, 'Exempt'],
  [407, 'Error'],
  [408, 'Deferred'],
]);

/** The file of this consumer changes between preapproval and closing. */
const MOVING_FILE = 20;
/** Products whose report shows the changed file; every other product's shows the earlier one. */
const LATER_PRODUCTS: ReadonlySet<string> = new Set(['PRECLOSE', 'ACCTRVW', 'REFUPD']);

/** The state of a changing file in a report of this product; undefined for a file that does not change. */
export function magicFileOf(lastFour: string, productCode: string): { moving: 'before' | 'after' } | undefined {
  if (meaning(lastFour, productCode) !== MOVING_FILE) return undefined;
  return { moving: LATER_PRODUCTS.has(productCode) ? 'after' : 'before' };
}

/** The digits' meaning for this product, without SECONDUSE's offset; undefined where they concern another product. */
export function meaning(lastFour: string, productCode: string): number | undefined {
  const digits = Number(lastFour);
  const forSecondaryUse = digits >= SECONDUSE_OFFSET;
  if (forSecondaryUse !== (productCode === 'SECONDUSE')) return undefined;
  return forSecondaryUse ? digits - SECONDUSE_OFFSET : digits;
}

/** The return code for one consumer. FAILSAFE has no other success than `No Record`, as the sample shows it (2.8). */
export function magicReturnCode(lastFour: string, productCode: string): string {
  const code = RETURN_CODES.get(meaning(lastFour, productCode) ?? 0) ?? 'Record';
  return productCode === 'FAILSAFE' && code === 'Record' ? 'No Record' : code;
}
