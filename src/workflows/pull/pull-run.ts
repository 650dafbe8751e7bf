/**
 * The workflows of single pulls. Workflow id `pull-<pullId>`. Input, messages and result: `messages/pull/shapes.ts`;
 * docs/pulls.md.
 */
import type { PreparedRun } from '../../activities/contract.ts';
import type { CreditReportInput, FailsafeCheckInput, PullOutcome, PullResult } from '../../messages/pull/shapes.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { untilMessagesAnswered } from '../run/as-replayed.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import { pinnedWhereVersioned } from '../run/pinned-versions.ts';
import { Pull, type PullResumption } from './pull.ts';
import { pullDetails } from './pull-details.ts';
import { handlePullMessages } from './pull-messages.ts';

/**
 * One report of one of `REPORT_PRODUCTS`.
 *
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function creditReport(input: CreditReportInput, past?: PullResumption): Promise<PullResult> {
  return carryRun(DEFINITION, input, past);
}

/** FAILSAFE (interface 4.3), with outcome and reference per consumer. As `creditReport`. */
export async function failsafeCheck(input: FailsafeCheckInput, past?: PullResumption): Promise<PullResult> {
  return carryRun(DEFINITION, input, past);
}

pinnedWhereVersioned(creditReport);
pinnedWhereVersioned(failsafeCheck);

const DEFINITION: RunDefinition<Pull, PullResumption> = {
  State: Pull,
  handleMessages: handlePullMessages,
  details: pullDetails,
  prepare: ({ input }) =>
    journeyActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
  work: async (pull, run) => {
    const outcome = await inquire(pull, run);
    await untilMessagesAnswered();
    return outcome;
  },
  recordWhatCameLast: (pull) => pull.decided.untilSettled(pull),
  handedOver: (pull) => pull.handedOver(),
};

async function inquire(pull: Pull, run: PreparedRun): Promise<PullOutcome> {
  const { productCode, endUserCode, permissiblePurposeCode, applicants } = pull.input;
  const { carried } = pull;
  const end = await runInquiry(pull.hostIn(run), {
    ownerId: pull.ownerId,
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
