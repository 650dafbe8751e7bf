/** State of one `lendingJourney` run: its input, its stages and shares so far, and the messages to it. No waiting. */

import type { PreparedRun } from '../../activities/contract.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { isRecord } from '../../base/is-record.ts';
import type { CarriedRefusal } from '../../consent/applicants-word.ts';
import type { CarriedConsent } from '../../consent/carried-consent.ts';
import { ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { HeardConsent } from '../../ledger/kept-consents.ts';
import type { PassGateMessage } from '../../messages/advance.ts';
import type { GateInput, LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type {
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyStatus,
  RefusedMessage,
  StageStatus,
} from '../../messages/journey/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { WithdrawMessage } from '../../messages/withdraw.ts';
import type { Applicant } from '../../model/applicant.ts';
import { STAGES, type StageCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { ConsentChecks } from '../consent/consent-checks.ts';
import { ConsentRecorder, carriedConsents, endGrant } from '../consent/consent-recording.ts';
import { ungranted } from '../consent/share-consent.ts';
import { isOpen, type ShareRecord } from '../consent/share-record.ts';
import type { BegunAttempt } from '../inquiry/inquiry-spec.ts';
import { type Extension, Extensions } from '../run/extensions.ts';
import { tellIfConsent } from '../run/messages/refused-messages.ts';
import type { NeededWork } from '../run/noted-work.ts';
import { Run, type RunResumption } from '../run/run.ts';
import { journeyReferences, journeyResult, journeyStatus, sharesAtTheEnd } from './journey-status.ts';
import { flaggedWork, listedAttributes } from './listed-attributes.ts';
import { type NamedPerson, NamedPersons } from './named-persons.ts';
import type { Skip, StageRecord, WantedRepeat } from './stage-record.ts';

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

  /** What the next run begins with. */
  handedOver(): JourneyResumption {
    const { gate, gateTimes, stagesEndedAs, openUntil } = this;
    const { applicants, stageWasAbandoned, isClosing } = this;
    return {
      ...this.carriedOver(),
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

  protected get subject() {
    return { journeyId: this.journeyId };
  }

  tellEnded(outcome: Ended<JourneyOutcome>): void {
    this.events.emit('journey.ended', [outcome], { outcome, ...sharesAtTheEnd(this) });
  }

  get journeyId(): string {
    return this.input.journeyId;
  }

  override get isEnding(): boolean {
    return super.isEnding || this.stageWasAbandoned;
  }

  get stagesAreSettled(): boolean {
    return this.stages.every(({ status }) => !['pending', 'running', 'held'].includes(status.state));
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
