/** One inquiry from its input to its end: what `creditReport` and `failsafeCheck` share. */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import type { PullInput, PullOutcome, PullResult } from '../../messages/pull/shapes.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { carryRun } from '../run/carry-run.ts';
import { Pull, type PullResumption } from './pull.ts';
import { pullDetails } from './pull-details.ts';
import { handlePullMessages } from './pull-messages.ts';

export function runPull(input: PullInput, past?: PullResumption): Promise<PullResult> {
  const kind = {
    State: Pull,
    handleMessages: handlePullMessages,
    details: pullDetails,
    prepare: ({ input }: Pull) =>
      journeyActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
    work: inquireAndSettle,
    handedOver: (pull: Pull) => pull.handedOver(),
  };
  return carryRun(kind, input, past);
}

async function inquireAndSettle(pull: Pull, run: PreparedRun): Promise<PullOutcome> {
  const outcome = await inquire(pull, run);
  await condition(allHandlersFinished);
  return outcome;
}

async function inquire(pull: Pull, run: PreparedRun): Promise<PullOutcome> {
  const { productCode, endUserCode, permissiblePurposeCode, applicants } = pull.input;
  const { carried } = pull;
  const end = await runInquiry(pull.hostIn(run), {
    callerId: pull.ownerId,
    productCode,
    applicants: carried?.applicants ?? applicants,
    ...(carried ? { resume: carried } : {}),
    ...(endUserCode === undefined ? {} : { endUserCode }),
    ...(permissiblePurposeCode === undefined ? {} : { permissiblePurposeCode }),
  });
  switch (end.kind) {
    case 'answered':
      pull.answer(end.answer, end.applicants ?? applicants);
      return end.answer.outcome;
    case 'abandoned':
      pull.end('abandoned');
      return 'abandoned';
    case 'stopped':
    case 'notPermitted':
      pull.end('withdrawn');
      return 'withdrawn';
  }
}
