/** A journey's closing date, and what was accepted about it. No waiting. */
import type { PlacedClosing } from '../../activities/contract.ts';
import { differingPaths, otherContent } from '../../base/differing-paths.ts';
import type { JourneyStatus, LendingJourneyInput, SetClosingDateMessage } from '../../messages/journey/shapes.ts';
import type { StageRecord } from './stage-record.ts';

type Change = Omit<SetClosingDateMessage, 'journeyId'>;

/** What the next run takes over. */
export interface CarriedClosing {
  placed?: PlacedClosing;
  changes: Change[];
}

export class ClosingDate {
  #placed: PlacedClosing | undefined;
  readonly #changes: Change[];

  constructor({ placed, changes }: CarriedClosing = { changes: [] }) {
    this.#placed = placed;
    this.#changes = changes;
  }

  /** As it stands by now; another object after each change. */
  get placed(): PlacedClosing | undefined {
    return this.#placed;
  }

  /** The number of the latest change; 0 where there was none. */
  get change(): number {
    return this.#changes.length;
  }

  get carried(): CarriedClosing {
    return { ...(this.#placed ? { placed: this.#placed } : {}), changes: this.#changes };
  }

  /** The date of the input, where no change came before it was placed. */
  begin(placed: PlacedClosing): void {
    this.#placed ??= placed;
  }

  isKnown({ change }: Change): boolean {
    return change <= this.#changes.length;
  }

  /** Why the change is not the next one, or `null`; also where the same was accepted before. */
  objection(message: Change): string | null {
    const known = this.#changes[message.change - 1];
    if (known) {
      const differing = differingPaths(known, message);
      return differing.length > 0 ? otherContent(`change ${message.change} was accepted`, differing) : null;
    }
    const next = this.#changes.length + 1;
    return message.change === next ? null : `/change must be ${next}: the date was changed ${next - 1} times`;
  }

  take(message: Change, placed: PlacedClosing): void {
    this.#changes.push(message);
    this.#placed = placed;
  }
}

interface Standing {
  input: Pick<LendingJourneyInput, 'preclose'>;
  stages: readonly StageRecord[];
  closing: ClosingDate;
}

/** How often PRECLOSE may still be pulled once more by the standing decision: every such pull counts, however it ended. */
export function repeatsLeft({ input: { preclose }, stages }: Omit<Standing, 'closing'>): number {
  const made = stages.filter(({ repeat }) => repeat?.isStanding).length;
  return Math.max(0, (preclose?.repeats ?? 1) - made);
}

/** As `status` shows it. */
export function closingStatus(journey: Standing): Pick<JourneyStatus, 'closing'> {
  const { placed, change } = journey.closing;
  if (!placed) return {};
  const { closingDate, precloseFrom } = placed;
  return { closing: { closingDate, change, precloseFrom, repeatsLeft: repeatsLeft(journey) } };
}
