import { EventEmitter, once } from 'node:events';
import type { Config } from '../config/config.ts';
import type { GatewayProfile } from '../gateway/profile.ts';

/** How long an attempt from the gateway queue waits for a slot: a small part of the gateway's time to answer. */
const WAIT_MS = 1_000;

/**
 * Limits the attempts that this worker has in flight for one profile, from both queues together: each needs a slot, and
 * there is one for each connection. The workflow queue gets only a part of them, so that neither the gateway queue nor
 * the workflow queue's other activities starve.
 */
export class InquirySlots {
  /** The most slots that the workflow queue may hold; 0 if every attempt goes to the gateway queue. */
  readonly forWorkflowQueue: number;
  #free: number;
  #inWorkflowQueue = 0;
  readonly #releases = new EventEmitter().setMaxListeners(0);

  constructor(total: number, forWorkflowQueue: number) {
    this.#free = total;
    this.forWorkflowQueue = forWorkflowQueue;
  }

  /** For the workflow queue. Returns the function that releases the slot, or `null` if none is free. Never waits. */
  takeNow(): (() => void) | null {
    if (this.#free === 0 || this.#inWorkflowQueue >= this.forWorkflowQueue) return null;
    this.#inWorkflowQueue++;
    const release = this.#take();
    return () => {
      this.#inWorkflowQueue--;
      release();
    };
  }

  /**
   * For the gateway queue. Its worker takes no more activities than there are slots, so it waits only for those that
   * the workflow queue holds. Returns `null` if it has waited too long.
   */
  async take(): Promise<(() => void) | null> {
    const tooLate = new AbortController();
    const timer = setTimeout(() => tooLate.abort(), WAIT_MS);
    while (this.#free === 0 && !tooLate.signal.aborted) {
      await once(this.#releases, 'release', { signal: tooLate.signal }).catch(() => {});
    }
    clearTimeout(timer);
    return this.#free > 0 ? this.#take() : null;
  }

  #take(): () => void {
    this.#free--;
    return () => {
      this.#free++;
      this.#releases.emit('release');
    };
  }
}

/** Counts slots. Each needs a connection: else the HTTP client would queue a claimed attempt past its `sendBy`. */
export function countInquirySlots({ worker }: Pick<Config, 'worker'>, { limits }: GatewayProfile): number {
  return Math.min(worker.maxConcurrentInquiries, limits.connections);
}

/**
 * Returns slots by profile name. The workflow queue gets at most half of a profile's slots. For all profiles
 * together it gets at most half of the activities that it runs at once. With a rate limit, which the server keeps only
 * on the gateway queue, it gets none.
 */
export function allotSlots({ worker, profiles }: Pick<Config, 'worker' | 'profiles'>): Map<string, InquirySlots> {
  const most = Math.floor(worker.maxConcurrentActivities / 2 / profiles.size);
  const isLimited = worker.maxInquiriesPerSecond !== undefined;
  return new Map(
    [...profiles].map(([name, profile]) => {
      const slots = countInquirySlots({ worker }, profile);
      return [name, new InquirySlots(slots, isLimited ? 0 : Math.min(Math.floor(slots / 2), most))];
    }),
  );
}
