/** The provider's answers beside the holds that they are about: what is decided, and what is left out and why. */
import { decisionProblem } from '../../client/holds/decision-problem.ts';
import type { OpenHold } from '../../client.ts';
import type { AnsweredInquiry } from './answers-file.ts';
import type { DraftDecision } from './decision-flags.ts';

export type RunHold = OpenHold & { attempt: number };

/** An answer that decides nothing. */
export interface LeftOut {
  customerTraceNumber: string;
  why: string;
}

export interface MatchedAnswers {
  planned: { hold: RunHold; draft: DraftDecision }[];
  leftOut: LeftOut[];
}

export function matchAnswers(holds: readonly RunHold[], answers: readonly AnsweredInquiry[]): MatchedAnswers {
  const matched: MatchedAnswers = { planned: [], leftOut: [] };
  const byTrace = new Map(holds.map((hold) => [hold.customerTraceNumber, hold]));
  for (const { customerTraceNumber, ...draft } of answers) {
    const hold = byTrace.get(customerTraceNumber);
    const why = hold
      ? decisionProblem(hold, draft)
      : 'no run that was asked for holds it; without a run: resolve --ledger';
    if (hold && why === null) matched.planned.push({ hold, draft });
    else matched.leftOut.push({ customerTraceNumber, why: why ?? '' });
  }
  return matched;
}
