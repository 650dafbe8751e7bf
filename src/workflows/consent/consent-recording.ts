/** Records each consent of a run in the ledger as it comes, and keeps those whose proof is still being checked. */
import { CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import type { PreparedRun, RecordConsentsArgs } from '../../activities/contract.ts';
import { otherContent } from '../../base/differing-paths.ts';
import { type CarriedConsent, type ConsentBook, type Elsewhere, keyOfConsent } from '../../consent/consent-book.ts';
import type { ConsentRecord, FaultyGrant, GrantFault } from '../../consent/consent-record.ts';
import { GRANT_FAULTS } from '../../consent/refusals.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { ProofRefusal, ProofVerdict } from '../../protection/proofs.ts';
import { untilDone } from '../run/activity-stubs.ts';
import { inBackground } from '../run/around-the-sdk.ts';
import { untilMessagesAnswered } from '../run/as-replayed.ts';
import type { EventsOut } from '../run/events-out.ts';
import { applicationFailureOf } from '../run/failures.ts';
import type { HandOver } from '../run/hand-over.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';
import { kindOf, refuseMessage } from '../run/messages/message-answers.ts';
import type { Extensions, RunDecisions } from '../run/run-decisions.ts';
import type { ShareRecord } from './share-record.ts';

/** One activity writes as many as this: at three round trips each, far below the activity's 20 s. */
const MOST_AT_ONCE = 500;
/** Temporal refuses arguments of 2 MB; proofs and evidence make a consent a few kilobytes long at most. */
const MOST_CHARACTERS = 800_000;

/** `refused`: it is another ledger than the one that the run has used, or it has other content under the same key. */
type Recording = 'waiting' | 'recorded' | 'refused';

/** `run`: the ledger that the run is held to; before that is known, the worker's own. */
type RecorderRun = Pick<ConsentHost, 'run' | 'journeyId' | 'shares' | 'refuse'>;

export class ConsentRecorder implements Elsewhere {
  readonly #run: RecorderRun;
  readonly #recordings = new Map<string, Recording>();
  #waiting: ConsentRecord[] = [];
  #faultyGrants: FaultyGrant[] = [];
  written = 0;
  /** Shares that were requested after consents to them had come. */
  #matchedShares: string[];

  /** @param past state from continue-as-new */
  constructor(run: RecorderRun, past: readonly CarriedConsent[], matchedShares: readonly string[] = []) {
    this.#run = run;
    this.#matchedShares = [...matchedShares];
    for (const { record, isRecorded, isRefused, isPending, fault } of past) {
      // The run before may not have written it any more.
      if (fault && isRecorded) this.noteFault(record, fault);
      if (isRefused) this.#recordings.set(keyOfConsent(record), 'refused');
      else if (isRecorded) this.noteRecorded(record);
      else if (!isPending) this.add(record);
    }
  }

  /** Starts writing. Runs for as long as the workflow does, and no cancellation stops it. */
  begin(): void {
    inBackground(() => CancellationScope.nonCancellable(() => this.#writeAll()));
  }

  add(record: ConsentRecord): void {
    if (this.#recordings.has(keyOfConsent(record))) return;
    this.#recordings.set(keyOfConsent(record), 'waiting');
    this.#waiting.push(record);
  }

  /** Notes that a share was requested for which consents have come before. */
  noteMatched(shareId: string): void {
    this.#matchedShares.push(shareId);
  }

  /** Shares noted so that the ledger does not know yet. */
  get matchedShares(): readonly string[] {
    return this.#matchedShares;
  }

  /** Notes why a grant permits nothing any more: a sender who repeats it after the run's end gets that reason. */
  noteFault({ journeyId, shareId, applicantId, consentId }: ConsentRecord, fault: GrantFault): void {
    this.#faultyGrants.push({ journeyId, shareId, applicantId, consentId, fault });
  }

  /** Notes a consent that came from the ledger. */
  noteRecorded(record: ConsentRecord): void {
    this.#recordings.set(keyOfConsent(record), 'recorded');
  }

  isRecorded(record: ConsentRecord): boolean {
    return this.#recordings.get(keyOfConsent(record)) === 'recorded';
  }

  isRefused(record: ConsentRecord): boolean {
    return this.#recordings.get(keyOfConsent(record)) === 'refused';
  }

  isKnownShare(shareId: string): boolean {
    return this.#run.shares.has(shareId);
  }

  /** Whether nothing more will be tried for this message. */
  isSettled(record: ConsentRecord): boolean {
    return this.#recordings.get(keyOfConsent(record)) !== 'waiting';
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#matchedShares.length === 0 && this.#faultyGrants.length === 0;
  }

  async #writeAll(): Promise<never> {
    for (;;) {
      await condition(() => !this.isIdle);
      const batch = nextBatch(this.#waiting);
      const matchedShares = [...this.#matchedShares];
      const faultyGrants = [...this.#faultyGrants];
      const refused = await this.#write(batch, { matchedShares, faultyGrants });
      this.#matchedShares = this.#matchedShares.slice(matchedShares.length);
      this.#faultyGrants = this.#faultyGrants.slice(faultyGrants.length);
      for (const record of batch) this.#recordings.set(keyOfConsent(record), refused(record) ? 'refused' : 'recorded');
      const written = new Set(batch);
      this.#waiting = this.#waiting.filter((record) => !written.has(record));
      this.written += batch.length;
    }
  }

  /** Returns a predicate for the consents that the ledger has refused. */
  async #write(
    consents: ConsentRecord[],
    notes: Pick<RecordConsentsArgs, 'matchedShares' | 'faultyGrants'>,
  ): Promise<(record: ConsentRecord) => boolean> {
    const { run, journeyId, shares } = this.#run;
    const shareIds = new Set(consents.map(({ shareId }) => shareId));
    const args: RecordConsentsArgs = {
      ...(run ? { ledgerId: run.ledgerId } : {}),
      ...{ runKey: journeyId, firstRunId: workflowInfo().firstExecutionRunId },
      ...{ consents, unknownShares: [...shareIds].filter((shareId) => !shares.has(shareId)), ...notes },
    };
    const summary = `recording ${consents.length === 1 ? 'a consent' : `${consents.length} consents`}`;
    try {
      const { unproved, knownOtherwise } = await untilDone('recordConsents', { summary }, args);
      for (const { index, reason } of unproved) {
        this.#note(consents[index], `${reason}; what the consumer refused stays refused`);
      }
      for (const { index, paths } of knownOtherwise) {
        this.#note(consents[index], otherContent('in the ledger, /consentId with this /decision was used', paths));
      }
      return (record) => knownOtherwise.some(({ index }) => consents[index] === record);
    } catch (error) {
      if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
      // The messages stay readable in this history.
      log.warn('consents were not recorded: the ledger is not the one that the run has used');
      return () => true;
    }
  }

  #note(record: ConsentRecord | undefined, reason: string): void {
    refuseMessage(this.#run, 'consent', reason, record?.consentId);
  }
}

/**
 * Grants first, in the order in which they came: a revocation that reached the ledger before the grant that it names
 * would end every other grant there, too.
 */
function nextBatch(waiting: readonly ConsentRecord[]): ConsentRecord[] {
  const isGrant = ({ decision }: ConsentRecord) => decision === 'granted';
  const ordered = [...waiting.filter(isGrant), ...waiting.filter((record) => !isGrant(record))];
  const batch: ConsentRecord[] = [];
  let characters = 0;
  for (const record of ordered.slice(0, MOST_AT_ONCE)) {
    characters += JSON.stringify(record).length;
    if (batch.length > 0 && characters > MOST_CHARACTERS) break;
    batch.push(record);
  }
  return batch;
}

/** Ends a grant. The ledger gets the reason, and so does the sender unless a refusal has ended it. */
export function endGrant(
  run: Pick<ConsentHost, 'consents' | 'recorder' | 'refuse'>,
  grant: Pick<ConsentRecord, 'shareId' | 'applicantId' | 'consentId'>,
  fault: GrantFault,
): void {
  if (!run.consents.fault(grant, fault)) return;
  const known = run.consents.known({ ...grant, decision: 'granted' });
  if (known) run.recorder.noteFault(known, fault);
  if (fault !== 'refused') refuseMessage(run, 'consent', GRANT_FAULTS[fault], grant.consentId);
}

/** The consents that the next run takes over. It does not write again what the ledger has refused. */
export function carriedConsents({ consents, recorder }: Pick<ConsentHost, 'consents' | 'recorder'>): CarriedConsent[] {
  const mark = (one: CarriedConsent) =>
    !one.isPending && recorder.isRefused(one.record) ? { ...one, isRefused: true } : one;
  return consents.carried(recorder).map(mark);
}

type ConsentKeeper = Pick<ConsentHost, 'journeyId' | 'run' | 'consents' | 'checks' | 'recorder'>;

/** Waits until the ledger has every consent that the run received, and every handler has answered. */
export async function closeDown({ checks, recorder }: ConsentKeeper): Promise<void> {
  await untilMessagesAnswered(() => !checks.isBusy && recorder.isIdle);
}

/**
 * Waits until the ledger has the last consents: of a run without an outcome, or accepted after the end event was
 * emitted. A run that ends before it could know which grants count refuses the grants that it received.
 */
export async function recordWhatCameLast(run: ConsentKeeper): Promise<void> {
  const { checks, recorder, consents } = run;
  for (const record of run.run ? [] : consents.pending()) {
    consents.refuse(record);
    checks.settle(record, { counts: false, reason: `the ${kindOf(run)} has ended` });
  }
  const isRecorded = () => recorder.isIdle && (!run.run || !checks.isBusy);
  if (!isRecorded()) await CancellationScope.nonCancellable(() => condition(isRecorded));
}

// Consents that the run cannot judge yet: a proof is being checked, or the profile's trust is not known.

export type GrantOutcome = { counts: true; duplicate: boolean } | { counts: false; reason: string };

/** Bounds the checks in one run: each costs the history a few events, also if the consent is refused. */
const MAX_CHECKS = 1_000;

interface OpenGrant {
  text: string;
  promise: Promise<GrantOutcome>;
  resolve(outcome: GrantOutcome): void;
}

export class ConsentChecks {
  readonly #open = new Map<ConsentRecord, OpenGrant>();
  /** Open grants by the text of their message. */
  readonly #byText = new Map<string, OpenGrant>();
  #made = 0;
  #running = 0;

  /** Whether a consent still waits for its verdict: the run may not end then. */
  get isBusy(): boolean {
    return this.#open.size > 0 || this.#running > 0;
  }

  get areSpent(): boolean {
    return this.#made >= MAX_CHECKS;
  }

  open(record: ConsentRecord): Promise<GrantOutcome> {
    const { promise, resolve } = Promise.withResolvers<GrantOutcome>();
    const grant = { text: textOf(record), promise, resolve };
    this.#open.set(record, grant);
    this.#byText.set(grant.text, grant);
    return promise;
  }

  isOpen(record: ConsentRecord): boolean {
    return this.#open.has(record);
  }

  /** The coming verdict of an identical message (also in its proof) that is still being checked. */
  sameAs(record: ConsentRecord): Promise<GrantOutcome> | undefined {
    return this.#byText.size === 0 ? undefined : this.#byText.get(textOf(record))?.promise;
  }

  /** Returns whether it was open. */
  settle(record: ConsentRecord, outcome: GrantOutcome): boolean {
    const grant = this.#open.get(record);
    this.#open.delete(record);
    if (grant) this.#byText.delete(grant.text);
    grant?.resolve(outcome);
    return grant !== undefined;
  }

  /** Not cancellable: the run judges and records every consent before it ends. */
  async verdictOn({ receivedAt, ...consent }: ConsentRecord): Promise<ProofVerdict> {
    this.#made++;
    this.#running++;
    const summary = `checking the proof of a consent to share ${consent.shareId}`;
    try {
      return await CancellationScope.nonCancellable(() =>
        untilDone('checkConsentProof', { summary }, { consent, receivedAt }),
      );
    } finally {
      this.#running--;
    }
  }
}

export function proofRefused(reason: ProofRefusal): string {
  return `the proof is refused: ${reason}`;
}

function textOf({ receivedAt: _, ...message }: ConsentRecord): string {
  return JSON.stringify(message);
}

/** A run that receives consents: `lendingJourney`, or `shareReport`, whose `journeyId` is its run key. */
export interface ConsentHost {
  readonly journeyId: string;
  /** Absent until the run is prepared. */
  readonly run: PreparedRun | undefined;
  readonly consents: ConsentBook;
  readonly checks: ConsentChecks;
  readonly recorder: ConsentRecorder;
  readonly events: Pick<EventsOut, 'emit'>;
  readonly inFlight: InFlightActivities;
  readonly handOver: HandOver;
  readonly extensions: Extensions;
  readonly decided: Pick<RunDecisions, 'isAboutShare'>;
  readonly shares: ReadonlyMap<string, ShareRecord>;
  knowsApplicant(applicantId: string): boolean;
  /** Returns why a grant may not be by the report's person. Absent for a share by itself, which keeps its report. */
  personProblem?(grant: Pick<ConsentRecord, 'shareId' | 'applicantId'>): string | null;
  /** Returns the applicants of the report that is shared. */
  applicantsOf(share: ShareRecord): readonly string[];
  publish(): void;
  refuse(refused: RefusedMessage): void;
}
