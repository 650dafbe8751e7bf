/** Whether an inquiry belongs to the run that a caller named: its reach was judged by the run. */
import type { ApiServices } from '../services.ts';

export async function isOwnInquiry(
  { openLedger }: Pick<ApiServices, 'openLedger'>,
  ownerId: string,
  customerTraceNumber: string,
): Promise<boolean> {
  const found = await (await openLedger()).inquiry(customerTraceNumber);
  return found !== null && isOwnOf(ownerId, found.ownerId);
}

/** A review's rows are its own. */
export function isOwnOf(ownerId: string, found: string): boolean {
  return found === ownerId || (ownerId.startsWith('portfolio:') && found.startsWith(`${ownerId}/`));
}
