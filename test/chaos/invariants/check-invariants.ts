/** Every invariant, judged one after another. */
import type { Evidence } from '../evidence.ts';
import type { Invariant, Verdict } from './invariant.ts';
import { auditChain } from './ledger-rows.ts';

export const INVARIANTS: readonly Invariant[] = [auditChain];

export async function checkInvariants(
  evidence: Evidence,
  invariants: readonly Invariant[] = INVARIANTS,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { name, judge } of invariants) verdicts.push({ name, ...(await judge(evidence)) });
  return verdicts;
}
