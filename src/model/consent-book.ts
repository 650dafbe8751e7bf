/**
 * Who has consented to what, in whatever order the messages came. Pure and deterministic; docs/journeys.md, Consent.
 *
 * - A message is known by (share, applicant, consentId, decision): a duplicate changes nothing.
 * - A grant may be pending: whether it counts is not known yet. Until then it permits nothing; one that is refused is as
 *   if it had never come, and others under its key may be pending beside it.
 * - A denial ends every grant of the applicant for the share that was decided before it.
 * - A revocation ends the grant of its own consentId, whenever that arrives. One whose consentId is unknown when it
 *   arrives ends all of the applicant's grants for the share; only one decided later stands again.
 */
import type { ConsentRecord } from '../ledger/port.ts';
import { parseInstantMs } from './instants.ts';
import type { SecondaryUser } from './shapes.ts';

interface Entry {
  record: ConsentRecord;
  decidedAtMs: number;
  /** A revocation that named no known grant when it came. */
  revokesAll: boolean;
  /** A grant that a revocation of everything has already ended. */
  ended: boolean;
  isPending: boolean;
  /** It came before this run. */
  isEarlier?: boolean;
}

/** A consent as the next run takes it over. */
export interface CarriedConsent extends Partial<Pick<Entry, 'revokesAll' | 'ended' | 'isPending'>> {
  record: ConsentRecord;
  /** The ledger has it. */
  isRecorded?: boolean;
}

/** How one applicant stands towards one share. `none`: has not been heard of. */
export type Standing = { kind: 'granted'; consent: ConsentRecord } | { kind: 'denied' | 'revoked' | 'tooOld' | 'none' };

/** What tells one message from another. */
export function keyOfConsent({ shareId, applicantId, consentId, decision }: ConsentRecord): string {
  return JSON.stringify([shareId, applicantId, consentId, decision]);
}

/** Messages that a run keeps at the most: a limit on everything. */
export const MAX_CONSENT_MESSAGES = 1_000;

export class ConsentBook {
  #entries: Entry[];

  constructor(past: readonly CarriedConsent[] = []) {
    this.#entries = past.map(({ record, revokesAll = false, ended = false, isPending = false }) => ({
      ...{ record, revokesAll, ended, isPending },
      decidedAtMs: parseInstantMs(record.decidedAt) ?? 0,
    }));
  }

  /** In the order in which they came. */
  carried(isRecorded: (record: ConsentRecord) => boolean): CarriedConsent[] {
    return this.#entries.map(({ record, revokesAll, ended, isPending }) => ({
      record,
      ...(!isPending && isRecorded(record) ? { isRecorded: true } : {}),
      ...(revokesAll ? { revokesAll } : {}),
      ...(ended ? { ended } : {}),
      ...(isPending ? { isPending } : {}),
    }));
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Whether a message under its key counts. */
  has(record: ConsentRecord): boolean {
    return this.known(record) !== undefined;
  }

  /** The message that counts under this one's key. */
  known(record: ConsentRecord): ConsentRecord | undefined {
    return this.#entries.find(({ record: known, isPending }) => !isPending && sameMessage(known, record))?.record;
  }

  /** Whether the message is new. */
  add(record: ConsentRecord): boolean {
    if (this.has(record)) return false;
    this.#append(record, false);
    return true;
  }

  /** A refusal of before this run, which ends every grant that is known now, whatever it names. */
  addEnding(record: ConsentRecord): void {
    for (const entry of this.#of(record.shareId, record.applicantId)) {
      if (entry.record.decision === 'granted') entry.ended = true;
    }
    if (!this.has(record)) this.#append(record, false);
  }

  /**
   * A message of before everything that came to this run itself; those of them in their own order.
   *
   * @param namesGrant of a revocation: it ends a grant that this book may not have, and that one alone
   */
  addEarlier(record: ConsentRecord, { namesGrant }: { namesGrant: boolean }): void {
    if (this.has(record)) return;
    const left = this.#entries;
    const earlier = left.filter(({ isEarlier }) => isEarlier);
    this.#entries = earlier;
    this.#append(record, false, { isEarlier: true, namesGrant });
    for (const entry of left) if (!entry.isEarlier) this.#append(entry.record, entry.isPending);
  }

  /** A grant of which it is not known yet whether it counts. */
  addPending(record: ConsentRecord): void {
    this.#append(record, true);
  }

  /** From now on it counts; `false` where another under its key does already, or it was dropped meanwhile. */
  accept(record: ConsentRecord): boolean {
    const entry = this.#entries.find((one) => one.record === record);
    if (!entry?.isPending) return false;
    if (this.has(record)) {
      this.refuse(record);
      return false;
    }
    entry.isPending = false;
    return true;
  }

  /** A revocation of a grant that turns out to be none was one with an unknown id. */
  refuse(record: ConsentRecord): void {
    const left = this.#entries.filter((entry) => entry.record !== record);
    this.#entries = [];
    for (const entry of left) this.#append(entry.record, entry.isPending);
  }

  /**
   * Drops the grants that were kept for a share under another secondary user; returns them, so that they can be shown
   * as refused. Refusals stay: whom else they name, the consumer did not want this share.
   */
  dropMismatchedGrants(shareId: string, user: SecondaryUser): ConsentRecord[] {
    const dropped = this.#entries.filter(
      ({ record }) =>
        record.shareId === shareId && record.decision === 'granted' && !isForUser(record.secondaryUser, user),
    );
    for (const entry of dropped) this.#entries.splice(this.#entries.indexOf(entry), 1);
    return dropped.map(({ record }) => record);
  }

  standing(shareId: string, applicantId: string, at: { nowMs: number; validForMs?: number | undefined }): Standing {
    const mine = this.#of(shareId, applicantId);
    if (mine.length === 0) return { kind: 'none' };
    const grants = mine.filter((entry) => entry.record.decision === 'granted' && stands(entry, mine));
    const { validForMs } = at;
    const valid = grants.filter(({ decidedAtMs }) => validForMs === undefined || at.nowMs - decidedAtMs <= validForMs);
    const newest = valid.reduce<Entry | undefined>((a, b) => (a && a.decidedAtMs >= b.decidedAtMs ? a : b), undefined);
    if (newest) return { kind: 'granted', consent: newest.record };
    if (grants.length > 0) return { kind: 'tooOld' };
    const refusals = mine.filter(({ record }) => record.decision !== 'granted');
    const last = refusals.reduce<Entry | undefined>((a, b) => (a && a.decidedAtMs > b.decidedAtMs ? a : b), undefined);
    if (!last) return { kind: 'none' };
    return { kind: last.record.decision === 'denied' ? 'denied' : 'revoked' };
  }

  /** Whether the applicant has ever granted it, whatever came of that. */
  everGranted(shareId: string, applicantId: string): boolean {
    return this.#of(shareId, applicantId).some(({ record, isPending }) => record.decision === 'granted' && !isPending);
  }

  /** How many messages are kept for shares that nobody has requested yet. */
  earlyCount(isKnownShare: (shareId: string) => boolean): number {
    return this.#entries.filter(({ record }) => !isKnownShare(record.shareId)).length;
  }

  /** Those that count. */
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
    const mine = this.#of(record.shareId, record.applicantId);
    const revokesAll =
      record.decision === 'revoked' &&
      !namesGrant &&
      !mine.some(({ record: known }) => isGrant(known, record.consentId));
    if (revokesAll) for (const entry of mine) entry.ended = true;
    const decidedAtMs = parseInstantMs(record.decidedAt) ?? 0;
    this.#entries.push({
      record,
      decidedAtMs,
      revokesAll,
      ended: false,
      isPending,
      ...(isEarlier ? { isEarlier } : {}),
    });
  }

  #of(shareId: string, applicantId: string): Entry[] {
    return this.#entries.filter(({ record }) => record.shareId === shareId && record.applicantId === applicantId);
  }
}

/**
 * Whether a consent names this secondary user. The code decides where either side has one: a name alone may be that of
 * several. A name beside the code is compared where both sides have it.
 */
export function isForUser(named: SecondaryUser, user: SecondaryUser): boolean {
  if (named.endUserCode !== user.endUserCode) return false;
  if (user.endUserCode === undefined) return user.endUser !== undefined && named.endUser === user.endUser;
  return named.endUser === undefined || user.endUser === undefined || named.endUser === user.endUser;
}

function stands(grant: Entry, mine: readonly Entry[]): boolean {
  if (grant.ended || grant.isPending) return false;
  return !mine.some((other) => {
    if (other.record.decision === 'denied') {
      return other.record.consentId === grant.record.consentId || other.decidedAtMs >= grant.decidedAtMs;
    }
    if (other.record.decision !== 'revoked') return false;
    return (
      other.record.consentId === grant.record.consentId || (other.revokesAll && other.decidedAtMs >= grant.decidedAtMs)
    );
  });
}

function isGrant(record: ConsentRecord, consentId: string): boolean {
  return record.decision === 'granted' && record.consentId === consentId;
}

function sameMessage(a: ConsentRecord, b: ConsentRecord): boolean {
  return (
    a.shareId === b.shareId &&
    a.applicantId === b.applicantId &&
    a.consentId === b.consentId &&
    a.decision === b.decision
  );
}
