/**
 * Decides about an attempt whose activity was lost. A look-up that finds no claim of it closes it, so that a worker
 * without contact can no longer claim it. Not on an older copy, which may lack the claim. Pure; docs/protocol.md, fence 1.
 */
import {
  CLAIM_RULES,
  type ClaimDecision,
  type ClaimFacts,
  type ClaimRule,
  decideClaim,
  type KnownInquiry,
} from '../claim.ts';

type CloseDecision =
  /** Write that it was not sent; `permittedBy` is the decision that it would have spent. */
  { kind: 'close'; permittedBy?: string } | Exclude<ClaimDecision, { kind: 'claim' }>;

export interface KnownAtClosing extends KnownInquiry {
  /** An operator has accepted an older copy since the attempt began: a missing attempt may have been sent. */
  mayLackAttempt?: boolean;
}

/**
 * The rules that keep an attempt from being closed: those about the attempts themselves, and about the writer. An
 * attempt that cannot be claimed needs no closing. A closed attempt after a gap, or after an undecided attempt, would
 * let the next one be claimed. All other reasons against a claim may end, so they do not prevent closing.
 */
const CLOSE_RULES: readonly string[] = [
  'olderWriter',
  'anotherLedger',
  'anotherRequest',
  'abandoned',
  'disposedOf',
  'previousMissing',
  'madeAlready',
  'inFlight',
  'settled',
  'needsDecision',
  'answeredLate',
];

/** @param rules tests leave out single ones to show what each prevents */
export function decideClose(
  known: KnownAtClosing,
  attempt: ClaimFacts,
  rules: readonly ClaimRule[] = CLAIM_RULES,
): CloseDecision {
  const verdict = decideClaim(
    known,
    attempt,
    rules.filter(({ name }) => CLOSE_RULES.includes(name)),
  );
  if (verdict.kind !== 'claim') return verdict;
  // A missing attempt proves nothing here. Once the copy is accepted, a person must decide.
  if (known.isRestored) return { kind: 'ledgerRestored' };
  if (known.mayLackAttempt) return { kind: 'ledgerChanged' };
  return { kind: 'close', ...(verdict.permittedBy === undefined ? {} : { permittedBy: verdict.permittedBy }) };
}
