/**
 * How many requests are read, or worked on, at once. The others wait. Callers share the slots: one caller has no more than
 * its own part of them, and the next slot goes to the caller that has the fewest.
 */
export interface SlotLimits {
  running: number;
  /** Of one caller. */
  runningPerCaller: number;
  waiting: number;
  /** Of one caller. */
  waitingPerCaller: number;
  waitMs: number;
}

interface Waiter {
  caller: string;
  settle(mayRun: boolean): void;
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #queue = new Set<Waiter>();
  readonly #running = new CallerCounts();
  readonly #waiting = new CallerCounts();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** `false` where too many wait already, or it took too long. A caller that got a slot releases it, once. */
  async take(caller: string): Promise<boolean> {
    const { running, waiting, waitingPerCaller, waitMs } = this.#limits;
    if (this.#running.total < running && this.#mayRun(caller)) {
      this.#running.add(caller);
      return true;
    }
    if (this.#waiting.total >= waiting || this.#waiting.get(caller) >= waitingPerCaller) return false;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        caller,
        settle: (mayRun) => {
          clearTimeout(timer);
          this.#queue.delete(waiter);
          this.#waiting.remove(caller);
          if (mayRun) this.#running.add(caller);
          resolve(mayRun);
        },
      };
      const timer = setTimeout(waiter.settle, waitMs, false);
      this.#queue.add(waiter);
      this.#waiting.add(caller);
    });
  }

  release(caller: string): void {
    this.#running.remove(caller);
    let next: Waiter | undefined;
    for (const waiter of this.#queue) {
      if (!this.#mayRun(waiter.caller)) continue;
      if (!next || this.#running.get(waiter.caller) < this.#running.get(next.caller)) next = waiter;
    }
    next?.settle(true);
  }

  #mayRun(caller: string): boolean {
    return this.#running.get(caller) < this.#limits.runningPerCaller;
  }
}

/** How many of something each caller has. */
export class CallerCounts {
  readonly #counts = new Map<string, number>();
  total = 0;

  get(caller: string): number {
    return this.#counts.get(caller) ?? 0;
  }

  add(caller: string): void {
    this.total += 1;
    this.#counts.set(caller, this.get(caller) + 1);
  }

  remove(caller: string): void {
    this.total -= 1;
    const count = this.get(caller) - 1;
    if (count > 0) this.#counts.set(caller, count);
    else this.#counts.delete(caller);
  }
}
