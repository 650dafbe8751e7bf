/**
 * The workflows of single pulls, and the state of one. Workflow id `pull-<pullId>`. Input: `messages/inputs/pull.ts`;
 * result: `messages/pull/shapes.ts`; docs/pulls.md.
 */
import type { RunConfig } from '../../activities/contract.ts';
import type { CreditReportInput, FailsafeCheckInput, PullInput, PullProduct } from '../../messages/inputs/pull.ts';
import type { PullOutcome, PullReferences, PullResult, PullStatus } from '../../messages/pull/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { listFailsafeConsumers } from '../../model/consumer-results.ts';
import type { Outcome } from '../../model/inquiry.ts';
import { toPullInquiry } from '../../model/stage-end-user.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import { CreditRun, type CreditRunState, createCreditRunState, type StepRecord } from '../machine/credit-run.ts';
import { runActivities } from '../run/activity-stubs.ts';
import { pinIfVersioned } from '../run/around-the-sdk.ts';
import { waitUntilMessagesAnswered } from '../run/as-replayed.ts';
import { handleWithdrawals, type RunDefinition, runWorkflow } from '../run/run-workflow.ts';

type PullStep = StepRecord<PullProduct, NonNullable<Outcome['flagged']>>;
export type PullRunState = CreditRunState<RunConfig, PullStep>;

export class Pull extends CreditRun<PullInput, PullRunState, PullOutcome, PullProduct> {
  readonly kind = 'pull';
  /** Set for FAILSAFE only. */
  consumers: Partial<ReturnType<typeof listFailsafeConsumers>> = {};

  constructor(input: PullInput, state?: PullRunState) {
    super(input, state ?? createCreditRunState([]));
    const { productCode } = this.input;
    if (!state) this.stages.push({ status: { productCode, state: 'pending', attempts: 0 } });
  }

  get step(): PullStep {
    return this.stages[0] as PullStep;
  }

  override takeAnswer(step: PullStep, answer: Outcome, applicants: readonly FailsafeApplicant[]) {
    const answered = super.takeAnswer(step, answer, applicants);
    const { productCode, attention } = step.status;
    if (productCode === 'FAILSAFE') {
      const asked = applicants.map(({ applicantId }) => applicantId);
      this.consumers = listFailsafeConsumers(answer, asked);
      delete step.withoutRecord;
    }
    this.events.emit('pull.answered', [answered.customerTraceNumber ?? ''], { productCode, ...answered, attention });
    return answered;
  }

  status(): PullStatus {
    const { stateAndWait: standing, step } = this;
    return {
      pullId: this.id,
      ...this.commonStatus,
      ...step.status,
      ...standing,
      state: standing.state as PullStatus['state'],
    };
  }

  get details() {
    return { endUserCode: this.input.endUserCode, since: this.step.since, consumers: this.consumers.consumers };
  }

  override references(): PullReferences {
    return { pullId: this.id, ...this.stageReferences, ...this.consumers };
  }

  result(outcome: PullOutcome): PullResult {
    const { accepted, consumers } = this;
    const { reference, status } = this.step;
    const { state: _, reportReferenceNumber: __, customerTraceNumber, ...step } = status;
    if (customerTraceNumber === undefined) throw new Error('a result before the inquiry has begun');
    return {
      pullId: this.id,
      environment: accepted.environment,
      ...step,
      customerTraceNumber,
      outcome,
      reference,
      ...consumers,
    };
  }

  emitEnded(outcome: Ended<PullOutcome>): void {
    this.events.emit('pull.ended', [outcome], { productCode: this.input.productCode, outcome });
  }
}

/**
 * One report of one of `REPORT_PRODUCTS`.
 *
 * @param state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function creditReport(input: CreditReportInput, state?: PullRunState): Promise<PullResult> {
  return runWorkflow(DEFINITION, input, state);
}

/** FAILSAFE (interface 4.3), with outcome and reference per consumer. As `creditReport`. */
export async function failsafeCheck(input: FailsafeCheckInput, state?: PullRunState): Promise<PullResult> {
  return runWorkflow(DEFINITION, input, state);
}

pinIfVersioned(creditReport);
pinIfVersioned(failsafeCheck);

const DEFINITION: RunDefinition<Pull> = {
  State: Pull,
  handleMessages: handleWithdrawals,
  prepare: ({ input }) => runActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
  work: async (pull) => {
    const outcome = await inquire(pull);
    pull.end(outcome);
    await waitUntilMessagesAnswered();
    return outcome;
  },
};

async function inquire(pull: Pull): Promise<PullOutcome> {
  const { input, step } = pull;
  const end = await runInquiry(pull, {
    ...toPullInquiry(input),
    applicants: step.inquiry?.applicants ?? input.applicants,
    part: step,
    onProgress: (progress) => pull.noteProgress(step, progress),
  });
  delete step.inquiry;
  if (end.kind === 'answered') {
    return pull.takeAnswer(step, end.answer, end.applicants ?? input.applicants).outcome;
  }
  const isAbandoned = end.kind === 'abandoned';
  pull.changeStage(step, { state: isAbandoned ? 'abandoned' : 'skipped' });
  return isAbandoned ? 'abandoned' : 'withdrawn';
}
