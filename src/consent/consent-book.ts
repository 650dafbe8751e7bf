/**
 * The consents of a run's shares, independent of the order in which the messages came. Pure and deterministic;
 * docs/journeys.md, Consent.
 *
 * - A message's key is (share, applicant, consentId, decision): a duplicate changes nothing.
 * - A grant is pending until its proof is judged, and permits nothing until then. A refused one has no effect, and
 *   other grants under its key may be pending beside it.
 * - A denial ends every grant of the applicant for the share that was decided before it.
 * - A revocation ends the grant of its own consentId, even one that arrives later. One whose consentId is unknown when
 *   it arrives ends all of the applicant's grants for the share. Only a grant that was decided later counts again.
 */
import { defined } from '../base/defined.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { EarlyConsents } from '../messages/journey/shapes.ts';
import { isForUser, type SecondaryUser } from '../model/stage-end-user.ts';
import type { ConsentRecord, GrantFault, StandingConsents } from './consent-record.ts';
import { endsGrant, notAhead } from './refusals.ts';

type ConsentKey = Pick<ConsentRecord, 'shareId' | 'applicantId' | 'consentId' | 'decision'>;

/** The key of a message. */
export function keyOfConsent({ shareId, applicantId, consentId, decision }: ConsentKey): string {
  return JSON.stringify([shareId, applicantId, consentId, decision]);
}

/** The most messages that a run keeps when the ledger has the others: a limit on everything. */
export const MAX_CONSENT_MESSAGES = 1_000;

/** The most grants that wait at once for the ledger or for the check of their proofs. Refusals have no such limit. */
export const MAX_WAITING_GRANTS = 1_000;

/** The most share ids that a status names. */
const EARLY_SHARES_SHOWN = 20;

/** How many of the latest messages are kept although unneeded: a repeated message usually comes soon. */
const LATEST_KEPT = 200;

export class ConsentBook {
  /** All entries in the order in which they came. */
  #entries: Entry[] = [];
  #byApplicant = new Map<string, ApplicantsWord>();
  /** The entries that count, by their keys. */
  #counting = new Map<string, Entry>();
  /** The number of entries that remained when the unneeded ones were last dropped. */
  #leftAtLast = 0;
  /** A lower bound for the remaining room of grants, counted again after the ledger has taken more. */
  #room = { left: MAX_WAITING_GRANTS, countedAt: -1 };

  /** The number of grants for each share id. */
  #grants = new Map<string, number>();

  /** By share and applicant: the last refusal under another share's id. */
  readonly #elsewhere = new Map<string, CarriedRefusal>();

  constructor(past: readonly CarriedConsent[] = [], elsewhere: readonly CarriedRefusal[] = []) {
    for (const { record, revokesAll = false, ended = false, isPending = false, fault } of past) {
      const entry = { record, revokesAll, ended, isPending, ...defined({ fault }) };
      this.#note({ ...entry, decidedAtMs: decidedAtMsOf(record) });
    }
    for (const refusal of elsewhere) this.#elsewhere.set(nameOf(refusal), refusal);
  }

  /** The refusals under other shares' ids, for the next run. */
  get elsewhere(): CarriedRefusal[] {
    return [...this.#elsewhere.values()];
  }

  /** The entries for the next run: those that it needs, and those that the ledger does not have. */
  carried(elsewhere: Elsewhere): CarriedConsent[] {
    return this.#needed(elsewhere).map(({ record, revokesAll, ended, isPending, fault }) => {
      const isRecorded = !isPending && elsewhere.isRecorded(record);
      const { proof: _, ...withoutProof } = record;
      return {
        // The ledger has judged the proof and keeps it.
        record: isRecorded ? withoutProof : record,
        ...(isRecorded ? { isRecorded } : {}),
        ...(revokesAll ? { revokesAll } : {}),
        ...(ended ? { ended } : {}),
        ...(isPending ? { isPending } : {}),
        ...defined({ fault }),
      };
    });
  }

  /** Drops unneeded entries if there are many. */
  makeRoom(elsewhere: Elsewhere): void {
    const { length } = this.#entries;
    if (length < MAX_CONSENT_MESSAGES || length < 2 * this.#leftAtLast) return;
    const needed = this.#needed(elsewhere);
    this.#leftAtLast = needed.length;
    this.#rebuild(needed);
  }

  /** Whether the book takes no further grant for now. */
  isFull(elsewhere: Elsewhere): boolean {
    const { written } = elsewhere;
    // This runs for each of thousands of messages in one workflow task, in which nothing is written.
    if (this.#room.left > 0 || this.#room.countedAt === written) return this.#room.left <= 0;
    const waits = ({ record, isPending }: Entry) =>
      record.decision === 'granted' && (isPending || !elsewhere.isRecorded(record));
    this.#room = { left: MAX_WAITING_GRANTS - this.#entries.filter(waits).length, countedAt: written };
    return this.#room.left <= 0;
  }

  get size(): number {
    return this.#entries.length;
  }

  has(record: ConsentRecord): boolean {
    return this.known(record) !== undefined;
  }

  /** Returns the message that counts under the key of this one. */
  known(record: ConsentKey): ConsentRecord | undefined {
    return this.#counting.get(keyOfConsent(record))?.record;
  }

  /** Whether the applicant has granted the share after this message came. */
  hasGrantedSince(record: ConsentRecord): boolean {
    const { grants = [] } = this.#byApplicant.get(nameOf(record)) ?? {};
    return grants.some((grant) => !grant.isPending && receivedAtMs(grant.record) > receivedAtMs(record));
  }

  /** Adds a message; returns whether it is new. */
  add(record: ConsentRecord): boolean {
    if (this.has(record)) return false;
    this.#append(record, false);
    return true;
  }

  /**
   * Adds what the ledger has about a share, each message as if it had come when it was received. The ledger's refusals
   * under other ids replace those known before. Returns the messages that were new here.
   */
  learn(shareId: string, standing: StandingConsents): ConsentRecord[] {
    for (const [name, refusal] of this.#elsewhere) if (refusal.shareId === shareId) this.#elsewhere.delete(name);
    return this.heed(shareId, standing);
  }

  /** Does the same as `learn` for some applicants only; keeps the facts about the others. */
  heed(shareId: string, { own, elsewhere }: StandingConsents): ConsentRecord[] {
    for (const { applicantId, decision, decidedAt } of elsewhere) {
      const refusal = { shareId, applicantId, decision, decidedAtMs: parseInstantMs(decidedAt) ?? 0 };
      const known = this.#elsewhere.get(nameOf(refusal));
      if (!known || known.decidedAtMs <= refusal.decidedAtMs) this.#elsewhere.set(nameOf(refusal), refusal);
    }
    return own.filter((record) => {
      const isNew = !this.has(record);
      if (isNew) this.#insert(record);
      return isNew;
    });
  }

  /** Records why this grant permits nothing any more; returns whether that is new. */
  fault(grant: Pick<ConsentRecord, 'shareId' | 'applicantId' | 'consentId'>, fault: GrantFault): boolean {
    const word = this.#byApplicant.get(nameOf(grant));
    const isNew = ({ record, fault: known }: Entry) => record.consentId === grant.consentId && known !== fault;
    const changed = word?.grants.filter(isNew) ?? [];
    for (const entry of changed) entry.fault = fault;
    word?.changed();
    return changed.length > 0;
  }

  /**
   * Adds messages that came before all messages of this run, in their own order.
   *
   * @param heard `namesGrant` of a revocation: it ends one grant alone, which this book may not have
   * @param isTaken called for each message while the book has only the messages before it
   */
  addEarlier(
    heard: readonly { consent: ConsentRecord; namesGrant?: boolean }[],
    isTaken: (consent: ConsentRecord) => boolean,
  ): void {
    const own = this.#entries.filter(({ isEarlier }) => !isEarlier);
    const ownKeys = new Set(own.flatMap(({ record, isPending }) => (isPending ? [] : [keyOfConsent(record)])));
    this.#rebuild(this.#entries.filter(({ isEarlier }) => isEarlier));
    for (const { consent, namesGrant = false } of heard) {
      if (!isTaken(consent) || this.has(consent) || ownKeys.has(keyOfConsent(consent))) continue;
      this.#append(consent, false, { isEarlier: true, namesGrant });
    }
    for (const { record, isPending } of own) this.#append(record, isPending);
  }

  /** Adds a grant before its proof is judged. */
  addPending(record: ConsentRecord): void {
    this.#append(record, true);
  }

  /** Makes a pending grant count; `false` if another under its key already counts, or it was dropped meanwhile. */
  accept(record: ConsentRecord): boolean {
    const entry = this.#entries.find((one) => one.record === record);
    if (!entry?.isPending) return false;
    if (this.has(record)) {
      this.refuse(record);
      return false;
    }
    entry.isPending = false;
    this.#counting.set(keyOfConsent(record), entry);
    this.#wordOf(record).changed();
    return true;
  }

  /** Removes a pending grant that was refused. A revocation that named it then names an unknown id. */
  refuse(record: ConsentRecord): void {
    const at = this.#entries.findIndex((entry) => entry.record === record);
    if (at < 0) return;
    const [refused] = this.#entries.splice(at, 1);
    if (record.decision === 'granted') this.#countGrant(record, -1);
    const word = this.#wordOf(record);
    // No message has named it, so the applicant's state does not change.
    if (refused?.isPending && !word.isRefused(record.consentId)) {
      word.forget(refused);
      return;
    }
    const { shareId, applicantId } = record;
    const mine = this.#entries.filter(({ record: one }) => one.shareId === shareId && one.applicantId === applicantId);
    for (const [index, entry] of mine.entries()) {
      if (entry.record.decision !== 'revoked' || entry.record.consentId !== record.consentId) continue;
      const before = mine.slice(0, index);
      if (before.some(({ record: one }) => one.decision === 'granted' && one.consentId === record.consentId)) continue;
      entry.revokesAll = true;
      for (const earlier of before) earlier.ended = true;
    }
    this.#rebuild(this.#entries);
  }

  /**
   * Drops the grants that were kept for a share under another secondary user. Returns them, so that they can be shown
   * as refused. Refusals stay: the consumer did not want this share, under any user.
   */
  dropMismatchedGrants(shareId: string, user: SecondaryUser): ConsentRecord[] {
    const isMismatched = ({ record }: Entry) =>
      record.shareId === shareId && record.decision === 'granted' && !isForUser(record.secondaryUser, user);
    const dropped = this.#entries.filter(isMismatched);
    if (dropped.length > 0) this.#rebuild(this.#entries.filter((entry) => !isMismatched(entry)));
    return dropped.map(({ record }) => record);
  }

  /**
   * Returns the applicant's effective state. A refusal under another id ends every grant that was decided no later than
   * it; without a later grant the share is refused here.
   */
  standing(shareId: string, applicantId: string, at: At): Standing {
    const name = nameOf({ shareId, applicantId });
    return (this.#byApplicant.get(name) ?? new ApplicantsWord()).standing(at, this.#elsewhere.get(name));
  }

  /** Returns the validity of this grant, which counts under its key, independent of the others. */
  worthOf(grant: ConsentRecord, at: At): GrantFault | 'stands' {
    const entry = this.#counting.get(keyOfConsent(grant));
    const refusal = this.#elsewhere.get(nameOf(grant));
    if (entry?.fault) return entry.fault;
    if (!entry || !this.#wordOf(grant).stands(entry)) return 'refused';
    if (refusal && refusal.decidedAtMs >= entry.decidedAtMs) return 'refused';
    return isYoung(entry, at) ? 'stands' : 'tooOld';
  }

  /** The refusals under the share's own id that end this grant. */
  refusalsOf(grant: ConsentRecord): ConsentRecord[] {
    const isAgainst = ({ record, revokesAll }: Entry) =>
      nameOf(record) === nameOf(grant) && endsGrant(record, grant, { revokesAll });
    return this.#entries.filter(isAgainst).map(({ record }) => record);
  }

  /** Returns the few messages that give the applicant the same state as all of them. */
  deciding(shareId: string, applicantId: string): ConsentRecord[] {
    const name = nameOf({ shareId, applicantId });
    const word = this.#byApplicant.get(name) ?? new ApplicantsWord();
    const deciding = word.deciding.map(({ record }) => record);
    // An ended grant comes with the refusal that ended it.
    const all = new Set(deciding.flatMap((record) => [record, ...this.refusalsOf(record).slice(-1)]));
    // A revocation without the grant that it names would end every other one.
    const named = new Set([...all].flatMap(({ decision, consentId }) => (decision === 'revoked' ? [consentId] : [])));
    for (const { record } of word.grants) if (named.has(record.consentId)) all.add(record);
    return [...all];
  }

  /** The consents that are kept for shares that have not been requested yet. */
  early(isKnownShare: (shareId: string) => boolean): EarlyConsents {
    const early = this.#entries.filter(({ record }) => !isKnownShare(record.shareId));
    const shareIds = new Set(early.map(({ record }) => record.shareId));
    return { count: early.length, shareIds: [...shareIds].slice(0, EARLY_SHARES_SHOWN) };
  }

  /** Whether at least `most` grants are kept for shares that have not been requested yet. */
  hasEarlyGrants(most: number, isKnownShare: (shareId: string) => boolean): boolean {
    let count = 0;
    for (const [shareId, grants] of this.#grants) {
      if (!isKnownShare(shareId)) count += grants;
      if (count >= most) return true;
    }
    return false;
  }

  all(): ConsentRecord[] {
    return this.#entries.flatMap(({ record, isPending }) => (isPending ? [] : [record]));
  }

  pending(): ConsentRecord[] {
    return this.#entries.flatMap(({ record, isPending }) => (isPending ? [record] : []));
  }

  #append(
    record: ConsentRecord,
    isPending: boolean,
    { isEarlier = false, namesGrant = false }: { isEarlier?: boolean; namesGrant?: boolean } = {},
  ): void {
    const word = this.#wordOf(record);
    const revokesAll = record.decision === 'revoked' && !namesGrant && !word.hadGrant(record.consentId);
    if (revokesAll) word.endAll();
    const decidedAtMs = decidedAtMsOf(record);
    this.#note({ record, decidedAtMs, revokesAll, ended: false, isPending, ...(isEarlier ? { isEarlier } : {}) });
  }

  /** Inserts a message that may have come before others that are here; otherwise as `#append`. */
  #insert(record: ConsentRecord): void {
    const word = this.#wordOf(record);
    const atMs = receivedAtMs(record);
    const revokesAll = record.decision === 'revoked' && !word.hadGrant(record.consentId, atMs);
    if (revokesAll) word.endAll(atMs);
    const decidedAtMs = decidedAtMsOf(record);
    const ended = record.decision === 'granted' && atMs < word.revokedAllAtMs;
    this.#note({ record, decidedAtMs, revokesAll, ended, isPending: false });
  }

  #note(entry: Entry): void {
    this.#entries.push(entry);
    if (entry.record.decision === 'granted') this.#countGrant(entry.record, 1);
    if (!entry.isPending) this.#counting.set(keyOfConsent(entry.record), entry);
    this.#wordOf(entry.record).note(entry);
  }

  #countGrant({ shareId }: ConsentRecord, change: 1 | -1): void {
    this.#room.left -= change;
    const count = (this.#grants.get(shareId) ?? 0) + change;
    if (count > 0) this.#grants.set(shareId, count);
    else this.#grants.delete(shareId);
  }

  #wordOf(record: ConsentRecord): ApplicantsWord {
    const name = nameOf(record);
    const known = this.#byApplicant.get(name) ?? new ApplicantsWord();
    this.#byApplicant.set(name, known);
    return known;
  }

  #rebuild(entries: readonly Entry[]): void {
    this.#entries = [];
    this.#byApplicant = new Map();
    this.#counting = new Map();
    this.#grants = new Map();
    this.#room.left = MAX_WAITING_GRANTS;
    for (const entry of entries) this.#note(entry);
  }

  /**
   * The entries that decide each applicant's state now and later, those that the ledger lacks, and the latest of the
   * rest. The ledger's claim reads every refusal, so a dropped entry can permit nothing.
   */
  #needed(elsewhere: Elsewhere): Entry[] {
    const deciding = new Set([...this.#byApplicant.values()].flatMap((word) => word.deciding));
    const isNeeded = (entry: Entry, index: number) => {
      const { record, isPending } = entry;
      if (isPending || !elsewhere.isRecorded(record) || index >= this.#entries.length - LATEST_KEPT) return true;
      return deciding.has(entry) && (record.decision === 'granted' || elsewhere.isKnownShare(record.shareId));
    };
    const stands = (entry: Entry) => this.#wordOf(entry.record).stands(entry);
    // A grant stays ended after the refusal that ended it is dropped.
    return this.#entries
      .filter(isNeeded)
      .map((entry) => (entry.isPending || stands(entry) ? entry : { ...entry, ended: true }));
  }
}

function nameOf({ shareId, applicantId }: Pick<ConsentRecord, 'shareId' | 'applicantId'>): string {
  return JSON.stringify([shareId, applicantId]);
}

function decidedAtMsOf(record: ConsentRecord): number {
  return parseInstantMs(record.decision === 'granted' ? notAhead(record) : record.decidedAt) ?? 0;
}

// One applicant's messages about one share, and their effect. Questions for each message do not read all entries.

/** A message in a book of consents. */
export interface Entry {
  record: ConsentRecord;
  decidedAtMs: number;
  /** A revocation that named no known grant when it came. */
  revokesAll: boolean;
  /** A grant that has been ended for good. */
  ended: boolean;
  isPending: boolean;
  /** It came before this run started. */
  isEarlier?: boolean;
  /** Why the ledger does not take this grant: from then on it permits nothing. */
  fault?: GrantFault;
}

/** The state of one applicant towards one share. `none`: no message yet. */
export type Standing =
  | { kind: 'granted'; consent: ConsentRecord }
  | { kind: 'denied' | 'revoked' | 'tooOld' | 'spent' | 'none' };

/** The instant of a question, and how old a grant may be. */
export interface At {
  nowMs: number;
  validForMs?: number | undefined;
}

/** The latest refusal of an applicant that came under another id than this share's. */
export interface CarriedRefusal {
  shareId: string;
  applicantId: string;
  decision: 'denied' | 'revoked';
  decidedAtMs: number;
}

/** Everything that one applicant has said about one share. */
class ApplicantsWord {
  readonly grants: Entry[] = [];
  /** Grants without a recorded end, pending ones included. Some may have ended since. */
  #open: Entry[] = [];
  #mayHaveEnded = false;
  /** When the first grant of each id came. */
  readonly #grantIds = new Map<string, number>();
  readonly #refusedIds = new Set<string>();
  /** Every grant that was decided no later than this has ended. */
  #endedUntilMs = Number.NEGATIVE_INFINITY;
  /** The latest of the refusals that end every grant before them. */
  #ending: Entry | undefined;
  #lastRefusal: Entry | undefined;
  /** When the last message came that revoked every earlier grant. */
  revokedAllAtMs = Number.NEGATIVE_INFINITY;
  /** The last answer, kept until anything changes. */
  #last: { at: At; elsewhere: CarriedRefusal | undefined; standing: Standing } | undefined;

  note(entry: Entry): void {
    this.changed();
    const { record, decidedAtMs, revokesAll } = entry;
    if (record.decision === 'granted') {
      this.grants.push(entry);
      if (this.#isOpen(entry)) this.#open.push(entry);
      const cameAtMs = receivedAtMs(record);
      this.#grantIds.set(record.consentId, Math.min(this.#grantIds.get(record.consentId) ?? cameAtMs, cameAtMs));
      return;
    }
    this.#mayHaveEnded = true;
    this.#refusedIds.add(record.consentId);
    if (revokesAll) this.revokedAllAtMs = Math.max(this.revokedAllAtMs, receivedAtMs(record));
    if ((record.decision === 'denied' || revokesAll) && decidedAtMs >= this.#endedUntilMs) {
      this.#endedUntilMs = decidedAtMs;
      this.#ending = entry;
    }
    if (!this.#lastRefusal || this.#lastRefusal.decidedAtMs <= decidedAtMs) this.#lastRefusal = entry;
  }

  /** Forgets a grant that no other message has named. */
  forget(entry: Entry): void {
    this.changed();
    this.grants.splice(this.grants.indexOf(entry), 1);
    this.#open = this.#open.filter((one) => one !== entry);
    const { consentId } = entry.record;
    const others = this.grants.filter(({ record }) => record.consentId === consentId);
    if (others.length === 0) this.#grantIds.delete(consentId);
    else this.#grantIds.set(consentId, Math.min(...others.map(({ record }) => receivedAtMs(record))));
  }

  /** Drops the kept answer after a grant was changed from outside. */
  changed(): void {
    this.#last = undefined;
  }

  /** Ends the grants that came no later than `untilMs`. */
  endAll(untilMs = Number.POSITIVE_INFINITY): void {
    this.changed();
    this.#mayHaveEnded = true;
    for (const grant of this.#open) if (receivedAtMs(grant.record) <= untilMs) grant.ended = true;
    this.#prune();
  }

  hadGrant(consentId: string, untilMs = Number.POSITIVE_INFINITY): boolean {
    const cameAtMs = this.#grantIds.get(consentId);
    return cameAtMs !== undefined && cameAtMs <= untilMs;
  }

  isRefused(consentId: string): boolean {
    return this.#refusedIds.has(consentId);
  }

  stands(entry: Entry): boolean {
    return entry.fault !== 'refused' && !entry.isPending && this.#isOpen(entry);
  }

  /** Whether a grant is open. A grant that has ended never opens again. */
  #isOpen({ record, decidedAtMs, ended }: Entry): boolean {
    return !ended && !this.#refusedIds.has(record.consentId) && decidedAtMs > this.#endedUntilMs;
  }

  #prune(): Entry[] {
    if (this.#mayHaveEnded) this.#open = this.#open.filter((entry) => this.#isOpen(entry));
    this.#mayHaveEnded = false;
    return this.#open;
  }

  standing(at: At, elsewhere: CarriedRefusal | undefined): Standing {
    const last = this.#last;
    const isSame = last?.elsewhere === elsewhere && last?.at.nowMs === at.nowMs && last.at.validForMs === at.validForMs;
    if (last && isSame) return last.standing;
    const standing = this.#judge(at, elsewhere);
    this.#last = { at, elsewhere, standing };
    return standing;
  }

  #judge(at: At, elsewhere: CarriedRefusal | undefined): Standing {
    const unrefused = this.#prune().filter((grant) => this.stands(grant));
    const grants = unrefused.filter(({ decidedAtMs }) => !elsewhere || decidedAtMs > elsewhere.decidedAtMs);
    const newest = newestOf(grants.filter((grant) => grant.fault === undefined && isYoung(grant, at)));
    if (newest) return { kind: 'granted', consent: newest.record };
    if (grants.length > 0) return { kind: grants.some(({ fault }) => fault === 'spent') ? 'spent' : 'tooOld' };
    const { decision } = this.#lastRefusal?.record ?? {};
    if (elsewhere && (!decision || unrefused.length > 0)) return { kind: elsewhere.decision };
    if (!decision) return { kind: 'none' };
    return { kind: decision === 'denied' ? 'denied' : 'revoked' };
  }

  /** The entries without which this applicant's state would differ. */
  get deciding(): Entry[] {
    const counting = this.grants.filter(({ isPending }) => !isPending);
    const standing = counting.filter((grant) => this.stands(grant));
    const usable = standing.filter(({ fault }) => fault === undefined);
    const grant = newestOf([usable, standing, counting].find(({ length }) => length > 0) ?? []);
    return [grant, this.#ending, this.#lastRefusal].filter((entry) => entry !== undefined);
  }
}

function isYoung({ decidedAtMs }: Entry, { nowMs, validForMs }: At): boolean {
  return validForMs === undefined || nowMs - decidedAtMs <= validForMs;
}

function receivedAtMs({ receivedAt }: ConsentRecord): number {
  return parseInstantMs(receivedAt) ?? 0;
}

/** The newest grant; among several that were decided at the same instant, the one that came first. */
function newestOf(grants: readonly Entry[]): Entry | undefined {
  return grants.reduce<Entry | undefined>((a, b) => (a && a.decidedAtMs >= b.decidedAtMs ? a : b), undefined);
}

/** A consent as a run hands it over to its next run. */
export interface CarriedConsent extends Partial<Pick<Entry, 'revokesAll' | 'ended' | 'isPending' | 'fault'>> {
  record: ConsentRecord;
  /** The ledger has this consent. */
  isRecorded?: boolean;
  /** The ledger has not taken this consent, and will not. */
  isRefused?: boolean;
}

/** Tells the book which messages it need not keep. */
export interface Elsewhere {
  /** Whether the ledger has the record. Every claim reads it there. */
  isRecorded(record: ConsentRecord): boolean;
  /** How many messages the ledger has taken so far. */
  readonly written: number;
  isKnownShare(shareId: string): boolean;
}
