/** Writes the rows of operator work that a run itself opens and closes, beside its holds. No cancellation stops a write. */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import type { RunFlag } from '../../ledger/holds/work.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import { runInBackground } from './around-the-sdk.ts';
import type { ContinuationWait } from './continuation.ts';

interface WorkingRun {
  readonly runKey: string;
  readonly config: RunConfig | undefined;
  readonly continuation: ContinuationWait;
}

export class RunWork {
  readonly #run: WorkingRun;
  /** Flags that the ledger does not have yet, in the order in which they were raised. */
  readonly #flags: RunFlag[] = [];
  /** Whether rows may be open that no decision closes: of holds that ended without one, or that a reset has forgotten. */
  mayLeaveRows: boolean;

  /** @param mayLeaveRows state from continue-as-new */
  constructor(run: WorkingRun, mayLeaveRows = false) {
    this.#run = run;
    this.mayLeaveRows = mayLeaveRows;
  }

  get isBusy(): boolean {
    return this.#flags.length > 0;
  }

  /** Raises or lowers a flag that the ledger cannot find by itself. */
  flag(flag: RunFlag): void {
    this.#flags.push(flag);
    // With others waiting, the write under way takes this one too.
    if (this.#flags.length > 1) return;
    const write = () => CancellationScope.nonCancellable(() => this.#writeFlags());
    runInBackground(() => this.#run.continuation.part(write));
  }

  async #writeFlags(): Promise<void> {
    for (let [flag] = this.#flags; flag; [flag] = this.#flags) {
      const { config } = this.#run;
      const summary = `flag: ${flag.reason}`;
      // If another ledger answers than the run has used, nothing is written, and only the run's status shows the flag.
      if (config) await runUntilRecorded('flagRun', { summary }, { ledgerId: config.ledgerId, flag });
      this.#flags.shift();
    }
  }

  /** Waits for the flags, and closes the rows that an ending run leaves open. */
  async finish(): Promise<void> {
    const { runKey, config } = this.#run;
    if (this.isBusy) await CancellationScope.nonCancellable(() => condition(() => !this.isBusy));
    if (!this.mayLeaveRows || !config) return;
    const args = { ledgerId: config.ledgerId, runKey, until: new Date().toISOString() };
    const summary = 'closing the rows that the run leaves';
    await CancellationScope.nonCancellable(() => runUntilRecorded('closeWork', { summary }, args));
  }
}
