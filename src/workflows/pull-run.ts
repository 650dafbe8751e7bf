/** One inquiry from its input to its end: what `creditReport` and `failsafeCheck` share. */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { PreparedRun } from '../activities/contract.ts';
import type { PullInput, PullOutcome, PullResult } from '../model/pull-shapes.ts';
import type { Ended } from '../model/webhook-events.ts';
import { journeyActivities } from './activity-stubs.ts';
import { showDetails } from './details-on-demand.ts';
import { endWithoutOutcome } from './ends-without-outcome.ts';
import { runInquiry } from './inquiry-protocol.ts';
import { prepareRun } from './prepare-run.ts';
import { Pull } from './pull.ts';
import { pullDetails } from './pull-details.ts';
import { handlePullMessages } from './pull-messages.ts';

/** @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted */
export async function runPull(input: PullInput): Promise<PullResult> {
  const pull = new Pull(input);
  handlePullMessages(pull);
  showDetails(() => pullDetails(pull));
  try {
    const run = await prepare(pull, input);
    return await toItsEnd(pull, run);
  } catch (error) {
    pull.endedAs = endWithoutOutcome(error);
    throw error;
  }
}

async function toItsEnd(pull: Pull, run: PreparedRun): Promise<PullResult> {
  pull.events.begin(run, { pullId: pull.pullId });
  try {
    const outcome = await inquire(pull, run);
    await condition(allHandlersFinished);
    await tellEnded(pull, outcome);
    return pull.result(outcome);
  } catch (error) {
    const end = endWithoutOutcome(error);
    if (end) await tellEnded(pull, end);
    throw error;
  }
}

/** Waits for the hand-over alone, never for an endpoint. */
async function tellEnded({ events, productCode }: Pull, outcome: Ended<PullOutcome>): Promise<void> {
  events.emit('pull.ended', [outcome], { productCode, outcome });
  await events.flush();
}

async function prepare(pull: Pull, input: PullInput): Promise<PreparedRun> {
  pull.run = await prepareRun(
    input,
    () => journeyActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
    (refusal) => {
      pull.endedUnchecked = true;
      pull.endedAs = endWithoutOutcome(refusal);
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
