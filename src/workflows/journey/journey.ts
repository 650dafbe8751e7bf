/** State of one `lendingJourney` run: its input, its stages and shares so far, and the messages to it. No waiting. */
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { differingPaths } from '../../base/differing-paths.ts';
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
  RefusedMessage,
  ShareStatus,
  StageStatus,
} from '../../messages/journey/shapes.ts';
import type { consumersWithoutRecord, listProviderWords } from '../../messages/pull/consumer-results.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { WithdrawMessage } from '../../messages/withdraw.ts';
import type { Applicant } from '../../model/applicant.ts';
import { hasGate, STAGES, type StageCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import { findEndUser, listEndUsers } from '../../model/stage-end-user.ts';
import { type CarriedConsents, Consents } from '../consent/consents.ts';
import { isOpen, listUngranted, type ShareRecord } from '../consent/share-record.ts';
import type { CarriedInquiry } from '../inquiry/inquiry-spec.ts';
import { tellIfConsent } from '../run/messages/refused-messages.ts';
import { Run, type RunAttributes, type RunState } from '../run/run.ts';
import { type Extension, Extensions, type Wait } from '../run/run-decisions.ts';

/** State that a journey hands over to its next run (continue-as-new). Plain data; personal like the journey's input. */
export interface JourneyRunState extends RunState<WithdrawMessage> {
  stages: StageRecord[];
  shares: ShareRecord[];
  advances: PassGateMessage[];
  skips?: Skip[];
  applicants: Applicant[];
  applicantIds: string[];
  persons: readonly NamedPerson[];
  consents: CarriedConsents;
  stageWasAbandoned: boolean;
  isClosing: boolean;
  gate?: { before: StageCode; since: string; until: string };
  extensions: readonly Extension[];
  stagesEndedAs?: JourneyOutcome;
  openUntil?: string;
}

export class Journey extends Run<LendingJourneyInput, RunConfig, JourneyOutcome, WithdrawMessage> {
  readonly kind = 'journey';
  readonly stages: StageRecord[];
  readonly shares = new Map<string, ShareRecord>();
  readonly advances = new Map<StageCode, PassGateMessage>();
  readonly skips = new Map<StageCode, Skip>();
  readonly consents: Consents;
  applicants: Applicant[];
  readonly persons: NamedPersons;
  /** A stage's inquiry was abandoned: the journey ends with it. */
  stageWasAbandoned = false;
  /** Messages that are being checked. */
  checksOfMessages = 0;
  /** No further share is taken: the run is about to complete. */
  isClosing = false;
  gate: StageCode | undefined;
  gateTimes = { since: '', until: '' };
  /** At the gate: the stage whose report is too old for a plain `advance`. */
  reportTooOld: StageCode | undefined;
  /** The outcome if the stages ended early: the journey runs no further stage. */
  stagesEndedAs: JourneyOutcome | undefined;
  /** When the journey closes, once all has settled. It takes further shares until then. */
  openUntil: string | undefined;
  readonly extensions: Extensions;
  /** Reports that are being compared: the run ends when they all have been. */
  readonly comparisons: Promise<void>[] = [];
  readonly #applicantIds = new Set<string>();

  /**
   * The input is not checked yet, so nothing here may fail on any input.
   *
   * @param state from continue-as-new
   */
  constructor(input: LendingJourneyInput, state?: JourneyRunState) {
    super(input, state);
    this.consents = new Consents(this, state?.consents);
    this.extensions = new Extensions(state?.extensions);
    this.applicants = [];
    this.persons = new NamedPersons(state?.persons);
    if (state) {
      this.stages = state.stages;
      this.#resume(state);
      return;
    }
    const listed = Array.isArray(this.input.stages) ? this.input.stages : STAGES;
    this.stages = listed.map((productCode) => ({ status: { productCode, state: 'pending', attempts: 0 } }));
    this.setApplicants(Array.isArray(this.input.applicants) ? this.input.applicants : []);
    for (const share of Array.isArray(this.input.shares) ? this.input.shares : []) {
      if (isRecord(share)) this.addShare(share);
    }
  }

  #resume(state: JourneyRunState): void {
    for (const share of state.shares) this.shares.set(share.input.shareId, share);
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
      ...{ stages: this.stages, shares: [...this.shares.values()], advances: [...this.advances.values()] },
      ...{ applicants, applicantIds: this.applicantIds, stageWasAbandoned, isClosing },
      ...(this.skips.size > 0 ? { skips: [...this.skips.values()] } : {}),
      ...{ persons: this.persons.list, extensions: this.extensions.carried },
      consents: this.consents.carried,
      ...(gate ? { gate: { before: gate, ...gateTimes } } : {}),
      ...omitUndefined({ stagesEndedAs, openUntil }),
    };
  }

  tellEnded(outcome: Ended<JourneyOutcome>): void {
    const shares = this.#shareStatuses.map(({ shareId, state, customerTraceNumber, attention }) => ({
      ...{ shareId, state },
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

  get stagesAreSettled(): boolean {
    return this.stages.every(({ status }) => !['pending', 'running', 'held'].includes(status.state));
  }

  /** Returns when the wait at a gate, or of a share for consent, ends by now; `undefined` if nothing waits. */
  endOfWait({ gate, shareId }: Wait): string | undefined {
    if (shareId !== undefined) return this.#waitingShare(shareId)?.until;
    return this.gate === gate ? this.gateTimes.until : undefined;
  }

  extendWait({ shareId }: Wait, until: string): void {
    const share = this.#waitingShare(shareId);
    if (share) share.until = until;
    else this.gateTimes = { ...this.gateTimes, until };
  }

  /** Returns the share only once its report exists: no time limit runs before that. */
  #waitingShare(shareId: string | undefined): ShareRecord | undefined {
    const share = shareId === undefined ? undefined : this.shares.get(shareId);
    return share?.state === 'awaitingConsent' && share.until !== undefined ? share : undefined;
  }

  /** Shares that wait for nothing but an applicant's consent. */
  get sharesInWait(): ShareRecord[] {
    return [...this.shares.values()].filter(
      ({ state, until, toldMissing = [] }) =>
        state === 'awaitingConsent' && until !== undefined && toldMissing.length > 0,
    );
  }

  /** Waits for the check of a message that may bring a share or a repeat: the journey does not close meanwhile. */
  async keptOpenFor<T>(check: Promise<T>): Promise<T> {
    this.checksOfMessages++;
    try {
      return await check;
    } finally {
      this.checksOfMessages--;
    }
  }

  get sharesAreSettled(): boolean {
    return [...this.shares.values()].every((share) => !isOpen(share));
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
      this.consents.noteNews();
    }
  }

  get applicantIds(): string[] {
    return [...this.#applicantIds];
  }

  knowsApplicant(applicantId: string): boolean {
    return this.#applicantIds.has(applicantId);
  }

  addShare(input: ShareInput): void {
    this.shares.set(input.shareId, { input, state: 'awaitingConsent' });
  }

  changeStage(stage: StageRecord, change: Partial<StageStatus>): void {
    if (change.state !== stage.status.state) stage.since = new Date().toISOString();
    Object.assign(stage.status, change);
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
  nextOrdinal(productCode: StageCode): number {
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
  gateBefore(productCode: StageCode): GateInput | undefined {
    if (!hasGate(productCode)) return undefined;
    const written = isRecord(this.input.gates) ? this.input.gates[productCode] : undefined;
    return written ?? (this.stages[0]?.status.productCode === productCode ? undefined : {});
  }

  /** Returns the report that a share is of: `notYet`, or `null` if none exists and none will. */
  findReport({ input: share, report }: ShareRecord): ReportReference | 'notYet' | null {
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

  /** Every applicant of the report shared must consent; before there is a report, every applicant there is. */
  listApplicants(share: ShareRecord): string[] {
    const report = this.findReport(share);
    if (report !== null && report !== 'notYet') return report.applicants.map(({ applicantId }) => applicantId);
    return this.applicants.filter(isRecord).map(({ applicantId }) => applicantId);
  }

  /** The applicants of messages that were accepted and take effect later. */
  get #announced(): Applicant[] {
    const gates = [...this.advances.values()].filter(({ to }) => this.stage(to)?.status.state === 'pending');
    const repeats = this.stages.flatMap(({ status, repeat }) => (status.state === 'pending' && repeat ? [repeat] : []));
    return [...gates, ...repeats].flatMap(({ applicants = [] }) => applicants);
  }

  /** Returns why a grant that comes now may not be by the person in the report, or `null`. */
  personProblem({ shareId, applicantId }: Pick<ConsentRecord, 'shareId' | 'applicantId'>): string | null {
    if (this.persons.isOtherAmong(this.#announced, applicantId)) {
      return '/applicantId is about to name another person: send the grant once that stage has begun';
    }
    const share = this.shares.get(shareId);
    const report = share && this.findReport(share);
    if (!report || report === 'notYet') return null;
    const isStill = this.persons.isStill(applicantId, this.#personsAt(report));
    return isStill ? null : '/applicantId names another person than in the report that is shared';
  }

  isOfOtherPerson(share: ShareRecord, grant: Pick<ConsentRecord, 'applicantId' | 'receivedAt'>): boolean {
    const report = this.findReport(share);
    if (report === null || report === 'notYet') return false;
    return !this.persons.isFromApplicant(grant, this.#personsAt(report));
  }

  reportTerms(share: ShareRecord) {
    const report = this.findReport(share);
    return report === null || report === 'notYet' ? {} : { reportReferenceNumber: report.reportReferenceNumber };
  }

  #personsAt({ reportReferenceNumber }: ReportReference): number {
    const hasReference = ({ reference }: StageRecord) => reference?.reportReferenceNumber === reportReferenceNumber;
    return this.stages.find(hasReference)?.personsAt ?? 0;
  }

  override refuse(refused: RefusedMessage): void {
    super.refuse(refused);
    tellIfConsent(this, refused);
  }

  status(): JourneyStatus {
    const [state, waitingFor] = [this.#state, this.#waitingFor];
    const { journeyId, reportTooOld } = this;
    return {
      ...{ journeyId, environment: this.config?.environment ?? null, state },
      ...omitUndefined({
        waitingFor,
        waitingUntil: state === 'waitingAtGate' ? this.gateTimes.until : undefined,
        reportTooOld,
      }),
      stages: this.stages.map(({ status }) => ({ ...status })),
      shares: this.#shareStatuses,
      ...this.problems,
      holds: this.holds.list,
      ...this.#earlyConsents,
      ...this.refusedMessages,
    };
  }

  references(): JourneyReferences {
    const said = this.#ofStages(({ said: words = [] }) => words);
    const withoutRecord = this.#ofStages(({ withoutRecord: consumers = [] }) => consumers);
    return {
      journeyId: this.journeyId,
      references: this.#ofStages(({ reference }) => (reference ? [{ reference }] : [])),
      shares: [...this.shares.values()].flatMap(({ input, reportReferenceNumber }) =>
        reportReferenceNumber === undefined ? [] : [{ shareId: input.shareId, reportReferenceNumber }],
      ),
      ...(said.length > 0 ? { said } : {}),
      ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
    };
  }

  /** Something of each stage, with the stage's name. */
  #ofStages<T extends object>(list: (stage: StageRecord) => readonly T[]) {
    return this.stages.flatMap((stage) => {
      const { productCode, occurrence } = stage.status;
      return list(stage).map((item) => ({ productCode, ...omitUndefined({ occurrence }), ...item }));
    });
  }

  result(outcome: JourneyOutcome): JourneyResult {
    if (!this.config) throw new Error('a result before the input was checked');
    return {
      ...{ journeyId: this.journeyId, environment: this.config.environment, outcome },
      stages: this.stages.map(({ status, reference }) => ({ ...status, ...omitUndefined({ reference }) })),
      shares: this.#shareStatuses,
    };
  }

  get #state(): JourneyState {
    if (this.endedAs) return this.endedAs;
    if (this.holds.list.length > 0) return 'held';
    if (this.outcome) return this.outcome;
    if (this.gate && !this.isEnding) return 'waitingAtGate';
    return this.stagesAreSettled && this.#awaitingShare ? 'waitingForConsent' : 'running';
  }

  get #waitingFor(): string | undefined {
    if (this.endedAs) return undefined;
    const [hold] = this.holds.list;
    if (hold) return `a decision about ${hold.customerTraceNumber} (${hold.failureType})`;
    if (this.outcome) return undefined;
    if (this.gate && !this.isEnding) return this.gate;
    if (this.waits.words !== undefined) return this.waits.words;
    const share = this.stagesAreSettled ? this.#awaitingShare : undefined;
    return share && `share ${share.input.shareId}`;
  }

  get #awaitingShare(): ShareRecord | undefined {
    return [...this.shares.values()].find(({ state }) => state === 'awaitingConsent');
  }

  get #earlyConsents(): Pick<JourneyStatus, 'earlyConsents'> {
    const early = this.endedAs ? undefined : this.consents.early;
    return early?.count ? { earlyConsents: early } : {};
  }

  get #shareStatuses(): ShareStatus[] {
    return [...this.shares.values()].map((share) => {
      const { input, state, until, customerTraceNumber, reportReferenceNumber, attention, remarks, withdrawn } = share;
      const isWaiting = state === 'awaitingConsent';
      const waitingFor = isWaiting ? listUngranted(this.consents, share, this.listApplicants(share), Date.now()) : [];
      return {
        ...{ shareId: input.shareId, state, waitingFor },
        ...omitUndefined({ until: isWaiting ? until : undefined, customerTraceNumber, reportReferenceNumber, remarks }),
        ...omitUndefined({ replacedBy: withdrawn?.replacedBy, attention }),
      };
    });
  }

  /** The search attributes as they were upserted last. */
  get listed() {
    return this.published.carried;
  }

  get stageBegunLast(): StageCode | undefined {
    return this.stages.findLast(({ ordinal }) => ordinal !== undefined)?.status.productCode;
  }

  publish(passing: readonly SearchAttributeName[] = []): void {
    this.published.upsert(this.#attributes, passing);
  }

  get #attributes(): RunAttributes {
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
    const stage = this.stageBegunLast;
    return {
      NeedsAttention: attention[0] ?? null,
      WaitsFor: this.#waitsFor,
      ...(stage ? { JourneyStage: stage, EndUserCode: findEndUser(this.input, stage) } : {}),
      ...(this.config ? { GatewayProfile: this.config.profile, EndUserCodes: listEndUsers(this.input) } : {}),
      CustomerTraceNumber: traceNumbers,
    };
  }

  /** The longest of several waits. A wait for an operator is not listed here. */
  get #waitsFor(): WaitsFor | null {
    if (this.gate && !this.isEnding) return 'gate';
    if (this.waits.first) return this.waits.first;
    if (!this.stagesAreSettled) return null;
    if (this.sharesInWait.length > 0) return 'consents';
    const isOpen = this.openUntil !== undefined && this.sharesAreSettled;
    return isOpen && !this.isEnding && !this.isClosing ? 'requests' : null;
  }
}

export type WantedRepeat = RepeatStageMessage & { receivedAt: string };

export interface StageRecord {
  status: StageStatus;
  reference?: ReportReference;
  /** The provider's words beside its codes. They may name a person. */
  said?: ReturnType<typeof listProviderWords>;
  /** The consumers that the answer names and has no record of. */
  withoutRecord?: ReturnType<typeof consumersWithoutRecord>;
  since?: string;
  /** Its latest trace number's; `undefined` until it has begun. */
  ordinal?: number;
  /** The trace number that it will have, until it has begun. */
  plannedTraceNumber?: string;
  /** Absent for a first pull. */
  repeat?: WantedRepeat;
  /** State of the inquiry while it is under way. */
  inquiry?: CarriedInquiry;
  /** The earlier applicants while the inquiry is under way; an abandoned repeat restores them. */
  applicantsBefore?: Applicant[];
  /** How many persons the journey's ids had named by the time of its report: those named last are the report's. */
  personsAt?: number;
  /** Its report is being compared with the one before. */
  isCompared?: boolean;
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
  /** When the id began to name this person, RFC 3339; absent for the first whom it named. */
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
      const known = this.#latest(applicantId);
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
    const known = this.#latest(applicantId);
    return (
      known !== undefined &&
      applicants.some((applicant) => applicant.applicantId === applicantId && !isSame(known.person, applicant))
    );
  }

  /** Whether the id names the same person now as when the list had `length` entries. */
  isStill(applicantId: string, length: number): boolean {
    const [before, now] = [this.#latest(applicantId, length), this.#latest(applicantId)];
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
    const asked = this.#latest(applicantId, length);
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

  #latest(applicantId: string, length = this.list.length): NamedPerson | undefined {
    return this.list.findLast((person, index) => index < length && person.applicantId === applicantId);
  }
}

/** A corrected typing error makes another person, too: a run cannot tell the two apart. */
function isSame(a: Person, b: Person): boolean {
  // Mostly it is the same entry, and there may be thousands of grants.
  return a === b || differingPaths(toPerson(a), toPerson(b)).length === 0;
}

function toPerson({ names, ssn, dob }: Person): Person {
  return { names, ssn, dob };
}
