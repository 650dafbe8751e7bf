/** Reads of a status at once: one question to the worker answers all that came before it was asked. */
import { Refusal } from '../../http/refusal.ts';
import { refusalOfError } from '../problem.ts';

interface Asked {
  /** Never rejects. Why nobody could answer, where that holds for who asks next as well. */
  over: Promise<{ error: unknown } | undefined>;
  next: Promise<object> | undefined;
}

export class SharedReads {
  readonly #runs = new Map<string, Asked>();

  /** How many runs are being asked, for tests. */
  get size(): number {
    return this.#runs.size;
  }

  /**
   * Who comes while a question is under way shares the next one, not this one: a caller whose message was answered must
   * see what it has changed. Where the worker or Temporal is away, the next one is not asked: each may wait long in vain.
   */
  read(ownerId: string, ask: () => Promise<object>): Promise<object> {
    const asked = this.#runs.get(ownerId);
    if (!asked) return this.#begin(ownerId, ask);
    asked.next ??= asked.over.then((away) => {
      if (!away) return this.#begin(ownerId, ask);
      this.#runs.delete(ownerId);
      throw away.error;
    });
    return asked.next;
  }

  #begin(ownerId: string, ask: () => Promise<object>): Promise<object> {
    const answer = ask();
    const settled = () => {
      if (!asked.next) this.#runs.delete(ownerId);
    };
    const over = answer.then(
      () => {
        settled();
        return undefined;
      },
      (error: unknown) => {
        settled();
        return isAway(error) ? { error } : undefined;
      },
    );
    const asked: Asked = { over, next: undefined };
    this.#runs.set(ownerId, asked);
    return answer;
  }
}

function isAway(error: unknown): boolean {
  return (error instanceof Refusal ? error : refusalOfError(error))?.status === 503;
}
