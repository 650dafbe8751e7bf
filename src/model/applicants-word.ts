/**
 * What one applicant has said about one share, and what it comes to. Pure and deterministic; the rules are in
 * consent-book.ts.
 */
import type { ConsentRecord } from '../ledger/port.ts';
import { parseInstantMs } from './instants.ts';

/** What a grant is worth by everything that was said and by its age. */
export type GrantWorth = 'stands' | 'refused' | 'tooOld';
/** Why the ledger has not taken a grant. `missing`: it is not for this share and its secondary user. */
export type GrantFault = Exclude<GrantWorth, 'stands'> | 'spent' | 'missing';

export interface Entry {
  record: ConsentRecord;
  decidedAtMs: number;
  /** A revocation that named no known grant when it came. */
  revokesAll: boolean;
  /** A grant that has been ended for good. */
  ended: boolean;
  isPending: boolean;
  /** It came before this run. */
  isEarlier?: boolean;
  /** What the ledger has said of a grant: from then on it permits nothing. */
  fault?: GrantFault;
}

/** How one applicant stands towards one share. `none`: has not been heard of. */
export type Standing =
  | { kind: 'granted'; consent: ConsentRecord }
  | { kind: 'denied' | 'revoked' | 'tooOld' | 'spent' | 'none' };

/** When, and how old a grant may be. */
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

/** All that one applicant has said about one share. */
export class ApplicantsWord {
  readonly grants: Entry[] = [];
  readonly grantIds = new Set<string>();
  readonly #refusedIds = new Set<string>();
  /** Every grant that was decided no later has ended. */
  #endedUntilMs = Number.NEGATIVE_INFINITY;
  /** The latest of the refusals that end every grant before them. */
  #ending: Entry | undefined;
  #lastRefusal: Entry | undefined;
  /** When the last message came that revoked every grant there was. */
  revokedAllAtMs = Number.NEGATIVE_INFINITY;

  note(entry: Entry): void {
    const { record, decidedAtMs, revokesAll } = entry;
    if (record.decision === 'granted') {
      this.grants.push(entry);
      this.grantIds.add(record.consentId);
      return;
    }
    this.#refusedIds.add(record.consentId);
    if (revokesAll) this.revokedAllAtMs = Math.max(this.revokedAllAtMs, receivedAtMs(record));
    if ((record.decision === 'denied' || revokesAll) && decidedAtMs >= this.#endedUntilMs) {
      this.#endedUntilMs = decidedAtMs;
      this.#ending = entry;
    }
    if (!this.#lastRefusal || this.#lastRefusal.decidedAtMs <= decidedAtMs) this.#lastRefusal = entry;
  }

  endAll(): void {
    for (const grant of this.grants) grant.ended = true;
  }

  stands({ record, decidedAtMs, ended, isPending, fault }: Entry): boolean {
    if (fault === 'refused') return false;
    return !ended && !isPending && !this.#refusedIds.has(record.consentId) && decidedAtMs > this.#endedUntilMs;
  }

  standing(at: At, elsewhere: CarriedRefusal | undefined): Standing {
    const unrefused = this.grants.filter((grant) => this.stands(grant));
    const grants = unrefused.filter(({ decidedAtMs }) => !elsewhere || decidedAtMs > elsewhere.decidedAtMs);
    const newest = newestOf(grants.filter((grant) => grant.fault === undefined && isYoung(grant, at)));
    if (newest) return { kind: 'granted', consent: newest.record };
    if (grants.length > 0) return { kind: grants.some(({ fault }) => fault === 'spent') ? 'spent' : 'tooOld' };
    const { decision } = this.#lastRefusal?.record ?? {};
    if (elsewhere && (!decision || unrefused.length > 0)) return { kind: elsewhere.decision };
    if (!decision) return { kind: 'none' };
    return { kind: decision === 'denied' ? 'denied' : 'revoked' };
  }

  /** Those without which this applicant would stand otherwise. */
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

/** Of several that were decided at once, the one that came first. */
function newestOf(grants: readonly Entry[]): Entry | undefined {
  return grants.reduce<Entry | undefined>((a, b) => (a && a.decidedAtMs >= b.decidedAtMs ? a : b), undefined);
}
