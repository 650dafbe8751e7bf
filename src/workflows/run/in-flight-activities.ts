/** The activities of a run that are in flight. */
import { CancellationScope } from '@temporalio/workflow';

interface InFlightActivity {
  scope: CancellationScope;
  shouldStop: () => boolean;
}

type ActivityEnd<T> = { kind: 'completed'; value: T } | { kind: 'threw'; error: unknown };

/** Activities in flight that a message may still cancel: a revocation or a withdrawal before the first byte. */
export class InFlightActivities {
  readonly #activities = new Set<InFlightActivity>();
  /** Number of signals to the run about the end of a pause. */
  resumptions = 0;

  /** Runs `body` in a scope of its own, which is cancelled once `shouldStop` holds after a message. */
  async run<T>(shouldStop: () => boolean, body: () => Promise<T>): Promise<ActivityEnd<T>> {
    const activity: InFlightActivity = { scope: new CancellationScope({ cancellable: true }), shouldStop };
    this.#activities.add(activity);
    try {
      return { kind: 'completed', value: await activity.scope.run(body) };
    } catch (error) {
      return { kind: 'threw', error };
    } finally {
      this.#activities.delete(activity);
    }
  }

  /** Every message handler calls it if its message may have revoked a permission. */
  recheck(): void {
    for (const activity of this.#activities) if (activity.shouldStop()) activity.scope.cancel();
  }
}
