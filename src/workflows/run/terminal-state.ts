/**
 * The terminal state of a run without an outcome. Queries of a closed run answer with its last state, so that state has
 * to say that the run has ended.
 */
import { isCancellation, TemporalFailure } from '@temporalio/workflow';
import type { TerminalState } from '../../messages/journey/shapes.ts';

/** `undefined` where the error parks the run for a fix, or hands it over to the next one: it has not ended. */
export function terminalStateOf(error: unknown): TerminalState | undefined {
  if (isCancellation(error)) return 'cancelled';
  return error instanceof TemporalFailure ? 'failed' : undefined;
}
