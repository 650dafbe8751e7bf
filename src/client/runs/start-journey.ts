/** Starts a journey, once: a start that is repeated finds the first, and one that differs is refused. */
import type { Client } from '@temporalio/client';
import type { LendingJourneyInput } from '../../messages/journey/shapes.ts';
import { parseLendingJourneyInput } from '../../messages/parse-messages.ts';
import { workflowIdOf } from '../../model/owner-id.ts';
import { priorityOf, type WorkClass } from '../../model/work-class.ts';
import { InputDiffersError, JourneyFinishedError } from '../connection/errors.ts';
import { inputDifferences, startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'One loan’s credit reports and shares. The current details say where it stands and what resolves a hold; they need a running worker.';

interface StartJourneyContext {
  client: Client;
  taskQueue: string;
  maxApplicants: number;
}

/** @returns whether it was there already. @throws JourneyFinishedError, InputDiffersError, and the SDK's errors */
export async function startJourney(
  { client, taskQueue, maxApplicants }: StartJourneyContext,
  journey: LendingJourneyInput,
  workClass: WorkClass,
): Promise<boolean> {
  const { journeyId, endUserCode } = journey;
  const start = await startOnce({
    client,
    taskQueue,
    workflowType: 'lendingJourney',
    ownerId: journeyId,
    input: journey,
    priority: priorityOf(workClass, endUserCode),
    staticSummary: `journey ${journeyId} · ${endUserCode}`,
    staticDetails: STATIC_DETAILS,
    differences: (started) =>
      inputDifferences(started, journey, {
        parse: (one) => parseLendingJourneyInput(one, { maxApplicants }),
        personal: 'applicants',
      }),
  });
  if (start.kind === 'started') return false;
  if (!(await isRunning(client, journeyId))) throw new JourneyFinishedError(journeyId, start.paths);
  if (start.paths.length > 0) throw new InputDiffersError('journey', journeyId, start.paths);
  return true;
}

async function isRunning(client: Client, journeyId: string): Promise<boolean> {
  return (await client.workflow.getHandle(workflowIdOf(journeyId)).describe()).status.name === 'RUNNING';
}
