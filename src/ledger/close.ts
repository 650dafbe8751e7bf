/**
 * What becomes of an attempt whose activity was lost: a look-up that finds no claim of it closes it, so that a worker
 * out of touch can claim it no more. Pure; docs/protocol.md, fence 1.
 */
import {
  CLAIM_RULES,
  type ClaimDecision,
  type ClaimFacts,
  type ClaimRule,
  decideClaim,
  type KnownInquiry,
} from './claim.ts';

export type CloseDecision =
  /** Write that it was not sent; `permittedBy` is the decision that it would have spent. */
  { kind: 'close'; permittedBy?: string } | Exclude<ClaimDecision, { kind: 'claim' }>;

/**
 * What forbids a claim because of the attempts themselves, or of who writes: an attempt that could not be claimed needs no closing, and over
 * a gap, or an attempt that nobody has judged, a closed one would let the next be claimed. Whatever else forbids a claim may
 * cease to, so it does not keep an attempt open.
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
];

/** @param rules to be thinned out by tests that show what each is for */
export function decideClose(
  known: KnownInquiry,
  attempt: ClaimFacts,
  rules: readonly ClaimRule[] = CLAIM_RULES,
): CloseDecision {
  const verdict = decideClaim(
    known,
    attempt,
    rules.filter(({ name }) => CLOSE_RULES.includes(name)),
  );
  if (verdict.kind !== 'claim') return verdict;
  return { kind: 'close', ...(verdict.permittedBy === undefined ? {} : { permittedBy: verdict.permittedBy }) };
}
