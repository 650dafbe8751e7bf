/** Reads which inquiries need a person, by the ledger's rules about each, and not by its list. */
import { runInParallel } from '../../src/base/in-parallel.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { AttentionReason, OpenInquiry } from '../../src/ledger/records.ts';

/** Fewer than the pool has connections. */
const READS_AT_ONCE = 8;

/** Returns the inquiries with an attempt that need a person, the oldest first. */
export async function openInquiries(ledger: Ledger): Promise<OpenInquiry[]> {
  const numbers = new Set<string>();
  for await (const { customerTraceNumber } of ledger.inquiriesBetween()) numbers.add(customerTraceNumber);
  const found = await runInParallel([...numbers], READS_AT_ONCE, (number) => ledger.inquiry(number));
  return found
    .filter((inquiry) => inquiry !== null)
    .filter(({ undecided, attention }) => undecided || attention.length > 0);
}

/** Returns the late news about an inquiry that no operator has seen. */
export async function readAttention(ledger: Ledger, customerTraceNumber = ''): Promise<AttentionReason[]> {
  return (await ledger.inquiry(customerTraceNumber))?.attention ?? [];
}
