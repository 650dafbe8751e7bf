/** A share's wait for consent: names whom it waits for, and notices when a grant becomes too old meanwhile. */
import type { ConsentBook } from '../../consent/consent-book.ts';
import type { ShareInput } from '../../messages/journey/shapes.ts';
import { nameOfUser } from '../../model/secondary-user.ts';
import type { EventsOut } from '../run/events-out.ts';
import type { RestingPlace } from '../run/hand-over.ts';
import { consentValidForMs, firstExpiryInMs, ungranted } from './share-consent.ts';
import type { ShareRecord } from './share-record.ts';

interface Host {
  consents: Pick<ConsentBook, 'standing'>;
  events: Pick<EventsOut, 'emit'>;
  handOver: Pick<RestingPlace, 'wait'>;
}

interface Terms {
  /** Of the report that is shared. */
  applicantIds: readonly string[];
  /** When silence becomes a no. */
  untilMs: number;
  /** What the row in the timeline calls it, beside the secondary user. */
  called?: string;
}

export class ConsentWait {
  readonly #host: Host;
  readonly #record: ShareRecord;
  readonly #share: ShareInput;
  readonly #terms: Terms;

  constructor(host: Host, record: ShareRecord, terms: Terms) {
    this.#host = host;
    this.#record = record;
    this.#share = record.input;
    this.#terms = terms;
  }

  /** Nothing is waited for any more: a share that comes back to waiting says anew for whom. */
  end(): void {
    delete this.#record.toldMissing;
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
      await this.#host.handOver.wait(() => isOver() || hasChanged(), Math.min(leftMs, expiryMs ?? leftMs), { summary });
    }
    return true;
  }

  #missing(): string[] {
    return ungranted(this.#host.consents, this.#share, this.#terms.applicantIds);
  }

  #tell(waitingFor: string[]): void {
    const { toldMissing: told = [] } = this.#record;
    const isNews = waitingFor.some((applicantId) => !told.includes(applicantId));
    this.#record.toldMissing = waitingFor;
    if (!isNews) return;
    const { shareId } = this.#share;
    const until = new Date(this.#terms.untilMs).toISOString();
    this.#host.events.emit('consent.missing', [shareId, ...waitingFor], { shareId, waitingFor, until });
  }
}
