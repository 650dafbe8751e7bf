/** State of one `lendingJourney` run: its input, its stages and shares so far, and the messages to it. No waiting. */

import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { isRecord } from '../../base/is-record.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { PassGateMessage, RepeatStageMessage } from '../../messages/advance.ts';
import type { GateInput, LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type {
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyState,
  JourneyStatus,
} from '../../messages/journey/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { WithdrawMessage } from '../../messages/withdraw.ts';
import type { Applicant } from '../../model/applicant.ts';
import { hasGate, STAGES, type StageCode } from '../../model/products.ts';
import { type MessageRefusal, refuse } from '../../model/refusals.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import { CreditRun, type CreditRunState, type StepRecord } from '../machine/credit-run.ts';
import type { Wait } from '../run/run-decisions.ts';

/** State of a journey for continue-as-new. Plain data, as personal as the journey's input. */
export interface JourneyRunState extends CreditRunState<WithdrawMessage, RunConfig, StageRecord> {
  advances: PassGateMessage[];
  skips?: Skip[];
  applicants: Applicant[];
  applicantIds: string[];
  persons: readonly NamedPerson[];
  stageWasAbandoned: boolean;
  isClosing: boolean;
  gate?: { before: StageCode; since: string; until: string };
  stagesEndedAs?: JourneyOutcome;
  openUntil?: string;
}

export class Journey extends CreditRun<
  LendingJourneyInput,
  RunConfig,
  JourneyOutcome,
  WithdrawMessage,
  StageCode,
  StageRecord
> {
  readonly kind = 'journey';
  readonly advances = new Map<StageCode, PassGateMessage>();
  readonly skips = new Map<StageCode, Skip>();
  applicants: Applicant[] = [];
  readonly persons: NamedPersons;
  /** A stage's inquiry was abandoned: the journey ends with it. */
  stageWasAbandoned = false;
  /** Messages that are being checked. */
  checksOfMessages = 0;
  /** The journey accepts no further share, because it is about to complete. */
  isClosing = false;
  gate: StageCode | undefined;
  gateTimes = { since: '', until: '' };
  /** At the gate: the stage whose report is too old for a plain `advance`. */
  reportTooOld: StageCode | undefined;
  /** The outcome if the stages ended early: the journey runs no further stage. */
  stagesEndedAs: JourneyOutcome | undefined;
  /** The time at which the journey closes, once all inquiries have settled. It accepts further shares until then. */
  openUntil: string | undefined;
  readonly #applicantIds = new Set<string>();

  /**
   * The input is not checked yet, so nothing here may fail on any input.
   *
   * @param state from continue-as-new
   */
  constructor(input: LendingJourneyInput, state?: JourneyRunState) {
    super(input, state);
    this.persons = new NamedPersons(state?.persons);
    if (state) {
      this.#resume(state);
      return;
    }
    const listed = Array.isArray(this.input.stages) ? this.input.stages : STAGES;
    for (const productCode of listed) this.stages.push({ status: { productCode, state: 'pending', attempts: 0 } });
    this.setApplicants(Array.isArray(this.input.applicants) ? this.input.applicants : []);
    for (const share of Array.isArray(this.input.shares) ? this.input.shares : []) {
      if (isRecord(share)) this.takeShare(share);
    }
  }

  #resume(state: JourneyRunState): void {
    for (const message of state.advances) this.advances.set(message.to, message);
    for (const skip of state.skips ?? []) this.skips.set(skip.skip, skip);
    for (const applicantId of state.applicantIds) this.#applicantIds.add(applicantId);
    this.applicants = state.applicants;
    this.stageWasAbandoned = state.stageWasAbandoned;
    this.isClosing = state.isClosing;
    this.gate = state.gate?.before;
    if (state.gate) this.gateTimes = { since: state.gate.since, until: state.gate.until };
    this.stagesEndedAs = state.stagesEndedAs;
    this.openUntil = state.openUntil;
  }

  override toState(): JourneyRunState {
    const { gate, gateTimes, stagesEndedAs, openUntil } = this;
    const { applicants, stageWasAbandoned, isClosing } = this;
    return {
      ...super.toState(),
      applicants,
      applicantIds: this.applicantIds,
      stageWasAbandoned,
      isClosing,
      persons: this.persons.list,
      advances: [...this.advances.values()],
      ...(this.skips.size > 0 ? { skips: [...this.skips.values()] } : {}),
      ...(gate ? { gate: { before: gate, ...gateTimes } } : {}),
      ...omitUndefined({ stagesEndedAs, openUntil }),
    };
  }

  emitEnded(outcome: Ended<JourneyOutcome>): void {
    const shares = this.shareStatuses.map(({ shareId, state, customerTraceNumber, attention }) => ({
      shareId,
      state,
      ...omitUndefined({ customerTraceNumber, attention }),
    }));
    // A journey without shares has no such member.
    this.events.emit('journey.ended', [outcome], { outcome, ...(shares.length > 0 ? { shares } : {}) });
  }

  get journeyId(): string {
    return this.id;
  }

  override get isEnding(): boolean {
    return super.isEnding || this.stageWasAbandoned;
  }

  /** Returns when the wait at a gate, or of a share for consent, ends by now; `undefined` if nothing waits. */
  override computeEndOfWait(wait: Wait): string | undefined {
    if (wait.shareId !== undefined) return super.computeEndOfWait(wait);
    return this.gate === wait.gate ? this.gateTimes.until : undefined;
  }

  override extendWait(wait: Wait, until: string): void {
    if (wait.shareId !== undefined) super.extendWait(wait, until);
    else this.gateTimes = { ...this.gateTimes, until };
  }

  /** Waits for the check of a message that may bring a share or a repeat: the journey does not close meanwhile. */
  async keepOpenFor<T>(check: Promise<T>): Promise<T> {
    this.checksOfMessages++;
    try {
      return await check;
    } finally {
      this.checksOfMessages--;
    }
  }

  setApplicants(applicants: Applicant[]): void {
    this.applicants = applicants;
    this.persons.name(applicants);
    this.noteApplicants(applicants);
  }

  /** Notes the applicants of a message that is kept: their consents may come before the message takes effect. */
  noteApplicants(applicants: Applicant[]): void {
    for (const applicant of applicants) {
      if (!isRecord(applicant) || this.#applicantIds.has(applicant.applicantId)) continue;
      this.#applicantIds.add(applicant.applicantId);
      this.consents.markAllStale();
    }
  }

  override get applicantIds(): string[] {
    return [...this.#applicantIds];
  }

  override knowsApplicant(applicantId: string): boolean {
    return this.#applicantIds.has(applicantId);
  }

  /** The latest pull of a stage. */
  stage(productCode: StageCode): StageRecord | undefined {
    return this.stages.findLast(({ status }) => status.productCode === productCode);
  }

  /** The next pull. A repeat directly follows the stage that it repeats. */
  get nextStage(): StageRecord | undefined {
    return this.stages.find(({ status }) => status.state === 'pending');
  }

  addRepeat(repeat: WantedRepeat): void {
    const repeated = this.stages.findLastIndex(({ status }) => status.productCode === repeat.repeat);
    const { repeat: productCode, occurrence } = repeat;
    this.stages.splice(repeated + 1, 0, {
      status: { productCode, occurrence, state: 'pending', attempts: 0 },
      repeat,
    });
  }

  /** The ordinal that the next trace number of a stage has: amendments and repeats are counted together. */
  computeNextOrdinal(productCode: StageCode): number {
    const used = this.stages.flatMap(({ status, ordinal }) =>
      status.productCode === productCode && ordinal !== undefined ? [ordinal] : [],
    );
    return Math.max(-1, ...used) + 1;
  }

  /** The latest report of any stage. */
  get latestReport(): { productCode: StageCode; reference: ReportReference } | undefined {
    const stage = this.stages.findLast(({ reference }) => reference !== undefined);
    return stage?.reference && { productCode: stage.status.productCode, reference: stage.reference };
  }

  /** Returns how long the latest report stays young enough for a gate; `undefined` if any age will do. */
  reportFreshForMs(nowMs: number): number | undefined {
    const maxAgeMs = parseDurationMs(this.input.maxReportAge ?? '');
    const requestedAtMs = parseInstantMs(this.latestReport?.reference.requestedAt ?? '');
    if (maxAgeMs === null || requestedAtMs === null) return undefined;
    return requestedAtMs + maxAgeMs - nowMs;
  }

  /** Returns the gate before a stage; the first stage has one only if the caller wrote it down. */
  findGateBefore(productCode: StageCode): GateInput | undefined {
    if (!hasGate(productCode)) return undefined;
    const written = isRecord(this.input.gates) ? this.input.gates[productCode] : undefined;
    return written ?? (this.stages[0]?.status.productCode === productCode ? undefined : {});
  }

  /** Returns the report that a share is of: `notYet`, or `null` if none exists and none will. */
  override findReport({ input: share, report }: ShareRecord): ReportReference | 'notYet' | null {
    if (report) return report;
    if (share.reportOf !== undefined) {
      const stage = this.stage(share.reportOf);
      if (stage && ['pending', 'running', 'held'].includes(stage.status.state)) return 'notYet';
      const pulls = this.stages.filter(({ status }) => status.productCode === share.reportOf);
      return pulls.findLast(({ reference }) => reference !== undefined)?.reference ?? null;
    }
    if (!this.stagesAreSettled) return 'notYet';
    return this.latestReport?.reference ?? null;
  }

  /** Until the report exists, every applicant must consent. */
  override listApplicants(share: ShareRecord): string[] {
    if (this.findKnownReport(share)) return super.listApplicants(share);
    return this.applicants.filter(isRecord).map(({ applicantId }) => applicantId);
  }

  override get sharePurposeCode(): string | undefined {
    return this.input.permissiblePurposeCodes.SECONDUSE;
  }

  /** The applicants of messages that were accepted and take effect later. */
  get #announced(): Applicant[] {
    const gates = [...this.advances.values()].filter(({ to }) => this.stage(to)?.status.state === 'pending');
    const repeats = this.stages.flatMap(({ status, repeat }) => (status.state === 'pending' && repeat ? [repeat] : []));
    return [...gates, ...repeats].flatMap(({ applicants = [] }) => applicants);
  }

  /** Returns why a grant that comes now may not be by the person in the report, or `null`. */
  checkPerson({ shareId, applicantId }: Pick<ConsentRecord, 'shareId' | 'applicantId'>): MessageRefusal | null {
    if (this.persons.isOtherAmong(this.#announced, applicantId)) {
      return refuse('notNow', '/applicantId is about to name another person: send the grant once that stage has begun');
    }
    const share = this.shares.get(shareId);
    const report = share && this.findKnownReport(share);
    if (!report) return null;
    const isStill = this.persons.isStill(applicantId, this.#personsAt(report));
    return isStill
      ? null
      : refuse('unknownPart', '/applicantId names another person than in the report that is shared');
  }

  isOfOtherPerson(share: ShareRecord, grant: Pick<ConsentRecord, 'applicantId' | 'receivedAt'>): boolean {
    const report = this.findKnownReport(share);
    return report !== undefined && !this.persons.isFromApplicant(grant, this.#personsAt(report));
  }

  #personsAt({ reportReferenceNumber }: ReportReference): number {
    const hasReference = ({ reference }: StageRecord) => reference?.reportReferenceNumber === reportReferenceNumber;
    return this.stages.find(hasReference)?.personsAt ?? 0;
  }

  status(): JourneyStatus {
    const { journeyId, reportTooOld, stateAndWait: standing } = this;
    return {
      journeyId,
      ...this.commonStatus,
      ...standing,
      state: standing.state as JourneyState,
      ...omitUndefined({
        waitingUntil: standing.state === 'waitingAtGate' ? this.gateTimes.until : undefined,
        reportTooOld,
      }),
      stages: this.stages.map(({ status }) => ({ ...status })),
      shares: this.shareStatuses,
    };
  }

  references(): JourneyReferences {
    return {
      journeyId: this.journeyId,
      ...this.stageReferences,
      shares: [...this.shares.values()].flatMap(({ input, reportReferenceNumber }) =>
        reportReferenceNumber === undefined ? [] : [{ shareId: input.shareId, reportReferenceNumber }],
      ),
    };
  }

  result(outcome: JourneyOutcome): JourneyResult {
    if (!this.config) throw new Error('a result before the input was checked');
    return {
      journeyId: this.journeyId,
      environment: this.config.environment,
      outcome,
      stages: this.stages.map(({ status, reference }) => ({ ...status, ...omitUndefined({ reference }) })),
      shares: this.shareStatuses,
    };
  }

  protected override get openStateAndWait() {
    const isAtGate = this.gate !== undefined && !this.isEnding;
    return isAtGate ? { state: 'waitingAtGate', waitingFor: this.gate as string } : super.openStateAndWait;
  }

  protected override get waitsFor(): WaitsFor | null {
    if (this.gate && !this.isEnding) return 'gate';
    const isOpen = this.openUntil !== undefined && this.stagesAreSettled && this.sharesAreSettled;
    return super.waitsFor ?? (isOpen && !this.isEnding && !this.isClosing ? 'requests' : null);
  }
}

export type WantedRepeat = RepeatStageMessage & { receivedAt: string };

export interface StageRecord extends StepRecord {
  /** Absent for a first pull. */
  repeat?: WantedRepeat;
  /** The earlier applicants while the inquiry is under way; an abandoned repeat restores them. */
  applicantsBefore?: Applicant[];
  /** The number of persons in `Persons` at the time of the report, which names the latest of each id. */
  personsAt?: number;
}

/** A stage that is never pulled, with the decision to skip it. */
export interface Skip {
  skip: StageCode;
  to: StageCode;
  by: string;
  reason: string;
}

// The persons whom each `applicantId` has named, in order. A consent is by the person whom its id named when it came.

type Person = Pick<Applicant, 'names' | 'ssn' | 'dob'>;
type Named = Person & Pick<Applicant, 'applicantId'>;

/** Plain data; personal like the journey's own input. */
interface NamedPerson {
  applicantId: string;
  person: Person;
  /** The time from which the id names this person, RFC 3339. Absent for the first person. */
  since?: string;
}

class NamedPersons {
  readonly list: NamedPerson[];

  constructor(state: readonly NamedPerson[] = []) {
    this.list = [...state];
  }

  /** Takes the applicants who apply from now on. They may be unchecked. */
  name(applicants: readonly Named[]): void {
    for (const applicant of applicants) {
      if (!isRecord(applicant)) continue;
      const { applicantId } = applicant;
      const known = this.#findLatest(applicantId);
      if (known && isSame(known.person, applicant)) continue;
      this.list.push({
        applicantId,
        person: toPerson(applicant),
        ...(known ? { since: new Date().toISOString() } : {}),
      });
    }
  }

  /** Whether these applicants have another person under the id than the one whom it names now. */
  isOtherAmong(applicants: readonly Named[], applicantId: string): boolean {
    const known = this.#findLatest(applicantId);
    return (
      known !== undefined &&
      applicants.some((applicant) => applicant.applicantId === applicantId && !isSame(known.person, applicant))
    );
  }

  /** Whether the id names the same person now as when the list had `length` entries. */
  isStill(applicantId: string, length: number): boolean {
    const [before, now] = [this.#findLatest(applicantId, length), this.#findLatest(applicantId)];
    return !before || !now || isSame(before.person, now.person);
  }

  /**
   * Whether a consent came from the person whom its id named when the list had `length` entries. One of the same
   * millisecond as a change may be of either person, and so is of neither.
   */
  isFromApplicant(
    { applicantId, receivedAt }: Pick<ConsentRecord, 'applicantId' | 'receivedAt'>,
    length: number,
  ): boolean {
    const asked = this.#findLatest(applicantId, length);
    if (!asked) return true;
    const atMs = parseInstantMs(receivedAt) ?? 0;
    let speaker: Person | undefined;
    for (const { applicantId: id, person, since } of this.list) {
      if (id !== applicantId) continue;
      const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : (parseInstantMs(since) ?? 0);
      if (sinceMs === atMs) return false;
      if (sinceMs < atMs) speaker = person;
    }
    return speaker !== undefined && isSame(asked.person, speaker);
  }

  #findLatest(applicantId: string, length = this.list.length): NamedPerson | undefined {
    return this.list.findLast((person, index) => index < length && person.applicantId === applicantId);
  }
}

/** A corrected typing error makes another person, too: a run cannot tell the two apart. */
function isSame(a: Person, b: Person): boolean {
  // Mostly it is the same entry, and there may be thousands of grants.
  return a === b || findDifferingPaths(toPerson(a), toPerson(b)).length === 0;
}

function toPerson({ names, ssn, dob }: Person): Person {
  return { names, ssn, dob };
}
