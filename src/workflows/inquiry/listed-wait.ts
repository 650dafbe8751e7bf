/**
 * What the lists say about an inquiry that is retried (`WaitsFor`): from when its retries take long until an attempt gets
 * through or a person must decide. Each change costs an event, so neither short waits nor single repetitions are shown.
 */
import type { InquiryFailure } from '../../activities/contract.ts';
import type { WaitsFor } from '../../model/waits-for.ts';
import type { RetryWaits } from '../run/retry-waits.ts';

/** Most of what is throttled or lost gets through within seconds. */
const LISTED_FROM_MS = 5_000;

/** Of failures that are not here no list says what the run waits for. */
const WAITS_FOR: Partial<Record<InquiryFailure['failureType'], WaitsFor>> = {
  TokenUnavailable: 'gateway',
  GatewayUnreachable: 'gateway',
  Throttled: 'gateway',
  Paused: 'pause',
  LedgerUnavailable: 'ledger',
  LedgerRestored: 'ledger',
};

export class ListedWait {
  readonly #waits: RetryWaits;
  readonly #customerTraceNumber: string;
  #sinceMs: number | undefined;

  /** @param past as the run before has listed it */
  constructor(waits: RetryWaits, customerTraceNumber: string, past: WaitsFor | undefined) {
    this.#waits = waits;
    this.#customerTraceNumber = customerTraceNumber;
    if (past) this.#note(past);
  }

  /** As a retry hands it over. */
  get carried(): { waitsFor?: WaitsFor } {
    const waitsFor = this.#waits.of(this.#customerTraceNumber);
    return waitsFor === undefined ? {} : { waitsFor };
  }

  /** @param atMs when it is tried again */
  begin({ failureType }: InquiryFailure, atMs: number): void {
    this.#sinceMs ??= Date.now();
    const isLong = this.carried.waitsFor !== undefined || atMs - this.#sinceMs >= LISTED_FROM_MS;
    if (isLong) this.#note(WAITS_FOR[failureType]);
  }

  end(): void {
    this.#sinceMs = undefined;
    this.#note(undefined);
  }

  #note(waitsFor: WaitsFor | undefined): void {
    this.#waits.note(this.#customerTraceNumber, waitsFor);
  }
}
