/**
 * State of a run with steps and shares, and the messages to it: a journey's stages, the one step of a pull, a share by
 * itself. No waiting.
 */
import type { RunConfig } from '../../activities/contract.ts';
import { pick } from '../../base/defined.ts';
import type { ShareStanding } from '../../consent/consent-record.ts';
import type { ShareStatus, StageStatus } from '../../messages/journey/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { listConsumersWithoutRecord, toAnsweredInquiry } from '../../model/consumer-results.ts';
import type { Outcome as Answered } from '../../model/inquiry.ts';
import type { ProductCode, StageCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { type CarriedConsents, type ConsentHost, Consents } from '../consent/consents.ts';
import { isOpen, type ShareRecord } from '../consent/share-record.ts';
import { selectTransientAttributes } from '../inquiry/inquiry-protocol.ts';
import type { InquiryProgress, InquiryState } from '../inquiry/inquiry-spec.ts';
import { waitUntilMessagesAnswered } from '../run/as-replayed.ts';
import { createRunState, Run, type RunAttributes, type RunState } from '../run/run.ts';
import type { Extension, Wait } from '../run/run-decisions.ts';

type Attention = NonNullable<StageStatus['attention']>;

/**
 * The latest trace numbers that a search attribute lists. The server takes 2 kB, which is 66 of them, and fails every
 * workflow task that brings more. The ledger has all.
 */
const MOST_LISTED = 60;

export interface StepRecord<Code extends ProductCode = StageCode, Flag extends Attention = Attention> {
  status: Omit<StageStatus, 'productCode' | 'attention'> & { productCode: Code; attention?: Flag };
  reference?: ReportReference;
  /** The consumers that the answer names and has no record of. */
  withoutRecord?: ReturnType<typeof listConsumersWithoutRecord>;
  since?: string;
  /** Its latest trace number's; `undefined` until it has begun. */
  ordinal?: number;
  /** State of the inquiry in progress. */
  inquiry?: InquiryState;
}

/** State for continue-as-new. Plain data, as personal as the run's input. */
export interface CreditRunState<Config extends RunConfig = RunConfig, Step = StepRecord> extends RunState<Config> {
  stages: Step[];
  shares: ShareRecord[];
  consents: CarriedConsents;
  extensions: Extension[];
}

export function createCreditRunState<Config extends RunConfig, Step>(stages: Step[]): CreditRunState<Config, Step> {
  return { ...createRunState<Config>(), stages, shares: [], consents: { standings: [] }, extensions: [] };
}

export abstract class CreditRun<
    Input extends object,
    State extends CreditRunState<RunConfig, StepRecord<Code>>,
    Outcome extends string,
    Code extends ProductCode,
  >
  extends Run<Input, State, Outcome>
  implements ConsentHost
{
  readonly stages: State['stages'];
  /** The shares of the state, by their ids. */
  readonly shares: Map<string, ShareRecord>;
  readonly consents: Consents;

  constructor(input: Input, state: State) {
    super(input, state);
    this.stages = state.stages;
    this.shares = new Map(state.shares.map((share) => [share.input.shareId, share]));
    this.consents = new Consents(this, state.consents);
    // Refusals that came before need no configuration.
    this.consents.write();
  }

  /** @param prepared with the ledger's answers about shares that have no consents yet */
  override begin(prepared: NonNullable<State['config']> & { standings?: readonly ShareStanding[] }): void {
    const { standings = [], ...config } = prepared;
    this.consents.updateStandings(standings);
    super.begin(config as typeof prepared);
    this.consents.write();
  }

  override onReset(): void {
    super.onReset();
    this.consents.markStale();
  }

  override get isIdle(): boolean {
    return super.isIdle && this.consents.isIdle && this.state.shares.every(({ withdrawal }) => !withdrawal);
  }

  override toState(): State {
    return { ...super.toState(), consents: this.consents.carried };
  }

  /** Waits until every message was answered and the ledger has every consent. The next run repeats that, to the same effect. */
  waitUntilMessagesSettled(): Promise<void> {
    return this.continuation.waitFor(waitUntilMessagesAnswered(() => this.consents.isIdle));
  }

  /** Ends the run with an outcome. A run that no list has yet needs no upsert. */
  end(outcome: Outcome): void {
    if (Object.keys(this.state.published).length > 0) this.publish();
    this.outcome = outcome;
  }

  // Steps.

  changeStage(stage: StepRecord<ProductCode>, change: Partial<Omit<StageStatus, 'productCode'>>): void {
    if (change.state !== stage.status.state) stage.since = new Date().toISOString();
    Object.assign(stage.status, change);
  }

  /** The inquiries that are under way. */
  get #inquiries(): InquiryState[] {
    return [...this.stages, ...this.shares.values()].flatMap(({ inquiry }) => inquiry ?? []);
  }

  get stagesAreSettled(): boolean {
    return this.stages.every(({ status }) => !['pending', 'running', 'held'].includes(status.state));
  }

  /** Notes the progress of a step's inquiry. */
  noteProgress(stage: State['stages'][number], progress: InquiryProgress): void {
    const { customerTraceNumber, ordinal, attempts, state } = progress;
    stage.ordinal = ordinal;
    this.changeStage(stage, { customerTraceNumber, attempts, state });
    this.publish(selectTransientAttributes(this.accepted, progress));
  }

  /**
   * Takes the answer of a step. Returns the members of the event about it.
   *
   * @param applicants those that the answered request named, which an amendment may have changed
   */
  takeAnswer(stage: State['stages'][number], answer: Answered, applicants: readonly FailsafeApplicant[]) {
    const { outcome, reference, flagged } = answer;
    const asked = applicants.map(({ applicantId }) => applicantId);
    const told = toAnsweredInquiry(answer, asked);
    this.changeStage(stage, { state: outcome, ...told });
    const { status } = stage;
    const withoutRecord = listConsumersWithoutRecord(answer);
    if (withoutRecord.length > 0) stage.withoutRecord = withoutRecord;
    if (flagged) {
      status.attention = flagged;
      this.publish();
    }
    if (reference) {
      stage.reference = reference;
      status.reportReferenceNumber = reference.reportReferenceNumber;
    }
    const { customerTraceNumber, attempts } = status;
    return { outcome, ...told, customerTraceNumber, attempts };
  }

  // Shares.

  /** Returns `false` if the share was taken before. */
  takeShare(input: ShareInput): boolean {
    const { shareId } = input;
    if (this.shares.has(shareId)) return false;
    const share: ShareRecord = { input, state: 'awaitingConsent' };
    this.state.shares.push(share);
    this.shares.set(shareId, share);
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
    return this.consents.judge(share, Date.now()).missing;
  }

  toReportTerms(share: ShareRecord): ReturnType<ConsentHost['toReportTerms']> {
    return { reportReferenceNumber: this.findKnownReport(share)?.reportReferenceNumber };
  }

  /** Used for a share that names none of its own. */
  get sharePurposeCode(): string | undefined {
    return undefined;
  }

  get sharesAreSettled(): boolean {
    return this.state.shares.every((share) => !isOpen(share));
  }

  /** Shares that wait for nothing but an applicant's consent. */
  get sharesInWait(): ShareRecord[] {
    return this.state.shares.filter(
      ({ state, until, toldMissing = [] }) =>
        state === 'awaitingConsent' && until !== undefined && toldMissing.length > 0,
    );
  }

  /** Returns the share that waits for consent, once its report exists: no time limit runs before that. */
  findWaiting({ shareId = '' }: Wait): { until?: string } | undefined {
    const share = this.shares.get(shareId);
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
    const share = isSettled ? this.state.shares.find(({ state }) => state === 'awaitingConsent') : undefined;
    const retries = this.#inquiries.flatMap(({ retry }) => retry ?? []);
    const waitingFor = retries[0]?.summary ?? (share && this.nameWait(share));
    return { state: share ? 'waitingForConsent' : 'running', waitingFor };
  }

  protected nameWait({ input }: ShareRecord): string | undefined {
    return `share ${input.shareId}`;
  }

  protected get shareStatuses(): ShareStatus[] {
    return this.state.shares.map((share) => {
      const { input, state, until } = share;
      const isWaiting = state === 'awaitingConsent';
      return {
        shareId: input.shareId,
        waitingFor: isWaiting ? this.listMissing(share) : [],
        until: isWaiting ? until : undefined,
        ...pick(share, ['state', 'customerTraceNumber', 'reportReferenceNumber', 'remarks', 'attention']),
      };
    });
  }

  protected get stageReferences() {
    const withoutRecord = this.stages.flatMap(
      ({ status: { productCode, occurrence }, withoutRecord: consumers = [] }) =>
        consumers.map((consumer) => ({ productCode, occurrence, ...consumer })),
    );
    return {
      references: this.stages.flatMap(({ status: { productCode, occurrence }, reference }) =>
        reference ? [{ productCode, occurrence, reference }] : [],
      ),
      withoutRecord: withoutRecord.length > 0 ? withoutRecord : undefined,
    };
  }

  /** The trace number of a part that has not begun, where the run lists it: its beginning then costs no upsert. */
  protected planTraceNumber(_: State['stages'][number] | ShareRecord): string | undefined {
    return undefined;
  }

  protected override get attributes(): RunAttributes {
    const { shares } = this.state;
    type EndUsers = { endUserCode?: string; endUserCodes?: Partial<Record<ProductCode, string>> };
    const { endUserCode, endUserCodes = {} } = this.input as EndUsers;
    const endUsers = [...new Set([endUserCode, ...Object.values(endUserCodes)])].filter((code) => code !== undefined);
    const begunLast = this.stages.findLast(({ ordinal }) => ordinal !== undefined);
    // A run without steps only shares.
    const productCode: ProductCode | undefined = this.stages.length === 0 ? 'SECONDUSE' : begunLast?.status.productCode;
    const attention = [
      ...this.holds.list.map(({ failureType }) => failureType),
      ...[...shares, ...this.stages.map(({ status }) => status)].flatMap((part) => part.attention ?? []),
    ];
    const traceNumbers = [
      ...this.stages.map((stage) => stage.status.customerTraceNumber ?? this.planTraceNumber(stage)),
      ...shares.map((share) => share.customerTraceNumber ?? this.planTraceNumber(share)),
    ].filter((traceNumber) => traceNumber !== undefined);
    return {
      NeedsAttention: attention[0] ?? null,
      WaitsFor: this.waitsFor,
      JourneyStage: productCode,
      EndUserCode: productCode && (endUserCodes[productCode] ?? endUserCode),
      GatewayProfile: this.config?.profile,
      EndUserCodes: endUsers,
      CustomerTraceNumber: traceNumbers.slice(-MOST_LISTED),
    };
  }

  /** The longest of several waits. A wait for an operator is not listed here. */
  protected get waitsFor(): WaitsFor | null {
    const [retried] = this.#inquiries.flatMap(({ waitsFor }) => waitsFor ?? []);
    if (retried) return retried;
    return this.stagesAreSettled && this.sharesInWait.length > 0 ? 'consents' : null;
  }
}

export type SharingRun = CreditRun<object, CreditRunState<RunConfig, StepRecord<ProductCode>>, string, ProductCode>;

export interface Standing {
  state: string;
  waitingFor?: string;
}
