/** The waits of a run that people have made longer: each lasts at least until the latest instant given for it. No waiting. */
import { differingPaths, otherContent } from '../../base/differing-paths.ts';
import { parseInstantMs, utcInstant } from '../../base/instants.ts';
import type { ExtendMessage } from '../../messages/extend.ts';

/** As a message says it, without the id of the run. */
export type Extension = Omit<ExtendMessage, 'journeyId'>;

type Wait = Pick<Extension, 'gate' | 'shareId'>;

/** A limit against a sender that never stops: each is kept, and handed on from run to run. */
const MOST = 100;

/** As long as any wait of an input may be. */
const MOST_FROM_NOW_MS = 3_650 * 86_400_000;

export class Extensions {
  readonly #taken: Extension[];

  /** @param past what the run before has taken */
  constructor(past: readonly Extension[] = []) {
    this.#taken = [...past];
  }

  get carried(): readonly Extension[] {
    return this.#taken;
  }

  /**
   * Why the message makes no sense as things stand, or `null`; also where the same was taken before.
   *
   * @param until when the wait of that name ends, RFC 3339; `undefined` where there is none
   */
  objection(message: Extension, until: string | undefined): string | null {
    const known = this.#known(message);
    if (known) {
      const differing = differingPaths(known, message);
      return differing.length > 0 ? otherContent('this extension was accepted', differing) : null;
    }
    if (until === undefined) {
      const { gate, shareId } = message;
      return shareId === undefined ? `nothing waits at a gate before ${gate}` : `/shareId names no share that waits`;
    }
    const [untilMs, nowMs] = [msOf(message), Date.now()];
    if (untilMs <= (parseInstantMs(until) ?? 0)) return '/until must be later than the wait ends by now';
    if (untilMs > nowMs + MOST_FROM_NOW_MS) return '/until must be at most P3650D from now';
    return this.#taken.length < MOST ? null : `a run takes at most ${MOST} extensions`;
  }

  /**
   * Takes a message that `objection` has nothing against.
   *
   * @returns when the wait ends by now, RFC 3339 in UTC; `undefined` where the same was taken before
   */
  take(message: Extension): string | undefined {
    if (this.#known(message)) return undefined;
    this.#taken.push(message);
    return utcInstant(msOf(message));
  }

  /** When a wait ends that is to last until `untilMs`, and no less than it was extended to. RFC 3339 in UTC. */
  endOf(wait: Wait, untilMs: number): string {
    const extended = this.#taken.filter((one) => isSame(one, wait)).map(msOf);
    return utcInstant(Math.max(untilMs, ...extended));
  }

  isKnown(message: Extension): boolean {
    return this.#known(message) !== undefined;
  }

  #known(message: Extension): Extension | undefined {
    return this.#taken.find((one) => isSame(one, message) && msOf(one) === msOf(message));
  }
}

function isSame(one: Wait, other: Wait): boolean {
  return one.gate === other.gate && one.shareId === other.shareId;
}

function msOf({ until }: Extension): number {
  return parseInstantMs(until) ?? 0;
}
