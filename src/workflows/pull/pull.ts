/**
 * The workflows of single pulls, and the state of one. Workflow id `pull-<pullId>`. Input: `messages/inputs/pull.ts`;
 * result: `messages/pull/shapes.ts`; docs/pulls.md.
 */
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { QUERIES } from '../../messages/all-messages.ts';
import type { CreditReportInput, FailsafeCheckInput, PullInput, PullProduct } from '../../messages/inputs/pull.ts';
import type { AnsweredInquiry } from '../../messages/journey/shapes.ts';
import {
  answeredInquiry,
  consumersWithoutRecord,
  failsafeConsumers,
  listProviderWords,
} from '../../messages/pull/consumer-results.ts';
import type { PullOutcome, PullReferences, PullResult, PullStatus } from '../../messages/pull/shapes.ts';
import { resolvePull } from '../../messages/resolve-inquiry.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import { type WithdrawPullMessage, withdrawPull } from '../../messages/withdraw.ts';
import type { Outcome } from '../../model/inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { pullInquiry } from '../../model/stage-end-user.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import { SingleInquiry, type SingleInquiryRunState } from '../inquiry/single-inquiry.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { pinnedWhereVersioned } from '../run/around-the-sdk.ts';
import { untilMessagesAnswered } from '../run/as-replayed.ts';
import { handleQueries, handleUnknownSignals } from '../run/messages/message-answers.ts';
import { checkApplicants, handleDecisions, handleWithdrawals } from '../run/messages/run-messages.ts';
import { type RunDefinition, runWorkflow } from '../run/run-workflow.ts';

export type PullRunState = SingleInquiryRunState<WithdrawPullMessage>;

export class Pull extends SingleInquiry<PullInput, RunConfig, PullOutcome, WithdrawPullMessage> {
  readonly kind = 'pull';
  reference: ReportReference | undefined;
  /** Set for FAILSAFE only. */
  consumers: Partial<ReturnType<typeof failsafeConsumers>> = {};
  #withoutRecord: ReturnType<typeof consumersWithoutRecord> = [];
  #flagged: Outcome['flagged'];
  #told: AnsweredInquiry = {};
  #said: ReturnType<typeof listProviderWords> = [];

  get pullId(): string {
    return this.id;
  }

  get productCode(): PullProduct {
    return this.input.productCode;
  }

  get endUserCode(): string | undefined {
    return this.input.endUserCode;
  }

  override get attention(): Outcome['flagged'] {
    return this.#flagged;
  }

  /** @param applicants those that the answered request named, which an amendment may have changed */
  answer(answer: Outcome, applicants: readonly { applicantId: string }[]): void {
    this.reference = answer.reference;
    this.#flagged = answer.flagged;
    const asked = applicants.map(({ applicantId }) => applicantId);
    this.#told = answeredInquiry(answer, asked);
    this.#said = listProviderWords(answer);
    if (this.productCode === 'FAILSAFE') this.consumers = failsafeConsumers(answer, asked);
    else this.#withoutRecord = consumersWithoutRecord(answer);
    this.end(answer.outcome);
    if (this.#flagged) this.publish();
    const { productCode } = this;
    const { customerTraceNumber, attempts } = this.inquiry;
    this.events.emit('pull.answered', [customerTraceNumber ?? ''], {
      ...{ productCode, outcome: answer.outcome },
      ...omitUndefined({ customerTraceNumber }),
      attempts,
      ...this.#told,
      ...this.#shownAttention,
    });
  }

  status(): PullStatus {
    const { state, attempts, customerTraceNumber, ...rest } = this.inquiryStatus();
    return {
      pullId: this.pullId,
      environment: this.config?.environment ?? null,
      productCode: this.productCode,
      state,
      attempts,
      ...omitUndefined({ customerTraceNumber, reportReferenceNumber: this.reference?.reportReferenceNumber }),
      ...this.#told,
      ...this.#shownAttention,
      ...rest,
    };
  }

  references(): PullReferences {
    const { pullId, productCode, reference } = this;
    return {
      pullId,
      references: reference ? [{ productCode, reference }] : [],
      ...this.consumers,
      ...(this.#said.length > 0 ? { said: this.#said.map((text) => ({ productCode, ...text })) } : {}),
      ...(this.#withoutRecord.length > 0
        ? { withoutRecord: this.#withoutRecord.map((consumer) => ({ productCode, ...consumer })) }
        : {}),
    };
  }

  result(outcome: PullOutcome): PullResult {
    const { pullId, productCode, reference, config, inquiry } = this;
    if (!config || inquiry.customerTraceNumber === undefined) throw new Error('a result before the inquiry has begun');
    return {
      pullId,
      environment: config.environment,
      productCode,
      outcome,
      attempts: inquiry.attempts,
      customerTraceNumber: inquiry.customerTraceNumber,
      ...this.#told,
      ...(reference ? { reference } : {}),
      ...this.consumers,
      ...this.#shownAttention,
    };
  }

  get #shownAttention(): Pick<PullStatus, 'attention'> {
    return this.#flagged ? { attention: this.#flagged } : {};
  }

  tellEnded(outcome: Ended<PullOutcome>): void {
    this.events.emit('pull.ended', [outcome], { productCode: this.productCode, outcome });
  }
}

function handlePullMessages(pull: Pull): void {
  handleWithdrawals(pull, withdrawPull, { record: { runKey: pull.runKey } });
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

pinnedWhereVersioned(creditReport);
pinnedWhereVersioned(failsafeCheck);

const DEFINITION: RunDefinition<Pull, PullRunState> = {
  State: Pull,
  handleMessages: handlePullMessages,
  details: ({ endUserCode, inquiry: { since }, consumers: { consumers } }) => ({ endUserCode, since, consumers }),
  prepare: ({ input }) =>
    journeyActivities.preparePull.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
  work: async (pull, config) => {
    const outcome = await inquire(pull, config);
    await untilMessagesAnswered();
    return outcome;
  },
};

async function inquire(pull: Pull, config: RunConfig): Promise<PullOutcome> {
  const { applicants } = pull.input;
  const { carried } = pull;
  const end = await runInquiry(pull.hostIn(config), {
    ...pullInquiry(pull.input),
    applicants: carried?.applicants ?? applicants,
    ...omitUndefined({ resume: carried }),
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
