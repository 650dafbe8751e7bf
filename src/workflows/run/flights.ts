import { ActivityFailure, ApplicationFailure, CancellationScope } from '@temporalio/workflow';

interface Flight {
  scope: CancellationScope;
  shouldStop: () => boolean;
}

export type Landing<T> = { kind: 'landed'; value: T } | { kind: 'threw'; error: unknown };

/** Activities in flight that a message may still cancel: a revocation or a withdrawal before the first byte. */
export class Flights {
  readonly #flying = new Set<Flight>();

  /** Runs `body` in a scope of its own, which is cancelled once `shouldStop` holds after a message. */
  async fly<T>(shouldStop: () => boolean, body: () => Promise<T>): Promise<Landing<T>> {
    const flight: Flight = { scope: new CancellationScope({ cancellable: true }), shouldStop };
    this.#flying.add(flight);
    try {
      return { kind: 'landed', value: await flight.scope.run(body) };
    } catch (error) {
      return { kind: 'threw', error };
    } finally {
      this.#flying.delete(flight);
    }
  }

  /** To be called by every message handler that may have taken a permission away. */
  recheck(): void {
    for (const flight of this.#flying) if (flight.shouldStop()) flight.scope.cancel();
  }
}

/** The application failure under an activity's failure, if that is what it is. */
export function applicationFailureOf(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : undefined;
}
