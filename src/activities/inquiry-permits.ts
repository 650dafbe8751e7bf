import type { Config } from '../config/config.ts';
import type { GatewayProfile } from '../gateway/profile.ts';

/** How long an attempt from the gateway queue waits for a connection: little of the time that it has for its answer. */
const WAIT_MS = 1_000;

/**
 * The attempts that this worker may have in flight for one profile, from both queues together: one for each connection.
 * Those from the workflow queue take a part of them at most, so that neither the gateway queue nor the workflow queue's
 * other activities starve.
 */
export class InquiryPermits {
  /** How many the workflow queue may have; 0 where every attempt goes to the gateway queue. */
  readonly forWorkflowQueue: number;
  #free: number;
  #inWorkflowQueue = 0;
  readonly #waiting = new Set<() => void>();

  constructor(total: number, forWorkflowQueue: number) {
    this.#free = total;
    this.forWorkflowQueue = forWorkflowQueue;
  }

  /** For the workflow queue. Returns what gives the permit back; `null` where none is free. Never waits. */
  takeNow(): (() => void) | null {
    if (this.#free === 0 || this.#inWorkflowQueue >= this.forWorkflowQueue) return null;
    this.#free--;
    this.#inWorkflowQueue++;
    return () => {
      this.#inWorkflowQueue--;
      this.#giveBack();
    };
  }

  /** For the gateway queue, whose slots are as many as all permits: it waits only for what the workflow queue has. */
  async take(): Promise<(() => void) | null> {
    if (this.#free > 0) this.#free--;
    else if (!(await this.#wait())) return null;
    return () => this.#giveBack();
  }

  #wait(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const give = () => resolve(true);
    this.#waiting.add(give);
    const timer = setTimeout(() => {
      this.#waiting.delete(give);
      resolve(false);
    }, WAIT_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  #giveBack(): void {
    const [give] = this.#waiting;
    if (!give) {
      this.#free++;
      return;
    }
    this.#waiting.delete(give);
    give();
  }
}

/** A slot without a connection would hold a claimed attempt in the client's own queue past its `sendBy`. */
export function inquirySlots({ worker }: Pick<Config, 'worker'>, { limits }: GatewayProfile): number {
  return Math.min(worker.maxConcurrentInquiries, limits.connections);
}

/**
 * By profile name. The workflow queue may have half of a profile's slots, and with those of all profiles at most half of
 * its own; none with a rate limit, which the server keeps on the gateway queue alone.
 */
export function permitsOf({ worker, profiles }: Pick<Config, 'worker' | 'profiles'>): Map<string, InquiryPermits> {
  const most = Math.floor(worker.maxConcurrentActivities / 2 / profiles.size);
  const isLimited = worker.maxInquiriesPerSecond !== undefined;
  return new Map(
    [...profiles].map(([name, profile]) => {
      const slots = inquirySlots({ worker }, profile);
      return [name, new InquiryPermits(slots, isLimited ? 0 : Math.min(Math.floor(slots / 2), most))];
    }),
  );
}
