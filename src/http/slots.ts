/**
 * How many requests are read and worked on at once. The others wait before a byte of their body is read, so that a
 * thousand large bodies are never in memory together.
 */
export class Slots {
  readonly #limits: { running: number; waiting: number; waitMs: number };
  readonly #queue = new Set<(mayRun: boolean) => void>();
  #running = 0;

  constructor(limits: { running: number; waiting: number; waitMs: number }) {
    this.#limits = limits;
  }

  /** `false` where too many wait already, or it took too long. A caller that got one releases it, once. */
  async take(): Promise<boolean> {
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return true;
    }
    if (this.#queue.size >= this.#limits.waiting) return false;
    return new Promise((resolve) => {
      const settle = (mayRun: boolean) => {
        clearTimeout(timer);
        this.#queue.delete(settle);
        resolve(mayRun);
      };
      const timer = setTimeout(settle, this.#limits.waitMs, false);
      this.#queue.add(settle);
    });
  }

  release(): void {
    const [next] = this.#queue;
    // Handed over, not given back: the number of running ones stays.
    if (next) next(true);
    else this.#running -= 1;
  }
}
