/** One inquiry from its input to its end: what `creditReport` and `failsafeCheck` share. */
import { allHandlersFinished, condition, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { PreparedRun } from '../activities/contract.ts';
import type { PullInput, PullOutcome, PullResult } from '../model/pull-shapes.ts';
import { journeyActivities } from './activity-stubs.ts';
import { runInquiry } from './inquiry-protocol.ts';
import { prepareRun } from './prepare-run.ts';
import { Pull } from './pull.ts';
import { pullDetails } from './pull-details.ts';
import { handlePullMessages } from './pull-messages.ts';

/** @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted */
export async function runPull(input: PullInput): Promise<PullResult> {
  const pull = new Pull(input);
  handlePullMessages(pull);
  // As journey-view.ts: built when it is asked for, and in no history.
  setCurrentDetails({ toJSON: () => pullDetails(pull) } as unknown as string);
  try {
    const run = await prepare(pull, input);
    const outcome = await inquire(pull, run);
    await condition(allHandlersFinished);
    return pull.result(outcome);
  } catch (error) {
    pull.isCancelled = isCancellation(error);
    throw error;
  }
}

async function prepare(pull: Pull, input: PullInput): Promise<PreparedRun> {
  pull.run = await prepareRun(
    input,
    () => journeyActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
    () => {
      pull.endedUnchecked = true;
    },
  );
  return pull.run;
}

async function inquire(pull: Pull, run: PreparedRun): Promise<PullOutcome> {
  const { productCode, endUserCode, permissiblePurposeCode, applicants } = pull.input;
  const end = await runInquiry(pull.hostIn(run), {
    callerId: pull.ownerId,
    productCode,
    applicants,
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
