/** Messages that a run has refused and whose sender waited for no answer. */
import type { RefusedMessage } from '../../../messages/journey/shapes.ts';

/** Number of messages that `status` shows; the total counts the rest. */
const SHOWN = 50;

const NONE = { refusedMessages: [], refusedMessagesTotal: 0 };

export class RefusedMessages {
  readonly #last: RefusedMessage[];
  #total: number;

  /** @param state those of the previous run */
  constructor(state: { refusedMessages: RefusedMessage[]; refusedMessagesTotal: number } = NONE) {
    this.#last = [...state.refusedMessages];
    this.#total = state.refusedMessagesTotal;
  }

  add(refused: RefusedMessage): void {
    this.#total++;
    this.#last.push(refused);
    if (this.#last.length > SHOWN) this.#last.shift();
  }

  list(): { refusedMessages: RefusedMessage[]; refusedMessagesTotal: number } {
    return { refusedMessages: [...this.#last], refusedMessagesTotal: this.#total };
  }
}
