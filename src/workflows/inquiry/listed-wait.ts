/**
 * What the lists say about an inquiry that is retried (`WaitsFor`): from when its retries take long until an attempt gets
 * through or a person must decide. Each change costs an event, so neither short waits nor single repetitions are shown.
 */
import type { InquiryFailure, PreparedRun } from '../../activities/contract.ts';
import { SEARCH_ATTRIBUTES, type SearchAttributeName, type WaitsFor } from '../../model/search-attributes.ts';
import type { RetryWaits } from '../run/retry-waits.ts';
import type { InquiryProgress } from './inquiry-spec.ts';

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
  #isLong = false;

  /** @param past as the run before has listed it */
  constructor(waits: RetryWaits, customerTraceNumber: string, past: WaitsFor | undefined) {
    this.#waits = waits;
    this.#customerTraceNumber = customerTraceNumber;
    this.#isLong = past !== undefined;
    this.#note(past);
  }

  /** As a retry hands it over. */
  get carried(): { waitsFor?: WaitsFor } {
    const waitsFor = this.#waits.of(this.#customerTraceNumber);
    return waitsFor === undefined ? {} : { waitsFor };
  }

  /** @param atMs when it is tried again */
  begin({ failureType }: InquiryFailure, atMs: number): void {
    this.#sinceMs ??= Date.now();
    this.#isLong ||= atMs - this.#sinceMs >= LISTED_FROM_MS;
    if (this.#isLong) this.#note(WAITS_FOR[failureType]);
  }

  end(): void {
    this.#sinceMs = undefined;
    this.#isLong = false;
    this.#note(undefined);
  }

  #note(waitsFor: WaitsFor | undefined): void {
    this.#waits.note(this.#customerTraceNumber, waitsFor);
  }
}

const EVERYTHING = Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];

/**
 * What is passing while an attempt is made, which takes seconds: the next stage, and the end of a wait. What waits in
 * the gateway queue may wait for long.
 */
export function passingIn(
  { submitsOnWorkflowQueue }: Pick<PreparedRun, 'submitsOnWorkflowQueue'>,
  { state, waitingFor, isQueued, isBegun }: Pick<InquiryProgress, 'state' | 'waitingFor' | 'isQueued' | 'isBegun'>,
): readonly SearchAttributeName[] {
  if (isBegun) return EVERYTHING;
  if (submitsOnWorkflowQueue !== true || state !== 'running' || waitingFor !== undefined) return [];
  return isQueued ? ['JourneyStage'] : ['JourneyStage', 'WaitsFor'];
}
