/** Starts a journey, once: a start that is repeated finds the first, and one that differs is refused. */
import type { Client } from '@temporalio/client';
import { type LendingJourneyInput, lendingJourney } from '../../messages/inputs/lending-journey.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { priorityOf, type WorkClass } from '../../model/work-class.ts';
import { startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'One loan’s credit reports and shares. The current details say where it stands and what resolves a hold; they need a running worker.';

interface StartJourneyContext {
  client: Client;
  taskQueue: string;
  maxApplicants: number;
}

/** As `startOnce`. */
export function startJourney(
  { client, taskQueue, maxApplicants }: StartJourneyContext,
  journey: LendingJourneyInput,
  workClass: WorkClass,
): Promise<boolean> {
  const { journeyId, endUserCode } = journey;
  return startOnce({
    client,
    taskQueue,
    workflowType: 'lendingJourney',
    ownerId: journeyId,
    input: journey,
    priority: priorityOf(workClass, endUserCode),
    staticSummary: `journey ${journeyId} · ${endUserCode}`,
    staticDetails: STATIC_DETAILS,
    parse: (started) => parseMessage(lendingJourney, started, { maxApplicants }),
  });
}
