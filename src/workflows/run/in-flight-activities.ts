import { CancellationScope } from '@temporalio/workflow';

/** Activities in flight that a message may still cancel: a revocation or a withdrawal before the first byte. */
export class InFlightActivities {
  readonly #shouldStop = new Map<CancellationScope, () => boolean>();
  /** Number of signals to the run about the end of a pause. */
  resumptions = 0;

  /** Returns the scope for an activity. It is cancelled once `shouldStop` holds after a message, until `end`. */
  begin(shouldStop: () => boolean): CancellationScope {
    const scope = new CancellationScope({ cancellable: true });
    this.#shouldStop.set(scope, shouldStop);
    return scope;
  }

  end(scope: CancellationScope): void {
    this.#shouldStop.delete(scope);
  }

  /** Every message handler calls it if its message may have revoked a permission. */
  recheck(): void {
    for (const [scope, shouldStop] of this.#shouldStop) if (shouldStop()) scope.cancel();
  }
}
