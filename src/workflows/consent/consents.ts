/**
 * The consents that a run receives. The run writes each message to the ledger, refusals first, and keeps the ledger's
 * answer for each of its shares. Beside those answers it holds only messages on their way and faults to record. A
 * refusal on its way keeps its share from being posted.
 */
import { CancellationScope, condition, defineSignal, log, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { ConsentTaken, RecordConsentsArgs, ShareQuestion } from '../../activities/contract.ts';
import { isRecord } from '../../base/is-record.ts';
import type { ApplicantStanding, ConsentRecord, FaultyGrant, ShareStanding } from '../../consent/consent-record.ts';
import { GRANT_FAULTS, isAhead, refuseFault } from '../../consent/refusals.ts';
import { LOOK_UP_CONSENTS } from '../../messages/all-messages.ts';
import type { ConsentMessage } from '../../messages/consent.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import { toShareTerms } from '../../messages/request-share.ts';
import { toCanonicalJson } from '../../model/decision-content.ts';
import { type MessageRefusal, refuse } from '../../model/refusals.ts';
import { isForUser } from '../../model/stage-end-user.ts';
import { computeBackOffMs, runUntilRecorded } from '../run/activity-stubs.ts';
import { createBackgroundWork, runInBackground } from '../run/around-the-sdk.ts';
import { answerUnderway, handleUpdate, refuseMessage, type Underway } from '../run/message-answers.ts';
import type { AnyRun } from '../run/run.ts';
import { type JointConsent, judgeConsents, type ShareRecord } from './share-record.ts';

/** A run that receives consents: `lendingJourney`, or `shareReport`, whose run key is the `journeyId` of its consents. */
export interface ConsentHost
  extends Pick<
    AnyRun,
    'kind' | 'id' | 'runKey' | 'config' | 'continuation' | 'events' | 'inFlight' | 'publish' | 'refuse' | 'status'
  > {
  readonly consents: Consents;
  readonly shares: ReadonlyMap<string, ShareRecord>;
  knowsApplicant(applicantId: string): boolean;
  /** The applicants whose consents and denials can count for the share. */
  readonly applicantIds: readonly string[];
  /** Returns why a grant may not be by the report's person. Absent for a share by itself, which keeps its report. */
  checkPerson?(grant: Pick<ConsentRecord, 'shareId' | 'applicantId'>): MessageRefusal | null;
  /** Whether the grant came while its applicant's id named another person than in the report that is shared. */
  isOfOtherPerson?(share: ShareRecord, grant: Pick<ConsentRecord, 'applicantId' | 'receivedAt'>): boolean;
  /** Returns the share's report, as far as the run knows it. */
  toReportTerms(share: ShareRecord): Pick<ShareQuestion, 'reportReferenceNumber' | 'reportRunKey'>;
  /** Returns the applicants of the report that is shared. */
  listApplicants(share: ShareRecord): readonly string[];
}

/**
 * A message on its way to the ledger. Where another ledger answers than the run's, the run keeps the message until its
 * own answers.
 */
interface WaitingConsent extends Underway {
  record: ConsentRecord;
  taken?: ConsentTaken;
}

/** State for the next run. */
export interface CarriedConsents {
  waiting?: Pick<WaitingConsent, 'record'>[];
  standings: ShareStanding[];
  faults?: FaultyGrant[];
  lastReceivedMs?: number;
}

/** The number of consents that one activity writes: at some ten round trips for a refusal, below the activity's 20 s. */
const MOST_AT_ONCE = 500;
/** Temporal refuses arguments of 2 MB; proofs and evidence make a consent a few kilobytes long at most. */
const MOST_CHARACTERS = 800_000;
/** The most grants that wait at once for the ledger. Refusals have no such limit. */
const MOST_WAITING_GRANTS = 1_000;
const OF_ANOTHER_LEDGER = 'the ledger is not the one that the run has used: the run keeps it until its own answers';
const TOO_MANY_WAIT = refuse('notNow', `${MOST_WAITING_GRANTS} grants wait to be recorded: send it again later`);

export class Consents {
  readonly #host: ConsentHost;
  /** Messages on their way to the ledger, by their content. A refusal keeps its share from being posted. */
  readonly #refusals = new Map<string, WaitingConsent>();
  readonly #grants = new Map<string, WaitingConsent>();
  readonly #standings: Map<string, ShareStanding>;
  /** Shares whose consents another run may have recorded since the ledger's last answer. */
  readonly #stale = new Set<string>();
  /** Counts such news: an answer on its way may be too early for the latest. */
  #news = 0;
  #faults: FaultyGrant[];
  /** Grants whose proof's keys could not be read. They go to the ledger again after a wait. */
  readonly #unjudged = new Set<WaitingConsent>();
  /** Counts the waits for keys in a row. */
  #keyWaits = 0;
  /** Counts the messages, so that a new one ends the wait for those that the ledger could not take. */
  #received = 0;
  /** Whether the ledger that answered last is not the run's own. */
  #isOfAnotherLedger = false;
  /** Counts the writes in a row that the ledger could not take. */
  #failedWrites = 0;
  /** When the latest message came: ahead of the clock by a millisecond for each other message of its task. */
  lastReceivedMs: number;
  /**
   * Writes messages and faults, and asks about shares, for as long as there are some. Called also once the run has a
   * configuration, and when a share begins to wait.
   */
  readonly write = createBackgroundWork(
    () => this.#isReady,
    () => this.#writeBatch(),
  );

  constructor(host: ConsentHost, state: CarriedConsents = { standings: [] }) {
    this.#host = host;
    for (const { record } of state.waiting ?? [])
      this.#listFor(record).set(toContent(record), { record, isAnswered: true });
    this.#standings = new Map(state.standings.map((standing) => [standing.shareId, standing]));
    this.#faults = [...(state.faults ?? [])];
    this.lastReceivedMs = state.lastReceivedMs ?? 0;
  }

  get carried(): CarriedConsents {
    return {
      waiting: this.#waiting.map(({ record }) => ({ record })),
      standings: [...this.#standings.values()].filter(({ shareId }) => !this.#stale.has(shareId)),
      faults: this.#faults,
      lastReceivedMs: this.lastReceivedMs,
    };
  }

  get isFull(): boolean {
    return this.#grants.size >= MOST_WAITING_GRANTS;
  }

  /** Whether the ledger has everything, or all that it will have. */
  get isIdle(): boolean {
    return this.#waiting.every(({ verdict }) => verdict === 'inNoLedger') && this.#faults.length === 0;
  }

  /** Refusals first. A limit must not keep a grant in force that its applicant has revoked. */
  get #waiting(): readonly WaitingConsent[] {
    return [...this.#refusals.values(), ...this.#grants.values()];
  }

  /** Takes a message, or returns the very same one that is on its way: a sender may repeat it until the ledger has it. */
  take(message: ConsentMessage, how: Pick<WaitingConsent, 'isAnswered'> = {}) {
    const list = this.#listFor(message);
    const content = toCanonicalJson(message);
    const earlier = list.get(content);
    if (earlier) return { waiting: earlier, isDuplicate: true };
    // The messages of one task keep their order: a revocation ends another number of grants if it came before its own.
    const receivedAt = this.nextReceivedAt();
    this.lastReceivedMs = Date.parse(receivedAt);
    const waiting: WaitingConsent = { record: { ...message, receivedAt }, ...how };
    list.set(content, waiting);
    this.#received++;
    // An attempt that is not on the wire yet is called back.
    if (list === this.#refusals) this.#host.inFlight.recheck();
    this.write();
    return { waiting, isDuplicate: false };
  }

  /** When a message that comes now is received: after all others. */
  nextReceivedAt(): string {
    return new Date(Math.max(Date.now(), this.lastReceivedMs + 1)).toISOString();
  }

  #listFor({ decision }: ConsentMessage): Map<string, WaitingConsent> {
    return decision === 'granted' ? this.#grants : this.#refusals;
  }

  /** Whether the ledger has answered about the share since the latest news, or another ledger that cannot know. */
  isAnswered(shareId: string): boolean {
    return this.#isOfAnotherLedger || this.#knows(shareId);
  }

  #knows(shareId: string): boolean {
    return this.#standings.has(shareId) && !this.#stale.has(shareId);
  }

  /** Called when another run has, or may have, recorded consents. The run asks the ledger again about shares that wait. */
  markStale(shareIds: Iterable<string> = this.#host.shares.keys()): void {
    for (const shareId of shareIds) this.#stale.add(shareId);
    this.#news++;
    this.#isOfAnotherLedger = false;
    this.write();
  }

  /** Shares that wait for consent without the ledger's answer, as of the latest news. */
  get #unanswered(): string[] {
    const waiting = [...this.#host.shares.values()].filter(({ state }) => state === 'awaitingConsent');
    return waiting.map(({ input }) => input.shareId).filter((shareId) => !this.#knows(shareId));
  }

  /** Stores the ledger's answers about shares. One writer asks at a time, so no answer overtakes another one. */
  updateStandings(standings: readonly ShareStanding[]): void {
    for (const standing of standings) {
      this.#standings.set(standing.shareId, standing);
      const share = this.#host.shares.get(standing.shareId);
      if (share) this.applyStanding(share);
    }
  }

  /** Called when the ledger does not permit what its last answer permits: the share asks it again. */
  forget({ input: { shareId } }: ShareRecord): void {
    this.#standings.delete(shareId);
  }

  /** Whether the report was disposed of, or came under a legal hold, by the ledger's last answer. */
  isReportGone({ input: { shareId } }: ShareRecord): boolean {
    return this.#standings.get(shareId)?.reportGone === true;
  }

  /** Applies the ledger's last answer to a share, also once its report is known. */
  applyStanding(share: ShareRecord): void {
    const standing = this.#standings.get(share.input.shareId);
    if (!standing) return;
    if (standing.withdrawn) share.withdrawn ??= {};
    standing.applicants = standing.applicants.map((applicant) => {
      const faulty = this.#findFaulty(share, applicant);
      if (!faulty) return applicant;
      this.#fault(faulty);
      return { applicantId: applicant.applicantId, stands: 'none' };
    });
    this.#host.inFlight.recheck();
    if (share.state === 'posted') this.flagIfRefused(share);
  }

  /** Returns a grant that permits nothing, if its sender must know. The event `consent.missing` tells of an old one. */
  #findFaulty(share: ShareRecord, applicant: ApplicantStanding): FaultyGrant | undefined {
    if (applicant.stands === 'granted') {
      const isOther = this.#host.isOfOtherPerson?.(share, applicant.grant);
      return isOther ? { ...applicant.grant, fault: 'otherPerson' } : undefined;
    }
    if (applicant.stands !== 'none' || !applicant.grant || !applicant.fault) return undefined;
    return applicant.fault === 'tooOld' ? undefined : { ...applicant.grant, fault: applicant.fault };
  }

  /** Notes why a grant permits nothing any more: a sender who repeats it gets that reason, also after the run's end. */
  #fault({ journeyId, shareId, applicantId, consentId, fault }: FaultyGrant): void {
    if (this.#faults.some((candidate) => candidate.shareId === shareId && candidate.consentId === consentId)) return;
    this.#faults.push({ journeyId, shareId, applicantId, consentId, fault });
    this.write();
    refuseConsent(this.#host, GRANT_FAULTS[fault], consentId);
  }

  /** Notes grants that are too old, and does not tell their senders. */
  noteTooOld({ input: { shareId } }: ShareRecord): void {
    for (const applicant of this.#standings.get(shareId)?.applicants ?? []) {
      if (applicant.stands !== 'none' || applicant.fault !== 'tooOld' || !applicant.grant) continue;
      this.#faults.push({ ...applicant.grant, fault: 'tooOld' });
      this.write();
    }
  }

  /**
   * Waits until the ledger has the last consents: of a run without an outcome, or accepted after the end event was
   * emitted. A run that ends before it could know which grants count refuses the grants that it received.
   */
  async drain(): Promise<void> {
    const { config, kind } = this.#host;
    const ended = { kind: 'refused', ...refuse('notNow', `the ${kind} has ended`) } as const;
    if (!config) for (const grant of this.#grants.values()) this.#settle(grant, ended);
    if (!this.isIdle) await CancellationScope.nonCancellable(() => condition(() => this.isIdle));
  }

  /** Whether a consent to the share is on its way to the ledger, and the run's own ledger answers. */
  isRecording(shareId: string): boolean {
    return this.#waiting.some(({ record, verdict }) => record.shareId === shareId && verdict !== 'inNoLedger');
  }

  /** Judges the consents of every applicant of the report that is shared. */
  judge(share: ShareRecord, nowMs: number): JointConsent {
    const { shareId } = share.input;
    const { applicants = [] } = this.#standings.get(shareId) ?? {};
    const isBlocked = [...this.#refusals.values()].some(({ record }) => record.shareId === shareId);
    return judgeConsents(applicants, this.#host.listApplicants(share), { isBlocked, nowMs });
  }

  /** Flags a posted share that was refused while its attempt was on the wire: a person must see it. */
  flagIfRefused(share: ShareRecord): void {
    // No refusal becomes too old.
    const { kind } = this.judge(share, 0);
    if (kind !== 'denied' && kind !== 'revoked') return;
    const { shareId } = share.input;
    const { attention, customerTraceNumber } = share;
    const { events } = this.#host;
    if (attention === undefined) events.emit('share.revokedAfterPosting', [shareId], { shareId, customerTraceNumber });
    share.attention = 'revokedAfterPosting';
    this.#host.publish();
  }

  /** An unprepared run does not know which grants count. It asks the ledger about their shares later. */
  get #isReady(): boolean {
    if (this.#refusals.size > 0) return true;
    if (this.#host.config === undefined) return false;
    return this.#grants.size > this.#unjudged.size || this.#faults.length > 0 || this.#unanswered.length > 0;
  }

  /** Waits if the ledger can take nothing, and the run keeps no grant back for its keys. */
  async #writeBatch(): Promise<void> {
    const received = this.#received;
    if (await this.#hasWritten()) {
      this.#failedWrites = 0;
      return;
    }
    const waitMs = computeBackOffMs(this.#failedWrites++);
    const summary = 'consents wait for the ledger of the run: the run records them later';
    await condition(() => this.#received > received || this.#faults.length > 0, waitMs, { summary });
  }

  /** Returns whether the ledger has taken anything, or the run keeps a grant back for its keys. */
  async #hasWritten(): Promise<boolean> {
    const { config, shares, runKey, applicantIds } = this.#host;
    const unwritten = config ? this.#waiting : [...this.#refusals.values()];
    const batch = selectNextBatch(unwritten.filter((waitingConsent) => !this.#unjudged.has(waitingConsent)));
    const consents = batch.map(({ record }) => record);
    const faultyGrants = config ? this.#faults : [];
    const unanswered = config ? this.#unanswered : [];
    const told = [...consents, ...faultyGrants].map(({ shareId }) => shareId);
    const about = [...new Set([...told, ...unanswered])];
    const known = config ? about.flatMap((shareId) => shares.get(shareId) ?? []) : [];
    if (!config) for (const shareId of about) this.#stale.add(shareId);
    const args: RecordConsentsArgs = {
      ledgerId: config?.ledgerId,
      highWaterMark: config?.highWaterMark,
      consentTrust: config?.consentTrust,
      runKey,
      firstRunId: workflowInfo().firstExecutionRunId,
      applicantIds,
      consents,
      faultyGrants: [...faultyGrants],
      shares: known.map((share) => ({ ...toShareTerms(share.input), ...this.#host.toReportTerms(share) })),
      shareIds: unanswered.length > 0 ? [...shares.keys()] : undefined,
    };
    const recording = `recording ${consents.length === 1 ? 'a consent' : `${consents.length} consents`}`;
    const summary = told.length > 0 ? recording : `looking up the consents to share ${unanswered.join(', ')}`;
    const news = this.#news;
    const recorded = await runUntilRecorded('recordConsents', { summary }, args);
    this.#faults = this.#faults.slice(args.faultyGrants.length);
    this.#isOfAnotherLedger = recorded === 'ledgerChanged';
    if (recorded === 'ledgerChanged') {
      log.warn('consents were neither recorded nor looked up: the ledger is not the one that the run has used');
      for (const waitingConsent of batch) {
        const { verdict, record } = waitingConsent;
        if (verdict === undefined) refuseConsent(this.#host, OF_ANOTHER_LEDGER, record.consentId);
        Object.assign(waitingConsent, { verdict: 'inNoLedger', isAnswered: true });
      }
      return false;
    }
    for (const [index, waitingConsent] of batch.entries()) this.#settle(waitingConsent, recorded.taken[index]);
    if (this.#news === news) for (const shareId of unanswered) this.#stale.delete(shareId);
    this.updateStandings(recorded.standings);
    return batch.length === 0 || batch.some((item) => item.taken !== undefined || this.#unjudged.has(item));
  }

  /** Keeps a grant back until a wait is over. Without that, each message that follows would bring hundreds along again. */
  #keepBack(waiting: WaitingConsent): void {
    this.#unjudged.add(waiting);
    if (this.#unjudged.size > 1) return;
    const summary = 'consents wait for the keys of their proofs: the run records them later';
    runInBackground(async () => {
      await sleep(computeBackOffMs(this.#keyWaits++), { summary });
      this.#unjudged.clear();
      this.write();
    });
  }

  /** @param taken `unjudged` if the keys that the proof needs could not be read: the message waits on */
  #settle(waiting: WaitingConsent, taken: ConsentTaken = { kind: 'unjudged' }): void {
    const { record } = waiting;
    const list = this.#listFor(record);
    list.delete(toContent(record));
    this.#unjudged.delete(waiting);
    if (taken.kind === 'unjudged') {
      // Behind the others, which it must not keep out of the next batch.
      list.set(toContent(record), waiting);
      this.#keepBack(waiting);
      return;
    }
    const share = this.#host.shares.get(record.shareId);
    const fault = taken.kind === 'recorded' && !(share && SENT.includes(share.state)) ? taken.fault : undefined;
    waiting.taken = taken;
    if (record.proof !== undefined) this.#keyWaits = 0;
    const refusal = fault === undefined ? undefined : refuseFault(fault);
    waiting.verdict = taken.kind === 'refused' ? refuse(taken.cause, taken.reason) : (refusal ?? 'recorded');
    // The fault of a grant was noted when the grant got it.
    if (waiting.isAnswered && taken.kind === 'refused') refuseConsent(this.#host, taken.reason, record.consentId);
    if (taken.kind === 'recorded' && taken.doubt !== undefined) {
      refuseConsent(this.#host, `${taken.doubt}; what the consumer refused stays refused`, record.consentId);
    }
  }
}

/** The states of a share that was, or may have been, sent under its grants. */
const SENT: readonly ShareState[] = ['posting', 'held', 'posted', 'notPosted'];

/** Two messages of one content, with the same proof, are one. */
function toContent({ receivedAt: _, ...message }: ConsentRecord): string {
  return toCanonicalJson(message);
}

function selectNextBatch(waiting: readonly WaitingConsent[]): WaitingConsent[] {
  const batch: WaitingConsent[] = [];
  let characters = 0;
  for (const waitingConsent of waiting.slice(0, MOST_AT_ONCE)) {
    characters += JSON.stringify(waitingConsent.record).length;
    if (batch.length > 0 && characters > MOST_CHARACTERS) break;
    batch.push(waitingConsent);
  }
  return batch;
}

export function handleConsents(run: ConsentHost): void {
  handleUpdate(run, 'recordConsent', {
    check: (message) => checkConsent(run, message),
    // Answers once the ledger has the message, but no later than an answer may take.
    answer: async (message) => {
      const { waiting, isDuplicate } = run.consents.take(message);
      const answered = await answerUnderway(run, waiting, isDuplicate);
      const { taken } = waiting;
      const { isKnown = false, stands = undefined } = taken?.kind === 'recorded' ? taken : {};
      const unmatched = run.shares.has(message.shareId) ? undefined : 'share';
      return { ...answered, unmatched, duplicate: answered.duplicate || isKnown, stands };
    },
    ask: (message) => {
      const { isDuplicate } = run.consents.take(message, { isAnswered: true });
      const { shareId, applicantId, consentId, decision } = message;
      if (isDuplicate || run.shares.has(shareId)) return;
      // A signal has no answer: the share is not requested, or its id is misspelt.
      run.events.emit('consent.unmatched', [shareId, applicantId, consentId, decision], { shareId, consentId });
    },
    refuse: (message, reason) => refuseConsent(run, reason, isRecord(message) ? message.consentId : undefined),
  });
  // The signal has no content, since the ledger has the consents.
  setHandler(defineSignal('lookUpConsents'), () => run.consents.markStale(), { description: LOOK_UP_CONSENTS });
}

/** Refuses a consent whose sender waits for no answer. */
function refuseConsent(run: ConsentHost, reason: string, id: unknown): void {
  const { consentId } = refuseMessage(run, 'consent', reason, id);
  run.events.emit('consent.refused', [consentId ?? '', reason], { consentId, reason });
}

function checkConsent(run: ConsentHost, message: ConsentMessage): MessageRefusal | null {
  if (!run.knowsApplicant(message.applicantId)) {
    return refuse('unknownPart', `/applicantId names no applicant of this ${run.kind}`);
  }
  if (isAhead(message, Date.now())) return refuse('inFuture', '/decidedAt must not be in the future');
  // Refusals are always taken.
  if (message.decision !== 'granted') return null;
  const share = run.shares.get(message.shareId);
  if (share && !isForUser(message.secondaryUser, share.input)) {
    const wrong = message.secondaryUser.endUserCode === share.input.endUserCode ? 'endUser' : 'endUserCode';
    return refuse('notNow', `/secondaryUser/${wrong} must be that of the share`);
  }
  const ofAnother = run.checkPerson?.(message) ?? null;
  if (ofAnother !== null) return ofAnother;
  if (message.proof === undefined && run.config?.consentTrust === 'proof') {
    return refuse('unproven', 'the proof is refused: missing');
  }
  return run.consents.isFull ? TOO_MANY_WAIT : null;
}
