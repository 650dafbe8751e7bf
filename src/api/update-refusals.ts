/** Why a run, or the ledger, refuses a message: from the sentence for people to the code for programs. */
import type { ProblemCode } from '../http/problem-codes.ts';
import { Refusal } from '../http/refusal.ts';
import { problemIn } from '../model/problems.ts';

/** The first that fits. The sentences are those of `workflows`, `consent` and `operator`; a test holds each of them. */
const CAUSES: readonly [sign: RegExp, code: ProblemCode][] = [
  [/with other content|must be what was recorded before/, 'differs'],
  [/must not be in the future/, 'inFuture'],
  [/proof/, 'unproven'],
  [/send a new grant under a new consentId/, 'noLongerCounts'],
  [/is ending/, 'ending'],
  [/another decision|was decided already/, 'decided'],
  [/is on hold$|hold is about attempt|nothing waits for a decision|nothing is flagged/, 'notOnHold'],
  [/ names (?:no|another|a stage that this journey leaves out)|^there is no gate/, 'unknownPart'],
];

export function causeIn(reason: string): ProblemCode {
  return CAUSES.find(([sign]) => sign.test(reason))?.[1] ?? 'notNow';
}

/** @param details further members of the answer */
export function refusedMessage(reason: string, details: Readonly<Record<string, unknown>> = {}): Refusal {
  const problems = reason.startsWith('/') ? [problemIn(reason)] : [];
  return new Refusal(409, 'Conflict', 'decided' in details ? 'decided' : causeIn(reason), reason, {
    problems,
    details,
  });
}
