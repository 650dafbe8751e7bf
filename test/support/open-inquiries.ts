/** Reads which inquiries need an operator, by the ledger's rules for each inquiry and not by its list. */
import { runInParallel } from '../../src/base/in-parallel.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { OpenInquiry } from '../../src/ledger/records.ts';
import { LATE_NEWS } from '../../src/model/inquiry.ts';

type AttentionReason = (typeof LATE_NEWS)[number];

/** Stays below the pool's number of connections. */
const READS_AT_ONCE = 8;

/** Returns the inquiries with an attempt that need an operator, the oldest first. */
export async function openInquiries(ledger: Ledger): Promise<(OpenInquiry & { attention: AttentionReason[] })[]> {
  const numbers = new Set<string>();
  for await (const { customerTraceNumber } of ledger.inquiriesBetween()) numbers.add(customerTraceNumber);
  const found = await runInParallel([...numbers], READS_AT_ONCE, async (number) => {
    const inquiry = await ledger.inquiry(number);
    return inquiry ? [{ ...inquiry, attention: await readAttention(ledger, number) }] : [];
  });
  return found.flat().filter(({ undecided, attention }) => undecided || attention.length > 0);
}

/** Returns the attention about an inquiry that no operator has acknowledged. */
export async function readAttention(ledger: Ledger, customerTraceNumber = ''): Promise<AttentionReason[]> {
  const { rows } = await ledger.tasks.open({ kind: 'flagged', customerTraceNumber, limit: LATE_NEWS.length + 1 });
  return LATE_NEWS.filter((reason) => rows.some((row) => row.reason === reason));
}
