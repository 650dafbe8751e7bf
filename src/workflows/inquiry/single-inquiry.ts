/** State of a run with one inquiry of any kind, and what the inquiry needs of that run. No waiting. */
import type { PreparedRun } from '../../activities/contract.ts';
import type { HoldStatus, RefusedMessage, TerminalState } from '../../messages/journey/shapes.ts';
import type { ProductCode } from '../../model/products.ts';
import { type CarriedEvents, EventsOut } from '../run/events-out.ts';
import { HandOver } from '../run/hand-over.ts';
import { Holds, type PastHolds } from '../run/holds.ts';
import { InFlightActivities } from '../run/in-flight-activities.ts';
import { type CarriedAttributes, PublishedAttributes } from '../run/published-attributes.ts';
import { RefusedMessages, tellIfConsent } from '../run/refused-messages.ts';
import type { CarriedInquiry, InquiryHost } from './inquiry-spec.ts';

/** How the inquiry stands while it is under way. */
export interface InquiryStanding {
  state: 'running' | 'held';
  attempts: number;
  customerTraceNumber?: string;
  /** When it came into its state. */
  since?: string;
  /** What a retry waits for, in words. */
  waitingFor?: string;
}

/** What a run with one inquiry hands over to its next run (continue-as-new). Plain data. */
export interface SingleInquiryResumption<Withdrawal, Run extends PreparedRun = PreparedRun> {
  /** Absent where the input was not checked yet. */
  run?: Run;
  withdrawal?: Withdrawal;
  inquiry: InquiryStanding;
  /** Absent where the inquiry has not begun. */
  carried?: CarriedInquiry;
  holds: PastHolds;
  events: CarriedEvents;
  refused: { refusedMessages: RefusedMessage[]; refusedMessagesTotal: number };
  published: CarriedAttributes;
}

export abstract class SingleInquiry<Withdrawal, Outcome extends string> {
  readonly inFlight = new InFlightActivities();
  readonly handOver = new HandOver(this.inFlight, () => this.run?.settings.handOverAfterEvents);
  readonly events: EventsOut;
  readonly holds: Holds;
  readonly inquiry: InquiryStanding;
  /** What the next run goes on with, while the inquiry is under way. */
  carried: CarriedInquiry | undefined;
  /** What the first activity fixed; absent until it has answered. */
  run: PreparedRun | undefined;
  withdrawal: Withdrawal | undefined;
  outcome: Outcome | undefined;
  /** Its input was refused, or it was cancelled before. */
  endedUnchecked = false;
  endedAs: TerminalState | undefined;
  readonly #refused: RefusedMessages;
  readonly #published: PublishedAttributes;

  /** @param past what the run before has handed over */
  constructor(past?: SingleInquiryResumption<Withdrawal>) {
    this.events = new EventsOut(past?.events);
    this.holds = new Holds(() => this.publish(), this.events, past?.holds, { handOver: this.handOver });
    this.inquiry = past?.inquiry ?? { state: 'running', attempts: 0 };
    this.carried = past?.carried;
    this.withdrawal = past?.withdrawal;
    this.#refused = new RefusedMessages(past?.refused);
    this.#published = new PublishedAttributes(() => this.run?.searchAttributes ?? [], past?.published);
  }

  /** What the next run begins with, but for the run's own kind. */
  protected carriedOver(): SingleInquiryResumption<Withdrawal> {
    const { run, withdrawal, inquiry, carried, holds, events } = this;
    return {
      ...(run ? { run } : {}),
      ...(withdrawal ? { withdrawal } : {}),
      inquiry,
      ...(carried ? { carried } : {}),
      holds: { open: holds.carried, settled: holds.settled },
      events: events.carried,
      refused: this.#refused.status(),
      published: this.#published.carried,
    };
  }

  abstract readonly productCode: ProductCode;
  /** Of the search attribute: the end user that the inquiry is made for. */
  abstract readonly endUserCode: string | undefined;

  get customerTraceNumber(): string | undefined {
    return this.inquiry.customerTraceNumber;
  }

  /** What a person should look at although no inquiry waits for it. */
  get attention(): string | undefined {
    return undefined;
  }

  /** As the search attribute `JourneyStage` has it. */
  protected get stage(): string {
    return this.productCode;
  }

  get isCancelled(): boolean {
    return this.endedAs === 'cancelled';
  }

  get isEnding(): boolean {
    return this.withdrawal !== undefined;
  }

  refuse(refused: RefusedMessage): void {
    this.#refused.add(refused);
    tellIfConsent(this, refused);
  }

  /** Brings the search attributes up to date. */
  publish(): void {
    const { customerTraceNumber, endUserCode } = this;
    this.#published.upsert({
      NeedsAttention: this.holds.list[0]?.failureType ?? this.attention ?? null,
      JourneyStage: this.stage,
      ...(endUserCode === undefined ? {} : { EndUserCode: endUserCode }),
      CustomerTraceNumber: customerTraceNumber === undefined ? [] : [customerTraceNumber],
    });
  }

  hostIn(run: PreparedRun): InquiryHost {
    return {
      run,
      inFlight: this.inFlight,
      holds: this.holds,
      isEnding: () => this.isEnding,
      handOver: this.handOver,
      onStanding: (standing) => {
        this.carried = standing;
      },
      onProgress: ({ waitingFor, ...progress }) => {
        if (progress.state !== this.inquiry.state || this.inquiry.since === undefined) this.#beginState();
        Object.assign(this.inquiry, progress);
        if (waitingFor === undefined) delete this.inquiry.waitingFor;
        else this.inquiry.waitingFor = waitingFor;
        this.publish();
      },
    };
  }

  end(outcome: Outcome): void {
    this.outcome = outcome;
    this.#beginState();
  }

  /** The part of a run's status that is the same for each kind. Nothing personal. */
  standing(): {
    state: 'running' | 'held' | Outcome | TerminalState;
    waitingFor?: string;
    attempts: number;
    customerTraceNumber?: string;
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
      holds: this.holds.list,
      ...this.#refused.status(),
    };
  }

  #beginState(): void {
    this.inquiry.since = new Date().toISOString();
  }
}
