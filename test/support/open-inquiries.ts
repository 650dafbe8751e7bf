/** Reads which inquiries need an operator, by the ledger's rules for each inquiry and not by its list. */
import { runInParallel } from '../../src/base/in-parallel.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { AttentionReason, OpenInquiry } from '../../src/ledger/records.ts';

/** Stays below the pool's number of connections. */
const READS_AT_ONCE = 8;

/** Returns the inquiries with an attempt that need an operator, the oldest first. */
export async function openInquiries(ledger: Ledger): Promise<OpenInquiry[]> {
  const numbers = new Set<string>();
  for await (const { customerTraceNumber } of ledger.inquiriesBetween()) numbers.add(customerTraceNumber);
  const found = await runInParallel([...numbers], READS_AT_ONCE, (number) => ledger.inquiry(number));
  return found
    .filter((inquiry) => inquiry !== null)
    .filter(({ undecided, attention }) => undecided || attention.length > 0);
}

/** Returns the attention about an inquiry that no operator has acknowledged. */
export async function readAttention(ledger: Ledger, customerTraceNumber = ''): Promise<AttentionReason[]> {
  return (await ledger.inquiry(customerTraceNumber))?.attention ?? [];
}
