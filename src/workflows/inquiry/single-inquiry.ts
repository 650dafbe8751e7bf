/** State of a run with one inquiry of any kind, and what the inquiry needs of that run. No waiting. */
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { FlagReason } from '../../ledger/holds/work.ts';
import type { HoldStatus, RefusedMessage, TerminalState } from '../../messages/journey/shapes.ts';
import type { Problem } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import { Run, type RunState } from '../run/run.ts';
import type { CarriedInquiry, InquiryContext } from './inquiry-spec.ts';
import { passingIn } from './retries.ts';

/** State of the inquiry while it is under way. */
export interface InquiryStanding {
  state: 'running' | 'held';
  attempts: number;
  customerTraceNumber?: string;
  since?: string;
  /** Text that says why a retry waits. */
  waitingFor?: string;
}

export interface SingleInquiryRunState<Withdrawal, Prepared extends RunConfig = RunConfig>
  extends RunState<Withdrawal, Prepared> {
  inquiry: InquiryStanding;
  /** Absent if the inquiry has not begun. */
  carried?: CarriedInquiry;
}

export abstract class SingleInquiry<
  Input extends object,
  Prepared extends RunConfig,
  Outcome extends string,
  Withdrawal,
> extends Run<Input, Prepared, Outcome, Withdrawal> {
  readonly inquiry: InquiryStanding;
  /** State with which the next run resumes the inquiry while it is under way. */
  carried: CarriedInquiry | undefined;

  /** @param state from continue-as-new */
  constructor(input: Input, state?: SingleInquiryRunState<Withdrawal, Prepared>) {
    super(input, state);
    this.inquiry = state?.inquiry ?? { state: 'running', attempts: 0 };
    this.carried = state?.carried;
  }

  override toState(): SingleInquiryRunState<Withdrawal, Prepared> {
    const { inquiry, carried } = this;
    return { ...super.toState(), inquiry, ...omitUndefined({ carried }) };
  }

  abstract readonly productCode: ProductCode;
  /** The search attribute's value: the end user that the inquiry is made for. */
  abstract readonly endUserCode: string | undefined;

  get customerTraceNumber(): string | undefined {
    return this.inquiry.customerTraceNumber;
  }

  /** Why an operator should look at the run although no inquiry waits for it. */
  get attention(): FlagReason | undefined {
    return undefined;
  }

  /** Why the run waits, unless it waits for an operator. */
  protected get waitsFor(): WaitsFor | null {
    return this.waits.first ?? null;
  }

  publish(passing: readonly SearchAttributeName[] = []): void {
    const { customerTraceNumber, endUserCode, productCode } = this;
    const attributes = {
      NeedsAttention: this.holds.list[0]?.failureType ?? this.attention ?? null,
      WaitsFor: this.waitsFor,
      JourneyStage: productCode,
      ...(endUserCode === undefined ? {} : { EndUserCode: endUserCode, EndUserCodes: [endUserCode] }),
      ...(this.config ? { GatewayProfile: this.config.profile } : {}),
      CustomerTraceNumber: customerTraceNumber === undefined ? [] : [customerTraceNumber],
    };
    this.published.upsert(attributes, passing);
  }

  hostIn(config: RunConfig): InquiryContext {
    return {
      ...this.hostFor(config),
      onStanding: (standing) => {
        this.carried = standing;
      },
      onProgress: ({ waitingFor, isQueued, ...progress }) => {
        if (progress.state !== this.inquiry.state || this.inquiry.since === undefined) this.#beginState();
        Object.assign(this.inquiry, progress);
        if (waitingFor === undefined) delete this.inquiry.waitingFor;
        else this.inquiry.waitingFor = waitingFor;
        this.publish(passingIn(config, { state: progress.state, ...omitUndefined({ waitingFor, isQueued }) }));
      },
    };
  }

  end(outcome: Outcome): void {
    this.outcome = outcome;
    this.#beginState();
    // Otherwise the lists would show the closed run as waiting.
    if (this.published.carried.WaitsFor !== undefined) this.publish();
  }

  /** The part of a run's status that is the same for each kind. Nothing personal. */
  inquiryStatus(): {
    state: 'running' | 'held' | Outcome | TerminalState;
    waitingFor?: string;
    attempts: number;
    customerTraceNumber?: string;
    problems?: Problem[];
    holds: HoldStatus[];
    refusedMessages: RefusedMessage[];
    refusedMessagesTotal: number;
  } {
    const { customerTraceNumber } = this;
    const { attempts } = this.inquiry;
    const [hold] = this.holds.list;
    const waitingFor = hold
      ? `a decision about ${hold.customerTraceNumber} (${hold.failureType})`
      : this.inquiry.waitingFor;
    return {
      state: this.endedAs ?? (hold ? 'held' : (this.outcome ?? 'running')),
      ...(waitingFor === undefined || this.outcome || this.endedAs ? {} : { waitingFor }),
      attempts,
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      ...this.problems,
      holds: this.holds.list,
      ...this.refusedMessages,
    };
  }

  #beginState(): void {
    this.inquiry.since = new Date().toISOString();
  }
}
