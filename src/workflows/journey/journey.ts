/** State of one `lendingJourney` run: its input, its stages and shares so far, and the messages to it. No waiting. */
import type { PreparedRun } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import { differingPaths } from '../../base/differing-paths.ts';
import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { isRecord } from '../../base/is-record.ts';
import { type CarriedConsent, type CarriedRefusal, ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { HeardConsent } from '../../ledger/kept-consents.ts';
import type { PassGateMessage, RepeatStageMessage } from '../../messages/advance.ts';
import type { GateInput, LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type {
  HoldStatus,
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyState,
  JourneyStatus,
  RefusedMessage,
  ShareStatus,
  StageStatus,
  TerminalState,
} from '../../messages/journey/shapes.ts';
import type { consumersWithoutRecord, wordsOf } from '../../messages/pull/consumer-results.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { Ended, WebhookEventData } from '../../messages/webhooks/events.ts';
import type { WithdrawMessage } from '../../messages/withdraw.ts';
import type { Applicant } from '../../model/applicant.ts';
import { STAGES, type StageCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import { endUserOf, endUsersOf } from '../../model/stage-end-user.ts';
import { ConsentChecks, ConsentRecorder, carriedConsents, endGrant } from '../consent/consent-recording.ts';
import { isOpen, type ShareRecord, ungranted } from '../consent/share-record.ts';
import type { BegunAttempt, CarriedInquiry } from '../inquiry/inquiry-spec.ts';
import { type RefusedMessages, tellIfConsent } from '../run/messages/refused-messages.ts';
import type { NeededWork } from '../run/noted-work.ts';
import type { RetryWaits } from '../run/retry-waits.ts';
import { Run, type RunAttributes, type RunResumption } from '../run/run.ts';
import { type Extension, Extensions, type Wait } from '../run/run-decisions.ts';

/** What a journey hands over to its next run (continue-as-new). Plain data; personal like the journey's own input. */
export interface JourneyResumption extends RunResumption<WithdrawMessage> {
  stages: StageRecord[];
  shares: ShareRecord[];
  advances: PassGateMessage[];
  skips?: Skip[];
  applicants: Applicant[];
  applicantIds: string[];
  persons: readonly NamedPerson[];
  consents: CarriedConsent[];
  /** What was refused under other shares' ids. */
  elsewhere: CarriedRefusal[];
  /** Shares requested after consents to them had come, of which the ledger does not know yet. */
  matchedShares: readonly string[];
  stageWasAbandoned: boolean;
  isClosing: boolean;
  hasHeard: boolean;
  gate?: { before: StageCode; since: string; until: string };
  extensions: readonly Extension[];
  stagesEndedAs?: JourneyOutcome;
  openUntil?: string;
}

export class Journey extends Run<LendingJourneyInput, PreparedRun, JourneyOutcome, WithdrawMessage> {
  readonly kind = 'journey';
  readonly stages: StageRecord[];
  readonly shares = new Map<string, ShareRecord>();
  readonly advances = new Map<StageCode, PassGateMessage>();
  readonly skips = new Map<StageCode, Skip>();
  readonly consents: ConsentBook;
  readonly checks = new ConsentChecks();
  applicants: Applicant[];
  readonly persons: NamedPersons;
  /** A stage's inquiry was abandoned: the journey ends with it. */
  stageWasAbandoned = false;
  /** Messages that are being checked. */
  checksOfMessages = 0;
  /** No further share is taken: the run is about to complete. */
  isClosing = false;
  gate: StageCode | undefined;
  /** When the gate began, and when it expires. */
  gateTimes = { since: '', until: '' };
  /** At the gate: the stage whose report is too old for a plain `advance`. */
  reportTooOld: StageCode | undefined;
  /** The outcome where the stages ended early: the journey runs no further stage. */
  stagesEndedAs: JourneyOutcome | undefined;
  /** All has settled; further shares are taken until then. */
  openUntil: string | undefined;
  /** Waits that were made longer. */
  readonly extensions: Extensions;
  readonly recorder: ConsentRecorder;
  /** Whether the run has read the consents from before its start. */
  hasHeard = false;
  /** Those consents, where the run's first activity has brought them. */
  heardAtStart: HeardConsent[] | undefined;
  /** The first attempt, where the run's first activity has made it, until its stage takes it. */
  begun: BegunAttempt | undefined;
  /** Reports that are being compared: the run ends when they all have been. */
  readonly comparisons: Promise<void>[] = [];
  readonly #applicantIds = new Set<string>();

  /**
   * The input is not checked yet, so nothing here may fail on any input.
   *
   * @param past what the run before has handed over
   */
  constructor(input: LendingJourneyInput, past?: JourneyResumption) {
    super(input, past);
    const consents = past?.consents ?? [];
    this.consents = new ConsentBook(consents, past?.elsewhere);
    this.recorder = new ConsentRecorder(this, consents, past?.matchedShares);
    this.extensions = new Extensions(past?.extensions);
    this.applicants = [];
    this.persons = new NamedPersons(past?.persons);
    if (past) {
      this.stages = past.stages;
      this.#resume(past);
      return;
    }
    const listed = Array.isArray(this.input.stages) ? this.input.stages : STAGES;
    this.stages = listed.map((productCode) => ({ status: { productCode, state: 'pending', attempts: 0 } }));
    this.setApplicants(Array.isArray(this.input.applicants) ? this.input.applicants : []);
    for (const share of Array.isArray(this.input.shares) ? this.input.shares : []) {
      if (isRecord(share)) this.addShare(share);
    }
  }

  #resume(past: JourneyResumption): void {
    for (const share of past.shares) this.shares.set(share.input.shareId, share);
    for (const message of past.advances) this.advances.set(message.to, message);
    for (const skip of past.skips ?? []) this.skips.set(skip.skip, skip);
    for (const applicantId of past.applicantIds) this.#applicantIds.add(applicantId);
    this.applicants = past.applicants;
    this.stageWasAbandoned = past.stageWasAbandoned;
    this.isClosing = past.isClosing;
    this.gate = past.gate?.before;
    if (past.gate) this.gateTimes = { since: past.gate.since, until: past.gate.until };
    this.stagesEndedAs = past.stagesEndedAs;
    this.openUntil = past.openUntil;
    this.hasHeard = past.hasHeard;
  }

  override handedOver(): JourneyResumption {
    const { gate, gateTimes, stagesEndedAs, openUntil } = this;
    const { applicants, stageWasAbandoned, isClosing } = this;
    return {
      ...super.handedOver(),
      ...{ stages: this.stages, shares: [...this.shares.values()], advances: [...this.advances.values()] },
      ...{ applicants, applicantIds: this.applicantIds, stageWasAbandoned, isClosing, hasHeard: this.hasHeard },
      ...(this.skips.size > 0 ? { skips: [...this.skips.values()] } : {}),
      ...{ persons: this.persons.list, extensions: this.extensions.carried },
      consents: carriedConsents(this),
      matchedShares: this.recorder.matchedShares,
      elsewhere: this.consents.elsewhere,
      ...(gate ? { gate: { before: gate, ...gateTimes } } : {}),
      ...(stagesEndedAs ? { stagesEndedAs } : {}),
      ...(openUntil === undefined ? {} : { openUntil }),
    };
  }

  tellEnded(outcome: Ended<JourneyOutcome>): void {
    this.events.emit('journey.ended', [outcome], { outcome, ...sharesAtTheEnd(this) });
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

  /** When the wait at a gate, or of a share for consent, ends by now; `undefined` where there is none. */
  endOfWait({ gate, shareId }: Wait): string | undefined {
    if (shareId !== undefined) return this.#waitingShare(shareId)?.until;
    return this.gate === gate ? this.gateTimes.until : undefined;
  }

  extendWait({ shareId }: Wait, until: string): void {
    const share = this.#waitingShare(shareId);
    if (share) share.until = until;
    else this.gateTimes = { ...this.gateTimes, until };
  }

  /** Only while its report is there: before that nothing runs out. */
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
    for (const one of applicants) if (isRecord(one)) this.#applicantIds.add(one.applicantId);
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

  /** The pull that comes next. Repeats stand right after what they repeat. */
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

  /** The latest report there is, of whichever stage. */
  get latestReport(): { productCode: StageCode; reference: ReportReference } | undefined {
    const stage = this.stages.findLast(({ reference }) => reference !== undefined);
    return stage?.reference && { productCode: stage.status.productCode, reference: stage.reference };
  }

  /** How long the latest report still is young enough for a gate; `undefined` where any age will do. */
  reportFreshForMs(nowMs: number): number | undefined {
    const maxAgeMs = parseDurationMs(this.input.maxReportAge ?? '');
    const requestedAtMs = parseInstantMs(this.latestReport?.reference.requestedAt ?? '');
    if (maxAgeMs === null || requestedAtMs === null) return undefined;
    return requestedAtMs + maxAgeMs - nowMs;
  }

  /** The gate before a stage; the first stage has one only where the caller wrote it down. */
  gateBefore(productCode: StageCode): GateInput | undefined {
    if (productCode === 'PREQUAL') return undefined;
    const written = isRecord(this.input.gates) ? this.input.gates[productCode] : undefined;
    return written ?? (this.stages[0]?.status.productCode === productCode ? undefined : {});
  }

  /** The report that a share is of: `notYet`, or `null` where there is none and will be none. */
  reportOf({ input: share, report }: ShareRecord): ReportReference | 'notYet' | null {
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
  applicantsOf(share: ShareRecord): string[] {
    const report = this.reportOf(share);
    if (report !== null && report !== 'notYet') return report.applicants.map(({ applicantId }) => applicantId);
    return this.applicants.filter(isRecord).map(({ applicantId }) => applicantId);
  }

  /** The applicants of messages that were accepted and take effect later. */
  get #announced(): Applicant[] {
    const gates = [...this.advances.values()].filter(({ to }) => this.stage(to)?.status.state === 'pending');
    const repeats = this.stages.flatMap(({ status, repeat }) => (status.state === 'pending' && repeat ? [repeat] : []));
    return [...gates, ...repeats].flatMap(({ applicants = [] }) => applicants);
  }

  /** Why it is not known that a grant, coming now, is by the person of the report; or `null`. */
  personProblem({ shareId, applicantId }: Pick<ConsentRecord, 'shareId' | 'applicantId'>): string | null {
    if (this.persons.isOtherAmong(this.#announced, applicantId)) {
      return '/applicantId is about to name another person: send the grant once that stage has begun';
    }
    const share = this.shares.get(shareId);
    const report = share && this.reportOf(share);
    if (!report || report === 'notYet') return null;
    const isStill = this.persons.isStill(applicantId, this.#personsAt(report));
    return isStill ? null : '/applicantId names another person than in the report that is shared';
  }

  /** Ends the grants for the share that came while their ids named other persons than in the report. */
  endGrantsOfOthers({ input: { shareId } }: ShareRecord, report: ReportReference): void {
    const personsAt = this.#personsAt(report);
    for (const record of [...this.consents.all(), ...this.consents.pending()]) {
      if (record.shareId !== shareId || record.decision !== 'granted') continue;
      if (!this.persons.isWordOf(record, personsAt)) endGrant(this, record, 'otherPerson');
    }
  }

  #personsAt({ reportReferenceNumber }: ReportReference): number {
    const isOf = ({ reference }: StageRecord) => reference?.reportReferenceNumber === reportReferenceNumber;
    return this.stages.find(isOf)?.personsAt ?? 0;
  }

  override refuse(refused: RefusedMessage): void {
    super.refuse(refused);
    tellIfConsent(this, refused);
  }

  /** What a retry waits for, in words; `undefined` where none waits. */
  get retry(): string | undefined {
    return this.waits.words;
  }

  status(): JourneyStatus {
    return journeyStatus(this);
  }

  references(): JourneyReferences {
    return journeyReferences(this);
  }

  result(outcome: JourneyOutcome): JourneyResult {
    return journeyResult(this, outcome);
  }

  /** The search attributes as they were upserted last. */
  get listed() {
    return this.published.carried;
  }

  get stageBegunLast(): StageCode | undefined {
    return this.stages.findLast(({ ordinal }) => ordinal !== undefined)?.status.productCode;
  }

  /** What is on hold waits for more than consent. It costs no upsert of its own. */
  get #stageOnHold(): StageCode | undefined {
    return this.holds.list.length === 0 || this.sharesInWait.length > 0 ? undefined : this.stageBegunLast;
  }

  /**
   * Brings the search attributes up to date; those that the server does not know are left out.
   *
   * @param passing what alone is no news, since the run is not about to wait
   */
  publish(
    journeyStage: StageCode | 'awaitingConsent' | undefined = this.#stageOnHold,
    passing: readonly SearchAttributeName[] = [],
  ): void {
    this.published.upsert(listedAttributes(this, journeyStage), passing);
    this.noted.look();
  }

  override get flagged(): NeededWork[] {
    return flaggedWork(this);
  }

  ungranted(share: ShareRecord): string[] {
    return ungranted(this.consents, share.input, this.applicantsOf(share), Date.now());
  }
}

// How a journey stands, as its queries and its result say it.

/** What of a journey shows in its status. */
export interface JourneyStanding {
  journeyId: string;
  run: PreparedRun | undefined;
  stages: readonly StageRecord[];
  stagesAreSettled: boolean;
  shares: ReadonlyMap<string, ShareRecord>;
  consents: Pick<ConsentBook, 'early'>;
  holds: { list: HoldStatus[] };
  gate: StageCode | undefined;
  gateTimes: { until: string };
  /** It waits at no gate any more. */
  isEnding: boolean;
  reportTooOld: StageCode | undefined;
  /** What a retry waits for, in words. */
  retry: string | undefined;
  outcome: JourneyOutcome | undefined;
  endedAs: TerminalState | undefined;
  problems: Pick<JourneyStatus, 'problems'>;
  refusedMessages: ReturnType<RefusedMessages['list']>;
  /** The applicants who have not consented. */
  ungranted(share: ShareRecord): string[];
}

/** The answer to the query `status`. */
export function journeyStatus(journey: JourneyStanding): JourneyStatus {
  const [state, waitingFor] = [stateOf(journey), waitingForOf(journey)];
  return {
    journeyId: journey.journeyId,
    environment: journey.run?.environment ?? null,
    state,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(state === 'waitingAtGate' ? { waitingUntil: journey.gateTimes.until } : {}),
    ...(journey.reportTooOld === undefined ? {} : { reportTooOld: journey.reportTooOld }),
    stages: journey.stages.map(({ status }) => ({ ...status })),
    shares: shareStatuses(journey),
    ...journey.problems,
    holds: journey.holds.list,
    ...earlyConsents(journey),
    ...journey.refusedMessages,
  };
}

/** The answer to the query `references`. */
export function journeyReferences(journey: JourneyStanding): JourneyReferences {
  const said = ofStages(journey, ({ said: words = [] }) => words);
  const withoutRecord = ofStages(journey, ({ withoutRecord: consumers = [] }) => consumers);
  return {
    journeyId: journey.journeyId,
    references: ofStages(journey, ({ reference }) => (reference ? [{ reference }] : [])),
    shares: [...journey.shares.values()].flatMap(({ input, reportReferenceNumber }) =>
      reportReferenceNumber === undefined ? [] : [{ shareId: input.shareId, reportReferenceNumber }],
    ),
    ...(said.length > 0 ? { said } : {}),
    ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
  };
}

/** Something of each stage, with the stage's name. */
function ofStages<T extends object>({ stages }: JourneyStanding, list: (stage: StageRecord) => readonly T[]) {
  return stages.flatMap((stage) => {
    const { productCode, occurrence } = stage.status;
    return list(stage).map((item) => ({ productCode, ...(occurrence === undefined ? {} : { occurrence }), ...item }));
  });
}

export function journeyResult(journey: JourneyStanding, outcome: JourneyOutcome): JourneyResult {
  if (!journey.run) throw new Error('a result before the input was checked');
  return {
    journeyId: journey.journeyId,
    environment: journey.run.environment,
    outcome,
    stages: journey.stages.map(({ status, reference }) => ({ ...status, ...(reference ? { reference } : {}) })),
    shares: shareStatuses(journey),
  };
}

function stateOf(journey: JourneyStanding): JourneyState {
  if (journey.endedAs) return journey.endedAs;
  if (journey.holds.list.length > 0) return 'held';
  if (journey.outcome) return journey.outcome;
  if (journey.gate && !journey.isEnding) return 'waitingAtGate';
  if (journey.stagesAreSettled && waitingShare(journey)) return 'waitingForConsent';
  return 'running';
}

function waitingForOf(journey: JourneyStanding): string | undefined {
  if (journey.endedAs) return undefined;
  const hold = journey.holds.list[0];
  if (hold) return `a decision about ${hold.customerTraceNumber} (${hold.failureType})`;
  if (journey.outcome) return undefined;
  if (journey.gate && !journey.isEnding) return journey.gate;
  const { retry } = journey;
  if (retry !== undefined) return retry;
  const share = journey.stagesAreSettled ? waitingShare(journey) : undefined;
  return share ? `share ${share.input.shareId}` : undefined;
}

function waitingShare(journey: JourneyStanding): ShareRecord | undefined {
  return [...journey.shares.values()].find(({ state }) => state === 'awaitingConsent');
}

function earlyConsents(journey: JourneyStanding): Pick<JourneyStatus, 'earlyConsents'> {
  const early = journey.endedAs ? undefined : journey.consents.early((shareId) => journey.shares.has(shareId));
  return early?.count ? { earlyConsents: early } : {};
}

function shareStatuses(journey: JourneyStanding): ShareStatus[] {
  return [...journey.shares.values()].map((share) => {
    const { input, state, until, customerTraceNumber, reportReferenceNumber, attention, remarks } = share;
    return {
      shareId: input.shareId,
      state,
      waitingFor: state === 'awaitingConsent' ? journey.ungranted(share) : [],
      ...(state === 'awaitingConsent' && until !== undefined ? { until } : {}),
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      ...(reportReferenceNumber === undefined ? {} : { reportReferenceNumber }),
      ...(remarks === undefined ? {} : { remarks }),
      ...(share.withdrawn?.replacedBy === undefined ? {} : { replacedBy: share.withdrawn.replacedBy }),
      ...(attention === undefined ? {} : { attention }),
    };
  });
}

/** As the event of the journey's end has them; a journey without shares has no such member. */
export function sharesAtTheEnd(journey: JourneyStanding): Pick<WebhookEventData['journey.ended'], 'shares'> {
  if (journey.shares.size === 0) return {};
  const shares = shareStatuses(journey).map(({ shareId, state, customerTraceNumber, attention }) => ({
    ...{ shareId, state },
    ...defined({ customerTraceNumber, attention }),
  }));
  return { shares };
}

// How a journey is listed: its search attributes, from its stages, shares and holds.

/** What of a journey shows in the lists. */
interface Listed {
  input: Pick<LendingJourneyInput, 'endUserCode' | 'endUserCodes'>;
  stages: readonly StageRecord[];
  shares: ReadonlyMap<string, ShareRecord>;
  holds: { list: HoldStatus[] };
  stageBegunLast: StageCode | undefined;
  gate: StageCode | undefined;
  waits: Pick<RetryWaits, 'first'>;
  stagesAreSettled: boolean;
  sharesAreSettled: boolean;
  sharesInWait: readonly ShareRecord[];
  openUntil: string | undefined;
  isEnding: boolean;
  isClosing: boolean;
  run: { profile: string } | undefined;
}

/** @param journeyStage `undefined` where stage and end user stay as they are listed */
export function listedAttributes(
  journey: Listed,
  journeyStage: StageCode | 'awaitingConsent' | undefined,
): RunAttributes {
  const stages = journey.stages.map(({ status }) => status);
  const shares = [...journey.shares.values()];
  const attention = [
    ...journey.holds.list.map(({ failureType }) => failureType),
    ...[...shares, ...stages].flatMap((one) => one.attention ?? []),
  ];
  const traceNumbers = [
    ...journey.stages.map(({ status, plannedTraceNumber }) => status.customerTraceNumber ?? plannedTraceNumber),
    ...shares.map((share) => share.customerTraceNumber ?? share.plannedTraceNumber),
  ].filter((traceNumber) => traceNumber !== undefined);
  // Of a share that waits: for whom its report was pulled.
  const stage = journeyStage === 'awaitingConsent' ? journey.stageBegunLast : journeyStage;
  const endUser = stage ? endUserOf(journey.input, stage) : journey.input.endUserCode;
  return {
    NeedsAttention: attention[0] ?? null,
    WaitsFor: waitsForOf(journey),
    ...(journeyStage ? { JourneyStage: journeyStage, EndUserCode: endUser } : {}),
    ...(journey.run ? { GatewayProfile: journey.run.profile, EndUserCodes: endUsersOf(journey.input) } : {}),
    CustomerTraceNumber: traceNumbers,
  };
}

/** The longest wait where there are several. What waits for a person needs no word here. */
function waitsForOf(journey: Listed): WaitsFor | null {
  if (journey.gate && !journey.isEnding) return 'gate';
  if (journey.waits.first) return journey.waits.first;
  if (!journey.stagesAreSettled) return null;
  if (journey.sharesInWait.length > 0) return 'consents';
  const isOpen = journey.openUntil !== undefined && journey.sharesAreSettled;
  return isOpen && !journey.isEnding && !journey.isClosing ? 'requests' : null;
}

/** What of a journey a person should look at, although nothing waits for it. */
export function flaggedWork(journey: Listed & { journeyId: string }): NeededWork[] {
  const { input, stages, shares } = journey;
  const owned = { kind: 'flagged' as const, ownerId: journey.journeyId, gatewayProfile: journey.run?.profile ?? '' };
  return [
    ...stages.flatMap(({ status: { attention: reason, customerTraceNumber, productCode } }) =>
      reason === undefined || customerTraceNumber === undefined
        ? []
        : [{ ...owned, reason, customerTraceNumber, productCode, endUserCode: endUserOf(input, productCode) }],
    ),
    ...[...shares.values()].flatMap(({ attention: reason, customerTraceNumber, input: { shareId, ...share } }) =>
      reason === undefined || customerTraceNumber === undefined
        ? []
        : [
            {
              ...{ ...owned, reason, customerTraceNumber, productCode: 'SECONDUSE' as const, shareId },
              ...(share.endUserCode === undefined ? {} : { endUserCode: share.endUserCode }),
              ...(share.endUser === undefined ? {} : { endUser: share.endUser }),
            },
          ],
    ),
  ];
}

// One stage of a journey, and how it stands (types).

/** Who wanted a stage pulled once more. */
export type WantedRepeat = RepeatStageMessage & { receivedAt: string };

export interface StageRecord {
  status: StageStatus;
  reference?: ReportReference;
  /** The provider's words beside its codes. They may name a person. */
  said?: ReturnType<typeof wordsOf>;
  /** The consumers that the answer names and has no record of. */
  withoutRecord?: ReturnType<typeof consumersWithoutRecord>;
  /** When it came into its state. */
  since?: string;
  /** Its latest trace number's; `undefined` until it has begun. */
  ordinal?: number;
  /** The trace number that it will have, until it has begun. */
  plannedTraceNumber?: string;
  /** Who wanted it, where it is no first pull. */
  repeat?: WantedRepeat;
  /** While it is under way: how the inquiry stands. */
  inquiry?: CarriedInquiry;
  /** While it is under way: who applied before, which a repeat that is given up leaves as it was. */
  applicantsBefore?: Applicant[];
  /** How many persons the journey's ids had named by the time of its report: those named last are the report's. */
  personsAt?: number;
  /** Its report is being compared with the one before. */
  isCompared?: boolean;
}

/** A stage that is never pulled: what was accepted about it. */
export interface Skip {
  skip: StageCode;
  to: StageCode;
  by: string;
  reason: string;
}

// Whom each `applicantId` of a journey has named, in order. A consent is the word of the person named when it came. Pure.

type Person = Pick<Applicant, 'names' | 'ssn' | 'dob'>;
type Named = Person & Pick<Applicant, 'applicantId'>;

/** Plain data; personal like the journey's own input. */
export interface NamedPerson {
  applicantId: string;
  person: Person;
  /** When the id began to name this person, RFC 3339; absent for the first whom it named. */
  since?: string;
}

export class NamedPersons {
  readonly #list: NamedPerson[];

  constructor(past: readonly NamedPerson[] = []) {
    this.#list = [...past];
  }

  get list(): readonly NamedPerson[] {
    return this.#list;
  }

  /** Takes the applicants who apply from now on. They may be unchecked. */
  name(applicants: readonly Named[]): void {
    for (const one of applicants) {
      if (!isRecord(one)) continue;
      const { applicantId } = one;
      const known = this.#latest(applicantId);
      if (known && isSame(known.person, one)) continue;
      this.#list.push({ applicantId, person: personOf(one), ...(known ? { since: new Date().toISOString() } : {}) });
    }
  }

  /** Whether these applicants have another person under the id than the one whom it names now. */
  isOtherAmong(applicants: readonly Named[], applicantId: string): boolean {
    const known = this.#latest(applicantId);
    return (
      known !== undefined && applicants.some((one) => one.applicantId === applicantId && !isSame(known.person, one))
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
  isWordOf({ applicantId, receivedAt }: ConsentRecord, length: number): boolean {
    const asked = this.#latest(applicantId, length);
    if (!asked) return true;
    const atMs = parseInstantMs(receivedAt) ?? 0;
    let speaker: Person | undefined;
    for (const { applicantId: id, person, since } of this.#list) {
      if (id !== applicantId) continue;
      const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : (parseInstantMs(since) ?? 0);
      if (sinceMs === atMs) return false;
      if (sinceMs < atMs) speaker = person;
    }
    return speaker !== undefined && isSame(asked.person, speaker);
  }

  #latest(applicantId: string, length = this.#list.length): NamedPerson | undefined {
    return this.#list.findLast((one, index) => index < length && one.applicantId === applicantId);
  }
}

/** A corrected typing error makes another person, too: a run cannot tell the two apart. */
function isSame(one: Person, other: Person): boolean {
  // Mostly it is the same entry, and there may be thousands of grants.
  return one === other || differingPaths(personOf(one), personOf(other)).length === 0;
}

function personOf({ names, ssn, dob }: Person): Person {
  return { names, ssn, dob };
}
