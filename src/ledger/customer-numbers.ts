/** The numbers that one inquiry has under several customers. Pure. */

/** A trace number of a stage, pull, share or row under which something was claimed. */
interface ClaimedNumber {
  customerTraceNumber: string;
  customerId: string;
  ordinal: number;
  /** 0 for the first customer; each further one that a decision permits has the next number. */
  permittedRepeat: number;
}

/**
 * The `permittedRepeat` that a customer's numbers of one stage take. Also the number that another customer already has.
 * Two inquiries that differ only in their customer would take the same key: the second needs a decision.
 */
export function repeatOf(
  numbers: readonly ClaimedNumber[],
  { customerTraceNumber, customerId, ordinal }: Pick<ClaimedNumber, 'customerTraceNumber' | 'customerId' | 'ordinal'>,
): { permittedRepeat: number; otherNumber?: string } {
  const others = numbers.filter((one) => one.customerTraceNumber !== customerTraceNumber);
  const taken = others.findLast((one) => one.ordinal === ordinal);
  const own = numbers.find((one) => one.customerId === customerId);
  if (own && taken?.permittedRepeat !== own.permittedRepeat) return { permittedRepeat: own.permittedRepeat };
  const other = taken ?? others.at(-1);
  const next = Math.max(-1, ...others.map((one) => one.permittedRepeat)) + 1;
  return { permittedRepeat: next, ...(other ? { otherNumber: other.customerTraceNumber } : {}) };
}
