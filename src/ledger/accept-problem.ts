/** What the ledger holds against an `accept`, in the transaction that would write it. */
import type { InquiryDescription } from '../model/inquiry.ts';
import { wordProblem } from '../model/provider-word.ts';
import type { DecisionRecord } from './port.ts';

/** Why the decision may not be taken: a path and a rule, never a value; or `null`. */
export function acceptProblem({ productCode }: InquiryDescription, decision: DecisionRecord): string | null {
  const { action, answer, providerSaid } = decision;
  if (action === 'repeat') return null;
  const outcome = answer?.kind === 'outcome' ? answer.outcome : undefined;
  // Where it is not said why it was held, only what holds of every reason is asked for.
  const { failureType = 'UnexpectedResponse' } = decision;
  return wordProblem({ failureType, productCode }, { action, outcome, providerSaid });
}
