/**
 * The workflows of single pulls. Workflow id `pull-<pullId>`. Input: `messages/inputs/pull.ts`; result: `messages/pull/shapes.ts`;
 * docs/pulls.md.
 */

import type { PreparedRun } from '../../activities/contract.ts';
import { QUERIES } from '../../messages/all-messages.ts';
import type { CreditReportInput, FailsafeCheckInput } from '../../messages/inputs/pull.ts';
import type { PullOutcome, PullResult } from '../../messages/pull/shapes.ts';
import { resolvePull } from '../../messages/resolve-inquiry.ts';
import { withdrawPull } from '../../messages/withdraw.ts';
import { describeRun } from '../details/run-details.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { untilMessagesAnswered } from '../run/as-replayed.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import { handleQueries, handleUnknownSignals } from '../run/messages/message-answers.ts';
import { checkApplicants, handleDecisions, handleWithdrawals } from '../run/messages/run-messages.ts';
import { pinnedWhereVersioned } from '../run/pinned-versions.ts';
import { Pull, type PullResumption } from './pull.ts';

function handlePullMessages(pull: Pull): void {
  handleWithdrawals(pull, withdrawPull, { record: { ownerId: pull.ownerId } });
  handleDecisions(pull, resolvePull, (applicants) =>
    checkApplicants({ profile: pull.profile, applicants, productCode: pull.productCode }),
  );
  handleQueries(pull, QUERIES.pull);
  handleUnknownSignals(pull);
  pull.decided.begin(pull);
}

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
  details: (pull) =>
    describeRun(pull, {
      endUserCode: pull.endUserCode,
      since: pull.inquiry.since,
      consumers: pull.consumers.consumers,
    }),
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
