/**
 * Writes the rows of operator work that a run itself opens and closes: its holds, and flags that the ledger cannot know.
 * One after the other, in the order in which the run asked. No cancellation stops a write, and the run does not end
 * before the last one. It continues as new while a hold's row is being opened, and the next run opens it.
 */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import type { RunFlag, RunHold } from '../../ledger/holds/work.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import { runInBackground } from './around-the-sdk.ts';
import type { ContinuationWait } from './continuation.ts';

/** The run does not write into another ledger, so only its status shows the holds. */
type Write = (ledgerId: string) => Promise<unknown>;

export class RunWork {
  readonly #continuation: ContinuationWait;
  readonly #run: () => RunConfig | undefined;
  readonly #writes: Write[] = [];
  #mayLeaveRows: boolean;

  /** @param mayLeaveRows state from continue-as-new */
  constructor(continuation: ContinuationWait, run: () => RunConfig | undefined, mayLeaveRows = false) {
    this.#continuation = continuation;
    this.#run = run;
    this.#mayLeaveRows = mayLeaveRows;
  }

  /** Whether rows may be open that no decision closes: of holds that ended without one, or that a reset has forgotten. */
  get mayLeaveRows(): boolean {
    return this.#mayLeaveRows;
  }

  get isBusy(): boolean {
    return this.#writes.length > 0;
  }

  leaveRows(): void {
    this.#mayLeaveRows = true;
  }

  openHold(hold: RunHold, onOpen: () => void): void {
    const summary = `${hold.inquiry.productCode} · opening the row of its hold`;
    this.#add(async (ledgerId) => {
      await runUntilRecorded('openHold', { summary }, { ledgerId, hold });
      onOpen();
    });
  }

  flag(flag: RunFlag): void {
    const write: Write = (ledgerId) =>
      runUntilRecorded('flagRun', { summary: `flag: ${flag.reason}` }, { ledgerId, flag });
    this.#add(write);
    void this.#continuation.part(() => condition(() => !this.#writes.includes(write)));
  }

  /** Closes what an ending run leaves open, and waits for every write. */
  async finish(runKey: string): Promise<void> {
    if (this.#mayLeaveRows) {
      const until = new Date().toISOString();
      const summary = 'closing the rows that the run leaves';
      this.#add((ledgerId) => runUntilRecorded('closeWork', { summary }, { ledgerId, runKey, until }));
    }
    if (this.isBusy) await CancellationScope.nonCancellable(() => condition(() => !this.isBusy));
  }

  #add(write: Write): void {
    this.#writes.push(write);
    if (this.#writes.length > 1) return;
    runInBackground(() => CancellationScope.nonCancellable(() => this.#writeAll()));
  }

  async #writeAll(): Promise<void> {
    for (let [write] = this.#writes; write; [write] = this.#writes) {
      const ledgerId = this.#run()?.ledgerId;
      if (ledgerId !== undefined) await write(ledgerId);
      this.#writes.shift();
    }
  }
}
