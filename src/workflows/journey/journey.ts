/** State of one `lendingJourney` run: its input, its stages and shares so far, and the messages to it. No waiting. */

import { workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { isRecord } from '../../base/is-record.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { PassGateMessage, RepeatStageMessage } from '../../messages/advance.ts';
import type { GateInput, LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { JourneyOutcome, JourneyReferences, JourneyResult, JourneyStatus } from '../../messages/journey/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { Applicant } from '../../model/applicant.ts';
import { hasGate, STAGES, type StageCode } from '../../model/products.ts';
import { type MessageRefusal, refuse } from '../../model/refusals.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { toSecondaryUser } from '../../model/stage-end-user.ts';
import { deriveTraceNumber } from '../../model/trace-number.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { InquiryProgress } from '../inquiry/inquiry-spec.ts';
import { CreditRun, type CreditRunState, createCreditRunState, type StepRecord } from '../machine/credit-run.ts';
import type { Wait } from '../run/run-decisions.ts';

/** State of a journey for continue-as-new. Plain data, as personal as the journey's input. */
export interface JourneyRunState extends CreditRunState<RunConfig, StageRecord> {
  advances: Partial<Record<StageCode, Pick<PassGateMessage, 'to' | 'applicants'>>>;
  /** The persons who let the journey pass a gate although the report is too old. */
  acceptedAges: Partial<Record<StageCode, RunWithdrawal>>;
  skips: Partial<Record<StageCode, Skip>>;
  applicants: Applicant[];
  persons: NamedPerson[];
  /** The journey accepts no further share, because it is about to complete. */
  isClosing?: true;
  /** The closed gate at which the journey waits. `tooOld`: the stage whose report is too old for a plain `advance`. */
  gate?: { before: StageCode; since: string; until: string; tooOld?: StageCode };
  /** The outcome if the stages ended early: the journey runs no further stage. */
  stagesEndedAs?: JourneyOutcome;
  /** The time at which the journey closes, once all inquiries have settled. It accepts further shares until then. */
  openUntil?: string;
}

export class Journey extends CreditRun<LendingJourneyInput, JourneyRunState, JourneyOutcome, StageCode> {
  readonly kind = 'journey';
  /** Messages that are being checked, and may bring a share or a repeat: the journey does not close meanwhile. */
  checksOfMessages = 0;
  /** Whether the task of the stages runs. It ends when no stage is left, and another one begins for a repeat. */
  isRunningStages = false;

  /** @param state from continue-as-new */
  constructor(input: LendingJourneyInput, state?: JourneyRunState) {
    super(input, state ?? createJourneyState(input));
    if (state) return;
    const { applicants, shares } = this.input;
    this.setApplicants(Array.isArray(applicants) ? applicants : []);
    for (const share of Array.isArray(shares) ? shares : []) if (isRecord(share)) this.takeShare(share);
  }

  emitEnded(outcome: Ended<JourneyOutcome>): void {
    const shares = this.state.shares.map(({ input: { shareId }, state, customerTraceNumber, attention }) => {
      return { shareId, state, customerTraceNumber, attention };
    });
    this.events.emit('journey.ended', [outcome], { outcome, shares: shares.length > 0 ? shares : undefined });
  }

  /** A stage that was abandoned ends the journey. After an abandoned repeat, the report before it counts. */
  override get isEnding(): boolean {
    return super.isEnding || this.stages.some(({ status, repeat }) => status.state === 'abandoned' && !repeat);
  }

  override findWaiting(wait: Wait): { until?: string } | undefined {
    const { gate } = this.state;
    if (wait.shareId !== undefined) return super.findWaiting(wait);
    return gate?.before === wait.gate ? gate : undefined;
  }

  setApplicants(applicants: Applicant[]): void {
    this.state.applicants = applicants;
    this.#name(applicants);
  }

  /** No consent that came before is later than the change. */
  #name(applicants: readonly Named[]): void {
    const sinceMs = Math.max(Date.now(), this.consents.lastReceivedMs);
    this.lookUpIfNew(() => nameApplicants(this.state.persons, applicants, sinceMs));
  }

  /** Looks consents up again if the change names applicants whom the run did not know. */
  lookUpIfNew<T>(change: () => T): T {
    const known = this.applicantIds;
    const changed = change();
    if (this.applicantIds.some((id) => !known.includes(id))) this.consents.markStale();
    return changed;
  }

  /** Also those whom a kept message names: their consents may come before the message takes effect. */
  override get applicantIds(): string[] {
    return [...new Set([...this.state.persons, ...this.#announced].map(({ applicantId }) => applicantId))];
  }

  /** An amendment names its applicants from its first attempt on. */
  override noteProgress(stage: StageRecord, progress: InquiryProgress): void {
    super.noteProgress(stage, progress);
    const { applicants } = stage.inquiry ?? {};
    if (applicants) this.#name(applicants);
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

  /** Returns how long the latest report stays young enough for a gate; infinite if any age will do. */
  reportFreshForMs(nowMs: number): number {
    const maxAgeMs = parseDurationMs(this.input.maxReportAge ?? '');
    const requestedAtMs = parseInstantMs(this.latestReport?.reference.requestedAt ?? '');
    if (maxAgeMs === null || requestedAtMs === null) return Number.POSITIVE_INFINITY;
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
    return this.state.applicants.filter(isRecord).map(({ applicantId }) => applicantId);
  }

  override get sharePurposeCode(): string | undefined {
    return this.input.permissiblePurposeCodes.SECONDUSE;
  }

  /** The applicants of messages that were accepted and take effect later. */
  get #announced(): Applicant[] {
    const gates = Object.values(this.state.advances).filter(({ to }) => this.stage(to)?.status.state === 'pending');
    const repeats = this.stages.flatMap(({ status, repeat }) => (status.state === 'pending' && repeat ? [repeat] : []));
    return [...gates, ...repeats].flatMap(({ applicants = [] }) => applicants);
  }

  /** Returns why a grant that comes now may not be by the person in the report, or `null`. */
  checkPerson({ shareId, applicantId }: Pick<ConsentRecord, 'shareId' | 'applicantId'>): MessageRefusal | null {
    const known = findNamed(this.state.persons, applicantId);
    const isRenamed = (applicant: Applicant) =>
      known !== undefined && applicant.applicantId === applicantId && !isSame(known.person, applicant);
    if (this.#announced.some(isRenamed)) {
      return refuse('notNow', '/applicantId is about to name another person: send the grant once that stage has begun');
    }
    const share = this.shares.get(shareId);
    const isOther = share && this.isOfOtherPerson(share, { applicantId, receivedAt: this.consents.nextReceivedAt() });
    return isOther
      ? refuse('unknownPart', '/applicantId names another person than in the report that is shared')
      : null;
  }

  isOfOtherPerson(share: ShareRecord, grant: Pick<ConsentRecord, 'applicantId' | 'receivedAt'>): boolean {
    const report = this.findKnownReport(share)?.reportReferenceNumber;
    if (report === undefined) return false;
    const stage = this.stages.find(({ reference }) => reference?.reportReferenceNumber === report);
    return !isFromApplicant(this.state.persons, grant, stage?.personsAt ?? 0);
  }

  status(): JourneyStatus {
    const { stateAndWait: standing } = this;
    const { gate } = this.state;
    return {
      journeyId: this.id,
      ...this.commonStatus,
      ...standing,
      state: standing.state as JourneyStatus['state'],
      waitingUntil: standing.state === 'waitingAtGate' ? gate?.until : undefined,
      reportTooOld: gate?.tooOld,
      stages: this.stages.map(({ status }) => ({ ...status })),
      shares: this.shareStatuses,
    };
  }

  get details() {
    const { gate, openUntil, shares } = this.state;
    return {
      endUserCode: this.input.endUserCode,
      stages: this.stages.map(({ status, since }) => ({ ...status, since })),
      shares: this.shareStatuses.map((share, index) => {
        const { input = {}, since } = shares[index] ?? {};
        return { ...share, sharedWith: toSecondaryUser(input), since };
      }),
      gate,
      openUntil,
    };
  }

  override references(): JourneyReferences {
    return {
      journeyId: this.id,
      ...this.stageReferences,
      shares: this.state.shares.flatMap(({ input, reportReferenceNumber }) =>
        reportReferenceNumber === undefined ? [] : [{ shareId: input.shareId, reportReferenceNumber }],
      ),
    };
  }

  result(outcome: JourneyOutcome): JourneyResult {
    return {
      journeyId: this.id,
      environment: this.accepted.environment,
      outcome,
      stages: this.stages.map(({ status, reference }) => ({ ...status, reference })),
      shares: this.shareStatuses,
    };
  }

  protected override get openStateAndWait() {
    const { gate } = this.state;
    return gate && !this.isEnding ? { state: 'waitingAtGate', waitingFor: gate.before } : super.openStateAndWait;
  }

  /** Inquiries are found by their numbers before they begin. A repeat's follows from the pulls before it. */
  protected override planTraceNumber(part: StageRecord | ShareRecord): string | undefined {
    const isStage = 'status' in part;
    if (isStage && (part.repeat || this.state.skips[part.status.productCode])) return undefined;
    const { workflowType } = workflowInfo();
    const run = { ...this.accepted, workflowType, runKey: this.runKey, ordinal: 0 };
    return isStage
      ? deriveTraceNumber({ ...run, productCode: part.status.productCode })
      : deriveTraceNumber({ ...run, productCode: 'SECONDUSE', shareId: part.input.shareId });
  }

  protected override get waitsFor(): WaitsFor | null {
    const { gate, openUntil, isClosing } = this.state;
    if (gate && !this.isEnding) return 'gate';
    const isOpen = openUntil !== undefined && this.stagesAreSettled && this.sharesAreSettled;
    return super.waitsFor ?? (isOpen && !this.isEnding && !isClosing ? 'requests' : null);
  }
}

function createJourneyState(input: Partial<LendingJourneyInput> | null | undefined): JourneyRunState {
  const listed = Array.isArray(input?.stages) ? input.stages : STAGES;
  const stages = listed.map((productCode): StageRecord => {
    return { status: { productCode, state: 'pending', attempts: 0 } };
  });
  return {
    ...createCreditRunState(stages),
    advances: {},
    acceptedAges: {},
    skips: {},
    applicants: [],
    persons: [],
  };
}

export type WantedRepeat = RepeatStageMessage & { receivedAt: string };

export interface StageRecord extends StepRecord {
  /** Absent for a first pull. */
  repeat?: WantedRepeat;
  /** The earlier applicants while the inquiry is under way; an abandoned repeat restores them. */
  applicantsBefore?: Applicant[];
  /** The number of `persons` at the time of the report, which names the latest of each id. */
  personsAt?: number;
}

/** A stage that is never pulled, with the decision to skip it. */
export type Skip = Required<Pick<PassGateMessage, 'skip' | 'to' | 'by' | 'reason'>>;

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

/** Takes the applicants who apply from now on. They may be unchecked. */
function nameApplicants(persons: NamedPerson[], applicants: readonly Named[], sinceMs: number): void {
  for (const applicant of applicants) {
    if (!isRecord(applicant)) continue;
    const { applicantId } = applicant;
    const known = findNamed(persons, applicantId);
    if (known && isSame(known.person, applicant)) continue;
    const since = known ? new Date(sinceMs).toISOString() : undefined;
    persons.push({ applicantId, person: toPerson(applicant), since });
  }
}

/**
 * Whether a consent came from the person whom its id named when the list had `length` entries. One of the same
 * millisecond as a change may be of either person, and so is of neither.
 */
function isFromApplicant(
  persons: readonly NamedPerson[],
  { applicantId, receivedAt }: Pick<ConsentRecord, 'applicantId' | 'receivedAt'>,
  length: number,
): boolean {
  const asked = findNamed(persons.slice(0, length), applicantId);
  if (!asked) return true;
  const atMs = parseInstantMs(receivedAt) ?? 0;
  const toSinceMs = ({ since = '' }: NamedPerson) => parseInstantMs(since) ?? Number.NEGATIVE_INFINITY;
  const speaker = persons.findLast((named) => named.applicantId === applicantId && toSinceMs(named) <= atMs);
  return speaker !== undefined && toSinceMs(speaker) < atMs && isSame(asked.person, speaker.person);
}

function findNamed(persons: readonly NamedPerson[], applicantId: string): NamedPerson | undefined {
  return persons.findLast((person) => person.applicantId === applicantId);
}

/** A corrected typing error makes another person, too: a run cannot tell the two apart. */
function isSame(a: Person, b: Person): boolean {
  // Mostly it is the same entry, and there may be thousands of grants.
  return a === b || findDifferingPaths(toPerson(a), toPerson(b)).length === 0;
}

function toPerson({ names, ssn, dob }: Person): Person {
  return { names, ssn, dob };
}
