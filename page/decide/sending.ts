/** Sends a decision, and says what became of it. */
import { NoAnswerError, ProblemError, post, SignedOutError, wordsOf } from '../api/call.ts';
import type { DecidedBefore } from '../api/schemas.ts';
import { signedOut } from '../shell/session.ts';

/** Of a decision about one inquiry; of what was only seen, the first two. */
export interface Taken {
  accepted: true;
  duplicate: boolean;
  recorded?: boolean;
  heldBy?: 'run' | 'ledger';
}

export type Result<T> =
  | { result: 'taken'; answer: T }
  /** Another decision came first. */
  | { result: 'decided'; decided: DecidedBefore; words: string }
  /** Nothing was decided. */
  | { result: 'refused'; words: string; detail: string }
  /** Nobody knows: the same again tells. */
  | { result: 'unanswered'; words: string };

export async function send<T>(path: string, body: object): Promise<Result<T>> {
  try {
    return { result: 'taken', answer: await post<T>(path, body) };
  } catch (error) {
    if (error instanceof SignedOutError) {
      signedOut();
      return { result: 'refused', words: 'You are signed out: this was not decided.', detail: '' };
    }
    if (error instanceof NoAnswerError) {
      return {
        result: 'unanswered',
        words: 'The API did not answer, so the page does not know whether this was decided.',
      };
    }
    if (!(error instanceof ProblemError)) throw error;
    const { decided, detail, status } = error.problem;
    if (decided) return { result: 'decided', decided, words: detail };
    if (error.isUncertain || status === 429) {
      return { result: 'unanswered', words: `${wordsOf(error)} The page does not know whether this was decided.` };
    }
    return { result: 'refused', words: wordsOf(error), detail };
  }
}
