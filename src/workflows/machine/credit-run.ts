/**
 * State of a run with steps and shares, and the messages to it: a journey's stages, the one step of a pull, a share by
 * itself. No waiting.
 */
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { ShareStatus, StageStatus } from '../../messages/journey/shapes.ts';
import { listConsumersWithoutRecord, toAnsweredInquiry } from '../../messages/pull/consumer-results.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import type { Outcome as Answered } from '../../model/inquiry.ts';
import type { ProductCode, StageCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import { type CarriedConsents, type ConsentHost, Consents } from '../consent/consents.ts';
import { isOpen, judgeConsents, type ShareRecord } from '../consent/share-record.ts';
import type { CarriedInquiry, InquiryProgress } from '../inquiry/inquiry-spec.ts';
import { selectTransientAttributes } from '../inquiry/retries.ts';
import { Run, type RunAttributes, type RunState } from '../run/run.ts';
import type { Extension, Wait } from '../run/run-decisions.ts';

type Attention = NonNullable<StageStatus['attention']>;

export interface StepRecord<Code extends ProductCode = StageCode, Flag extends Attention = Attention> {
  status: Omit<StageStatus, 'productCode' | 'attention'> & { productCode: Code; attention?: Flag };
  reference?: ReportReference;
  /** The provider's words beside its codes. They may name a person. */
  /** The consumers that the answer names and has no record of. */
  withoutRecord?: ReturnType<typeof listConsumersWithoutRecord>;
  since?: string;
  /** Its latest trace number's; `undefined` until it has begun. */
  ordinal?: number;
  /** The trace number of the inquiry before it begins. */
  plannedTraceNumber?: string;
  /** State of the inquiry in progress. */
  inquiry?: CarriedInquiry;
}

/** State for continue-as-new. Plain data, as personal as the run's input. */
export interface CreditRunState<Withdrawal, Prepared extends RunConfig, Step> extends RunState<Withdrawal, Prepared> {
  stages: Step[];
  shares: ShareRecord[];
  consents: CarriedConsents;
  extensions: readonly Extension[];
}

interface EndUsers {
  endUserCode?: string;
  endUserCodes?: Partial<Record<ProductCode, string>>;
}

export abstract class CreditRun<
    Input extends object,
    Prepared extends RunConfig,
    Outcome extends string,
    Withdrawal,
    Code extends ProductCode,
    Step extends StepRecord<Code> = StepRecord<Code>,
  >
  extends Run<Input, Prepared, Outcome, Withdrawal>
  implements ConsentHost
{
  readonly stages: Step[];
  readonly shares = new Map<string, ShareRecord>();
  readonly consents: Consents;
  readonly extensions: Extension[];

  /** @param state from continue-as-new */
  constructor(input: Input, state?: CreditRunState<Withdrawal, Prepared, Step>) {
    super(input, state);
    this.consents = new Consents(this, state?.consents);
    this.extensions = [...(state?.extensions ?? [])];
    this.stages = state?.stages ?? [];
    for (const share of state?.shares ?? []) this.shares.set(share.input.shareId, share);
  }

  override toState(): CreditRunState<Withdrawal, Prepared, Step> {
    return {
      ...super.toState(),
      stages: this.stages,
      shares: [...this.shares.values()],
      consents: this.consents.carried,
      extensions: this.extensions,
    };
  }

  /** Ends the run with an outcome. A run that no list has yet needs no upsert. */
  end(outcome: Outcome): void {
    if (Object.keys(this.published.carried).length > 0) this.publish();
    this.outcome = outcome;
  }

  // Steps.

  changeStage(stage: Step, change: Partial<Omit<StageStatus, 'productCode'>>): void {
    if (change.state !== stage.status.state) stage.since = new Date().toISOString();
    Object.assign(stage.status, change);
  }

  /** The inquiries that are under way. */
  get #inquiries(): CarriedInquiry[] {
    return [...this.stages, ...this.shares.values()].flatMap(({ inquiry }) => inquiry ?? []);
  }

  get stagesAreSettled(): boolean {
    return this.stages.every(({ status }) => !['pending', 'running', 'held'].includes(status.state));
  }

  /** Returns what the inquiry of a step needs of the run. */
  createStepHost(config: RunConfig, stage: Step) {
    return {
      ...this.createHost(config),
      onStanding: (standing: CarriedInquiry) => {
        stage.inquiry = standing;
      },
      onProgress: (progress: InquiryProgress) => {
        const { customerTraceNumber, ordinal, attempts, state } = progress;
        stage.ordinal = ordinal;
        this.changeStage(stage, { customerTraceNumber, attempts, state });
        this.showProgress(config, progress);
      },
    };
  }

  showProgress(config: RunConfig, progress: InquiryProgress): void {
    this.publish(selectTransientAttributes(config, progress));
  }

  /**
   * Takes the answer of a step. Returns the members of the event about it.
   *
   * @param applicants those that the answered request named, which an amendment may have changed
   */
  takeAnswer(stage: Step, answer: Answered, applicants: readonly FailsafeApplicant[]) {
    const { outcome, reference, flagged } = answer;
    const asked = applicants.map(({ applicantId }) => applicantId);
    const told = toAnsweredInquiry(answer, asked);
    this.changeStage(stage, { state: outcome, ...told, ...(flagged ? { attention: flagged } : {}) });
    const withoutRecord = listConsumersWithoutRecord(answer);
    if (withoutRecord.length > 0) stage.withoutRecord = withoutRecord;
    if (flagged) this.publish();
    const { status } = stage;
    if (reference) {
      stage.reference = reference;
      status.reportReferenceNumber = reference.reportReferenceNumber;
    }
    const { customerTraceNumber, attempts } = status;
    return { outcome, ...told, ...omitUndefined({ customerTraceNumber }), attempts };
  }

  // Shares.

  /** Returns `false` if the share was taken before. */
  takeShare(input: ShareInput): boolean {
    if (this.shares.has(input.shareId)) return false;
    this.shares.set(input.shareId, { input, state: 'awaitingConsent' });
    return true;
  }

  /** Returns the report that a share is of: `notYet`, or `null` if none exists and none will. */
  findReport(_: ShareRecord): ReportReference | 'notYet' | null {
    return null;
  }

  /** Returns the share's report once it exists. */
  findKnownReport(share: ShareRecord): ReportReference | undefined {
    const report = this.findReport(share);
    return report === null || report === 'notYet' ? undefined : report;
  }

  /** The applicants whose consents and denials can count for a share. */
  get applicantIds(): string[] {
    return [];
  }

  knowsApplicant(applicantId: string): boolean {
    return this.applicantIds.includes(applicantId);
  }

  /** Every applicant of the report that is shared must consent. */
  listApplicants(share: ShareRecord): string[] {
    return this.findKnownReport(share)?.applicants.map(({ applicantId }) => applicantId) ?? [];
  }

  /** The applicants without a valid grant for the share. */
  protected listMissing(share: ShareRecord): string[] {
    return judgeConsents(this.consents, share, this.listApplicants(share), Date.now()).missing;
  }

  toReportTerms(share: ShareRecord): ReturnType<ConsentHost['toReportTerms']> {
    return omitUndefined({ reportReferenceNumber: this.findKnownReport(share)?.reportReferenceNumber });
  }

  /** Used for a share that names none of its own. */
  get sharePurposeCode(): string | undefined {
    return undefined;
  }

  get sharesAreSettled(): boolean {
    return [...this.shares.values()].every((share) => !isOpen(share));
  }

  /** Shares that wait for nothing but an applicant's consent. */
  get sharesInWait(): ShareRecord[] {
    return [...this.shares.values()].filter(
      ({ state, until, toldMissing = [] }) =>
        state === 'awaitingConsent' && until !== undefined && toldMissing.length > 0,
    );
  }

  /** Returns when the wait of a share for consent ends by now; `undefined` if it does not wait. */
  computeEndOfWait({ shareId }: Wait): string | undefined {
    return this.#findWaitingShare(shareId)?.until;
  }

  extendWait({ shareId }: Wait, until: string): void {
    const share = this.#findWaitingShare(shareId);
    if (share) share.until = until;
  }

  /** Returns the share only once its report exists: no time limit runs before that. */
  #findWaitingShare(shareId: string | undefined): ShareRecord | undefined {
    const share = shareId === undefined ? undefined : this.shares.get(shareId);
    return share?.state === 'awaitingConsent' && share.until !== undefined ? share : undefined;
  }

  // Status, references and search attributes.

  /** The run's state, and text that says what it waits for. */
  protected get stateAndWait(): Standing {
    if (this.endedAs) return { state: this.endedAs };
    const [hold] = this.holds.list;
    if (hold) {
      return { state: 'held', waitingFor: `a decision about ${hold.customerTraceNumber} (${hold.failureType})` };
    }
    return this.outcome ? { state: this.outcome } : this.openStateAndWait;
  }

  protected get openStateAndWait(): Standing {
    const isSettled = this.config !== undefined && this.stagesAreSettled;
    const share = isSettled ? [...this.shares.values()].find(({ state }) => state === 'awaitingConsent') : undefined;
    const retries = this.#inquiries.flatMap(({ retry }) => retry ?? []);
    const waitingFor = retries[0]?.summary ?? (share && this.nameWait(share));
    return { state: share ? 'waitingForConsent' : 'running', ...omitUndefined({ waitingFor }) };
  }

  protected nameWait({ input }: ShareRecord): string | undefined {
    return `share ${input.shareId}`;
  }

  /** The members of a status that are the same for each kind. Nothing personal. */
  protected get commonStatus() {
    const environment = this.config?.environment ?? null;
    return { environment, ...this.problems, holds: this.holds.list, ...this.refusedMessages };
  }

  protected get shareStatuses(): ShareStatus[] {
    return [...this.shares.values()].map((share) => {
      const { input, state, until, customerTraceNumber, reportReferenceNumber, attention, remarks } = share;
      const isWaiting = state === 'awaitingConsent';
      const waitingFor = isWaiting ? this.listMissing(share) : [];
      return {
        shareId: input.shareId,
        state,
        waitingFor,
        ...omitUndefined({ until: isWaiting ? until : undefined, customerTraceNumber, reportReferenceNumber, remarks }),
        ...omitUndefined({ attention }),
      };
    });
  }

  protected get stageReferences() {
    const withoutRecord = this.#listOfStages(({ withoutRecord: consumers = [] }) => consumers);
    return {
      references: this.#listOfStages(({ reference }) => (reference ? [{ reference }] : [])),
      ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
    };
  }

  /** Something of each stage, with the stage's name. */
  #listOfStages<T extends object>(list: (stage: Step) => readonly T[]) {
    return this.stages.flatMap((stage) => {
      const { productCode, occurrence } = stage.status;
      return list(stage).map((item) => ({ productCode, ...omitUndefined({ occurrence }), ...item }));
    });
  }

  publish(passing: readonly SearchAttributeName[] = []): void {
    this.published.upsert(this.#attributes, passing);
  }

  /** The product of the step that began last. A run without steps only shares. */
  get #productBegunLast(): Code | 'SECONDUSE' | undefined {
    if (this.stages.length === 0) return 'SECONDUSE';
    return this.stages.findLast(({ ordinal }) => ordinal !== undefined)?.status.productCode;
  }

  get #attributes(): RunAttributes {
    const { config } = this;
    const { endUserCode, endUserCodes = {} } = this.input as EndUsers;
    const endUsers = [...new Set([endUserCode, ...Object.values(endUserCodes)])].filter((code) => code !== undefined);
    const productCode: ProductCode | undefined = this.#productBegunLast;
    const endUser = productCode && (endUserCodes[productCode] ?? endUserCode);
    const stages = this.stages.map(({ status }) => status);
    const shares = [...this.shares.values()];
    const attention = [
      ...this.holds.list.map(({ failureType }) => failureType),
      ...[...shares, ...stages].flatMap((part) => part.attention ?? []),
    ];
    const traceNumbers = [
      ...this.stages.map(({ status, plannedTraceNumber }) => status.customerTraceNumber ?? plannedTraceNumber),
      ...shares.map((share) => share.customerTraceNumber ?? share.plannedTraceNumber),
    ].filter((traceNumber) => traceNumber !== undefined);
    return {
      NeedsAttention: attention[0] ?? null,
      WaitsFor: this.waitsFor,
      ...omitUndefined({ JourneyStage: productCode, EndUserCode: endUser }),
      ...(config ? { GatewayProfile: config.profile, EndUserCodes: endUsers } : {}),
      CustomerTraceNumber: traceNumbers,
    };
  }

  /** The longest of several waits. A wait for an operator is not listed here. */
  protected get waitsFor(): WaitsFor | null {
    const [retried] = this.#inquiries.flatMap(({ waitsFor }) => waitsFor ?? []);
    if (retried) return retried;
    return this.stagesAreSettled && this.sharesInWait.length > 0 ? 'consents' : null;
  }
}

export type SharingRun = CreditRun<object, RunConfig, string, unknown, ProductCode>;

export interface Standing {
  state: string;
  waitingFor?: string;
}
