/** The consents towards one share at any time: what its run is told, and what the ledger has from before and elsewhere. */
import type { StandingConsents } from '../activities/contract.ts';
import type { ConsentRecord } from '../ledger/port.ts';
import { type CarriedConsent, ConsentBook, type Standing } from '../model/consent-book.ts';
import { parseInstantMs } from '../model/instants.ts';

/** The latest refusal of each applicant that came under another id than this share's. */
export type RefusalsElsewhere = Record<string, { decision: 'denied' | 'revoked'; decidedAtMs: number }>;

export class ReportConsents extends ConsentBook {
  #elsewhere: Map<string, RefusalsElsewhere[string]>;

  constructor(past?: readonly CarriedConsent[], elsewhere: RefusalsElsewhere = {}) {
    super(past);
    this.#elsewhere = new Map(Object.entries(elsewhere));
  }

  get elsewhere(): RefusalsElsewhere {
    return Object.fromEntries(this.#elsewhere);
  }

  /** Those that were news to this run: the ledger has them. */
  learn({ own, elsewhere }: StandingConsents): ConsentRecord[] {
    const isLatest = new Map<string, { decision: 'denied' | 'revoked'; decidedAtMs: number }>();
    for (const { applicantId, decision, decidedAt } of elsewhere) {
      const decidedAtMs = parseInstantMs(decidedAt) ?? 0;
      const known = isLatest.get(applicantId);
      if (!known || known.decidedAtMs <= decidedAtMs) isLatest.set(applicantId, { decision, decidedAtMs });
    }
    this.#elsewhere = isLatest;
    return own.filter((record) => this.add(record));
  }

  /** What was refused elsewhere ends every grant that was decided no later; without a later one it is refused here. */
  override standing(
    shareId: string,
    applicantId: string,
    at: { nowMs: number; validForMs?: number | undefined },
  ): Standing {
    const own = super.standing(shareId, applicantId, at);
    const refusal = this.#elsewhere.get(applicantId);
    if (!refusal || own.kind === 'denied' || own.kind === 'revoked') return own;
    const newest = super.standing(shareId, applicantId, { nowMs: at.nowMs });
    const isLater = newest.kind === 'granted' && (parseInstantMs(newest.consent.decidedAt) ?? 0) > refusal.decidedAtMs;
    return isLater ? own : { kind: refusal.decision };
  }
}
