/** A share's wait for consent: names whom it waits for, and notices when a grant becomes too old meanwhile. */
import { condition } from '@temporalio/workflow';
import type { ConsentBook } from '../model/consent-book.ts';
import { nameOfUser } from '../model/secondary-user.ts';
import type { ShareInput } from '../model/shapes.ts';
import type { EventsOut } from './events-out.ts';
import { consentValidForMs, firstExpiryInMs, ungranted } from './share-consent.ts';

interface Terms {
  /** Of the report that is shared. */
  applicantIds: readonly string[];
  /** When silence becomes a no. */
  untilMs: number;
  /** What the row in the timeline calls it, beside the secondary user. */
  called?: string;
}

export class ConsentWait {
  readonly #host: { consents: Pick<ConsentBook, 'standing'>; events: Pick<EventsOut, 'emit'> };
  readonly #share: ShareInput;
  readonly #terms: Terms;
  /** Whom the last event named, less those who have granted it since. */
  #told: readonly string[] = [];

  constructor(
    host: { consents: Pick<ConsentBook, 'standing'>; events: Pick<EventsOut, 'emit'> },
    share: ShareInput,
    terms: Terms,
  ) {
    this.#host = host;
    this.#share = share;
    this.#terms = terms;
  }

  /** Nothing is waited for any more: a share that comes back to waiting says anew for whom. */
  end(): void {
    this.#told = [];
  }

  /** Resolves to `true` once `isOver` says so, to `false` when the share's time is over. */
  async until(isOver: () => boolean): Promise<boolean> {
    while (!isOver()) {
      const leftMs = this.#terms.untilMs - Date.now();
      // Silence means no.
      if (leftMs <= 0) return false;
      const waitingFor = this.#missing();
      this.#tell(waitingFor);
      const expiryMs = firstExpiryInMs(this.#host.consents, this.#share, this.#terms.applicantIds);
      // A grant that comes meanwhile may be the next to become too old.
      const hasChanged = () =>
        consentValidForMs(this.#share) !== undefined && this.#missing().join() !== waitingFor.join();
      const { called = '' } = this.#terms;
      const summary = `waiting for the consent of ${waitingFor.join(', ')} to share ${called}with ${nameOfUser(this.#share)}`;
      await condition(() => isOver() || hasChanged(), Math.min(leftMs, expiryMs ?? leftMs), { summary });
    }
    return true;
  }

  #missing(): string[] {
    return ungranted(this.#host.consents, this.#share, this.#terms.applicantIds);
  }

  #tell(waitingFor: string[]): void {
    const isNews = waitingFor.some((applicantId) => !this.#told.includes(applicantId));
    this.#told = waitingFor;
    if (!isNews) return;
    const { shareId } = this.#share;
    const until = new Date(this.#terms.untilMs).toISOString();
    this.#host.events.emit('consent.missing', [shareId, ...waitingFor], { shareId, waitingFor, until });
  }
}
