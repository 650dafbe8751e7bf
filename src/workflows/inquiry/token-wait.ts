/** An inquiry's wait for a token, where none was there when the run began or the last one was refused. */
import { isCancellation } from '@temporalio/workflow';
import { acquireTokenOf } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import { type AttemptHost, type AttemptStep, stepOfFailure } from './attempt-step.ts';

/** Waits for a token, for as long as an inquiry is retried. `null` once there is one. */
export async function awaitToken(
  { run, inFlight }: AttemptHost,
  attempt: number,
  { fetchedAfter, shouldStop }: { fetchedAfter: string | undefined; shouldStop(): boolean },
): Promise<AttemptStep | null> {
  const args = { profile: run.profile, ...(fetchedAfter === undefined ? {} : { fetchedAfter }) };
  const ended = await inFlight.run(shouldStop, () => acquireTokenOf(run)(args));
  if (ended.kind === 'completed') return null;
  if (isCancellation(ended.error)) return { kind: 'cancelled' };
  const refused = applicationFailureOf(ended.error)?.type === 'CredentialsRefused';
  return stepOfFailure(refused ? 'CredentialsRefused' : 'TokenUnavailable', attempt);
}
