/** State of one `creditReport` or `failsafeCheck` run: its input and its outcome so far. No waiting. */
import type { PreparedRun } from '../../activities/contract.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { PullInput, PullProduct } from '../../messages/inputs/pull.ts';
import type { AnsweredInquiry } from '../../messages/journey/shapes.ts';
import {
  answeredInquiry,
  consumersWithoutRecord,
  failsafeConsumers,
  wordsOf,
} from '../../messages/pull/consumer-results.ts';
import type { PullOutcome, PullReferences, PullResult, PullStatus } from '../../messages/pull/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { WithdrawPullMessage } from '../../messages/withdraw.ts';
import type { Outcome } from '../../model/inquiry.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { SingleInquiry, type SingleInquiryResumption } from '../inquiry/single-inquiry.ts';

export type PullResumption = SingleInquiryResumption<WithdrawPullMessage>;

export class Pull extends SingleInquiry<PullInput, PreparedRun, PullOutcome, WithdrawPullMessage> {
  reference: ReportReference | undefined;
  /** Of FAILSAFE. */
  consumers: Partial<ReturnType<typeof failsafeConsumers>> = {};
  #withoutRecord: ReturnType<typeof consumersWithoutRecord> = [];
  #flagged: Outcome['flagged'];
  #told: AnsweredInquiry = {};
  #said: ReturnType<typeof wordsOf> = [];

  /** What the next run begins with. */
  handedOver(): PullResumption {
    return this.carriedOver();
  }

  protected get subject() {
    return { pullId: this.pullId };
  }

  protected withdrawalOf(withdrawal: RunWithdrawal): WithdrawPullMessage {
    return { pullId: this.pullId, ...withdrawal };
  }

  get pullId(): string {
    return this.input.pullId;
  }

  get ownerId(): string {
    return ownerIdOf('pull', this.pullId);
  }

  get productCode(): PullProduct {
    return this.input.productCode;
  }

  get endUserCode(): string | undefined {
    return this.input.endUserCode;
  }

  get profile(): string {
    return this.input.profile ?? 'default';
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
    this.#said = wordsOf(answer);
    if (this.productCode === 'FAILSAFE') this.consumers = failsafeConsumers(answer, asked);
    else this.#withoutRecord = consumersWithoutRecord(answer);
    this.end(answer.outcome);
    if (this.#flagged) this.publish();
    this.#tellAnswered(answer);
  }

  status(): PullStatus {
    const { state, attempts, customerTraceNumber, ...rest } = this.inquiryStatus();
    return {
      pullId: this.pullId,
      environment: this.run?.environment ?? null,
      productCode: this.productCode,
      state,
      attempts,
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      ...(this.reference ? { reportReferenceNumber: this.reference.reportReferenceNumber } : {}),
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
      ...(this.#said.length > 0 ? { said: this.#said.map((one) => ({ productCode, ...one })) } : {}),
      ...(this.#withoutRecord.length > 0
        ? { withoutRecord: this.#withoutRecord.map((consumer) => ({ productCode, ...consumer })) }
        : {}),
    };
  }

  result(outcome: PullOutcome): PullResult {
    const { pullId, productCode, reference, run, inquiry } = this;
    if (!run || inquiry.customerTraceNumber === undefined) throw new Error('a result before the inquiry has begun');
    return {
      pullId,
      environment: run.environment,
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

  #tellAnswered({ outcome }: Outcome): void {
    const { productCode } = this;
    const { customerTraceNumber, attempts } = this.inquiry;
    this.events.emit('pull.answered', [customerTraceNumber ?? ''], {
      productCode,
      outcome,
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      attempts,
      ...this.#told,
      ...this.#shownAttention,
    });
  }
}
