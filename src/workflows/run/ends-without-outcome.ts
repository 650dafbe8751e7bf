/** How a run ends that comes to no outcome. Whoever asks a closed run is answered by how it stood last: it has to say so. */
import { isCancellation, TemporalFailure } from '@temporalio/workflow';
import type { EndWithoutOutcome } from '../../messages/journey/shapes.ts';

/** `undefined` where the error parks the run for a fix, or hands it over to the next one: it has not ended. */
export function endWithoutOutcome(error: unknown): EndWithoutOutcome | undefined {
  if (isCancellation(error)) return 'cancelled';
  return error instanceof TemporalFailure ? 'failed' : undefined;
}
