/** What an inquiry knows of the pause that keeps it from being sent: since when, and whether a signal named its end. */
import type { InquiryFailure, PreparedRun } from '../../activities/contract.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';
import { pausedWaitMs } from './retry-rules.ts';

export class PauseWait {
  readonly #inFlight: Pick<InFlightActivities, 'resumptions'>;
  /** Of the run when the latest attempt began: a later one may be about the pause that the attempt has met. */
  #resumptions = 0;
  #sinceMs: number | undefined;

  /** @param sinceMs as the run before has handed it over */
  constructor(inFlight: Pick<InFlightActivities, 'resumptions'>, sinceMs: number | undefined) {
    this.#inFlight = inFlight;
    this.#sinceMs = sinceMs;
  }

  /** When the pause was met; absent while there is none. */
  get carried(): { pausedSinceMs?: number } {
    return this.#sinceMs === undefined ? {} : { pausedSinceMs: this.#sinceMs };
  }

  /** A signal that inquiries go on came after the latest attempt began. */
  get isOver(): boolean {
    return this.#sinceMs !== undefined && this.#inFlight.resumptions > this.#resumptions;
  }

  beginAttempt(): void {
    this.#resumptions = this.#inFlight.resumptions;
  }

  /** Takes note of a failure. Returns how long the pause lasted that it shows to be over, else 0. */
  note({ failureType }: InquiryFailure): number {
    const sinceMs = this.#sinceMs;
    this.#sinceMs = failureType === 'Paused' ? (sinceMs ?? Date.now()) : undefined;
    return sinceMs === undefined || this.#sinceMs !== undefined ? 0 : Date.now() - sinceMs;
  }

  /** How long the inquiry waits until it asks again. */
  waitMs(settings: PreparedRun['settings']): number {
    return pausedWaitMs(settings, Date.now() - (this.#sinceMs ?? Date.now()));
  }
}
