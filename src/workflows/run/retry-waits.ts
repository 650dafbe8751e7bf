/** What the inquiries of a run wait for that are retried, by trace number. To note it publishes nothing. */
import type { WaitsFor } from '../../model/search-attributes.ts';

export class RetryWaits {
  readonly #listed = new Map<string, WaitsFor>();
  readonly #words = new Map<string, string>();

  /** What the lists are to say; nothing once an attempt has got through. */
  note(customerTraceNumber: string, waitsFor: WaitsFor | undefined): void {
    put(this.#listed, customerTraceNumber, waitsFor);
  }

  of(customerTraceNumber: string): WaitsFor | undefined {
    return this.#listed.get(customerTraceNumber);
  }

  /** Of the inquiry that has waited longest. */
  get first(): WaitsFor | undefined {
    return this.#listed.values().next().value;
  }

  /** How many wait. */
  get count(): number {
    return this.#listed.size;
  }

  /** What the retry waits for, in words; nothing while an attempt is made. */
  tell(customerTraceNumber: string, words: string | undefined): void {
    put(this.#words, customerTraceNumber, words);
  }

  /** What a retry waits for, in words; `undefined` where none waits. */
  get words(): string | undefined {
    return this.#words.values().next().value;
  }
}

function put<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
