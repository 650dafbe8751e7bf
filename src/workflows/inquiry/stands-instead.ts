/** What the ledger has where a decision came too late. */
import type { InquiryFailure } from '../../activities/contract.ts';
import type { InquiryContent } from '../../model/inquiry.ts';
import type { AttemptHost, AttemptStep } from './attempt-step.ts';
import { lookAgain, standsInTheWay } from './ledger-look-ups.ts';

/**
 * What stands in the ledger instead of a decision. Looks up the request, since recording a decision does not compare it:
 * the outcome may belong to another request.
 *
 * @param attempt the one that comes next
 */
export async function standsInstead(
  host: AttemptHost,
  content: InquiryContent,
  failure: InquiryFailure,
  attempt: number,
): Promise<AttemptStep> {
  if (failure.claimed) return lookAgain(host, content, failure.attempt);
  const found = await standsInTheWay(host, content, attempt);
  return found ?? { kind: 'failed', recorded: true, failure };
}
