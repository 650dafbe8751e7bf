/** One inquiry from its input to its end: what `creditReport` and `failsafeCheck` share. */
import { allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import type { PullInput, PullOutcome, PullResult } from '../../messages/pull/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import { showDetails } from '../details/show-details.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { refuseForeignState } from '../run/hand-over.ts';
import { prepareRun } from '../run/prepare-run.ts';
import { terminalStateOf } from '../run/terminal-state.ts';
import { Pull, type PullResumption } from './pull.ts';
import { pullDetails } from './pull-details.ts';
import { handlePullMessages } from './pull-messages.ts';

/**
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function runPull(input: PullInput, past?: PullResumption): Promise<PullResult> {
  refuseForeignState(past);
  const pull = new Pull(input, past);
  handlePullMessages(pull);
  showDetails(() => pullDetails(pull));
  return pull.handOver.carry(() => prepareAndInquire(pull), {
    state: () => pull.handedOver(),
    continueWith: (state) =>
      continueAsNew<(input: PullInput, past: PullResumption) => Promise<PullResult>>(input, state),
  });
}

async function prepareAndInquire(pull: Pull): Promise<PullResult> {
  try {
    const run = pull.run ?? (await prepare(pull));
    return await toItsEnd(pull, run);
  } catch (error) {
    pull.endedAs = terminalStateOf(error);
    throw error;
  }
}

async function toItsEnd(pull: Pull, run: PreparedRun): Promise<PullResult> {
  try {
    const outcome = await inquire(pull, run);
    await condition(allHandlersFinished);
    await tellEnded(pull, outcome);
    return pull.result(outcome);
  } catch (error) {
    const end = terminalStateOf(error);
    if (end) await tellEnded(pull, end);
    throw error;
  }
}

/** Waits for the hand-over alone, never for an endpoint. */
async function tellEnded({ events, productCode }: Pull, outcome: Ended<PullOutcome>): Promise<void> {
  events.emit('pull.ended', [outcome], { productCode, outcome });
  await events.flush();
}

async function prepare(pull: Pull): Promise<PreparedRun> {
  const { input } = pull;
  const run = await pull.handOver.rest(
    prepareRun(
      input,
      () => journeyActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
      (refusal) => {
        pull.endedUnchecked = true;
        pull.endedAs = terminalStateOf(refusal);
      },
    ),
  );
  pull.begin(run);
  return run;
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
