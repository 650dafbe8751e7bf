/** The current details of a run of any kind. */
import { setCurrentDetails } from '@temporalio/workflow';

/**
 * Keeps the run's current details true. The SDK holds them as they are and writes them as JSON when the UI asks for
 * them: what has a `toJSON` is only built then, from how things stand then. It is in no history.
 */
export function showDetails(build: () => string): void {
  const details: { toJSON(): string } = { toJSON: build };
  setCurrentDetails(details as unknown as string);
}
