/** Consents to a journey's shares from before this run. Its first activity brings them from the ledger. */
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { HeardConsent } from '../../ledger/consents/kept-consents.ts';
import { grantProblem } from '../consent/consent-handlers.ts';
import { untilDone } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import { refuseMessage } from '../run/messages/message-answers.ts';
import type { Journey } from './journey.ts';

/** Where the ledger did not answer at the start, they are read in the background: stages do not wait for it, shares do. */
export function hearEarlierConsents(journey: Journey, run: PreparedRun): void {
  if (journey.hasHeard) return;
  if (journey.heardAtStart) {
    hear(journey, journey.heardAtStart);
    return;
  }
  void CancellationScope.nonCancellable(async () => hear(journey, await heardBy(journey, run)));
}

function hear(journey: Journey, heard: HeardConsent[]): void {
  journey.consents.addEarlier(heard, (consent) => isTaken(journey, consent));
  journey.hasHeard = true;
}

async function heardBy(journey: Journey, run: PreparedRun): Promise<HeardConsent[]> {
  const args = {
    ledgerId: run.ledgerId,
    run: {
      ownerId: journey.journeyId,
      firstRunId: workflowInfo().firstExecutionRunId,
      shareIds: [...journey.shares.keys()],
      applicantIds: journey.applicantIds,
    },
  };
  const summary = 'hearing what was said before the start';
  try {
    return await untilDone('hearConsents', { summary }, args);
  } catch (error) {
    // The first claim finds that again, and holds.
    if (applicationFailureOf(error)?.type === 'LedgerChanged') return [];
    throw error;
  }
}

/** Takes refusals always, and a grant as if it came now. */
function isTaken(journey: Journey, consent: ConsentRecord): boolean {
  journey.recorder.noteRecorded(consent);
  const problem = consent.decision === 'granted' ? grantProblem(journey, consent) : null;
  if (problem !== null) refuseMessage(journey, 'consent', `said before the start: ${problem}`, consent.consentId);
  return problem === null;
}
