/**
 * Everything that one applicant has said about one share, and its effect. Pure and deterministic; the rules are in
 * consent-book.ts. Questions that come with each message do not read all entries.
 */

import { parseInstantMs } from '../base/instants.ts';
import type { ConsentRecord, GrantFault } from './consent-record.ts';

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

/** The standing of one applicant towards one share. `none`: no message yet. */
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
export class ApplicantsWord {
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

  /** Whether a grant is open. What has ended a grant ends it for good. */
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

  /** The entries without which this applicant's standing would differ. */
  get deciding(): Entry[] {
    const counting = this.grants.filter(({ isPending }) => !isPending);
    const standing = counting.filter((grant) => this.stands(grant));
    const usable = standing.filter(({ fault }) => fault === undefined);
    const grant = newestOf([usable, standing, counting].find(({ length }) => length > 0) ?? []);
    return [grant, this.#ending, this.#lastRefusal].filter((entry) => entry !== undefined);
  }
}

export function isYoung({ decidedAtMs }: Entry, { nowMs, validForMs }: At): boolean {
  return validForMs === undefined || nowMs - decidedAtMs <= validForMs;
}

export function receivedAtMs({ receivedAt }: ConsentRecord): number {
  return parseInstantMs(receivedAt) ?? 0;
}

/** The newest grant; among several that were decided at the same instant, the one that came first. */
function newestOf(grants: readonly Entry[]): Entry | undefined {
  return grants.reduce<Entry | undefined>((a, b) => (a && a.decidedAtMs >= b.decidedAtMs ? a : b), undefined);
}
