/**
 * Judges which consents are in force for a share. The order in which the messages arrived does not matter. Pure. The
 * run's question and the claim follow the same rules (docs/shares.md, "Whose consent").
 *
 * - A grant counts if it was given under the share's id, to one of its owners and for this very secondary user.
 *   No other share may have been posted under it, and it has a proof where the share requires one.
 * - A denial ends every grant of the applicant for the share that was decided before it.
 * - A revocation ends the grant of its own consentId, even one that arrives later. If its consentId was unknown when it
 *   arrived, it ends all of the applicant's grants for the share. Only a grant that was decided later counts again.
 * - A refusal under another share's id counts if it may mean this secondary user, and is still in force there.
 */
import type { Stands } from '../messages/journey/shapes.ts';
import { isForUser, type SecondaryUser } from '../model/stage-end-user.ts';
import type { ApplicantStanding, ConsentRecord, GrantFault, GrantKey } from './consent-record.ts';
import { computeGrantedAtMs, findEnds, isRefusal, type Refusal, toDecidedAtMs } from './refusals.ts';

/** A consent about a report, with the facts that the ledger keeps beside the message. */
export interface StoredConsent {
  consent: ConsentRecord;
  /** The owner of another share that was, or may have been, posted under it. */
  usedBy?: string;
  /** Why its run has found before that the grant does not count. */
  noted?: GrantFault;
  /** The starts of the owner that have received it (the first run of each chain). */
  starts?: readonly string[];
}

/** The share that consents are compared with. */
export interface ShareTerms extends SecondaryUser {
  shareId: string;
  /** The owners whose grants may count: the share's own (model/run-key.ts), and for a share by itself the report's. */
  owners: readonly string[];
  /** With `proof` a grant without a proof does not count. */
  consentTrust?: 'proof' | 'namespace' | undefined;
  /** How old a grant may be. Default: any age. */
  validForMs?: number | undefined;
  /** Only grants that this start has received count. Default: those of every start. */
  start?: string | undefined;
}

export interface JudgedShare {
  /** The applicants that have sent a consent or a denial. */
  applicants: ApplicantStanding[];
  /** The validity of one grant, independent of the others. */
  judgeGrant(grant: GrantKey): GrantFault | 'stands';
}

/** @param nowMs by the database's clock */
export function judgeShare(stored: readonly StoredConsent[], terms: ShareTerms, nowMs: number): JudgedShare {
  const isOwn = ({ consent }: StoredConsent) =>
    consent.shareId === terms.shareId && terms.owners.includes(consent.journeyId);
  const own = stored.filter(isOwn);
  const others = stored.filter((item) => !isOwn(item) && mayMean(item.consent.secondaryUser, terms));
  const elsewhere = findRefusalsElsewhere(others.map(({ consent }) => consent));
  const ids = new Set([...own.map(({ consent }) => consent.applicantId), ...elsewhere.keys()]);
  const byApplicant = Map.groupBy(own, ({ consent }) => consent.applicantId);
  const judged = new Map(
    [...ids].map((id) => [id, judgeApplicant(byApplicant.get(id) ?? [], elsewhere.get(id), terms, nowMs)]),
  );
  return {
    applicants: [...judged].map(([applicantId, word]) => ({ applicantId, ...word.standing })),
    judgeGrant: (grant) => judged.get(grant.applicantId)?.judgeGrant(grant) ?? 'missing',
  };
}

/** Returns the decision of one applicant that is in force, in the words of the answer to a consent. */
export function toConsentStanding(
  applicants: readonly ApplicantStanding[],
  applicantId: string,
): Omit<Stands, 'changed'> {
  const found = applicants.find((applicant) => applicant.applicantId === applicantId);
  if (!found || found.stands === 'none') return { decision: 'none' };
  const { stands: decision, since } = found;
  return { decision, since, consentId: found.stands === 'granted' ? found.grant.consentId : found.consentId };
}

/**
 * Judges the grants that a claim names. An applicant without one is named with an empty `consentId`. The run that names a
 * grant has judged whether it needed a proof.
 *
 * @param applicantIds all whose grant is needed
 */
export function judgeGrants(
  stored: readonly StoredConsent[],
  terms: ShareTerms,
  { grants, applicantIds, nowMs }: { grants: readonly GrantKey[]; applicantIds: readonly string[]; nowMs: number },
) {
  const share = judgeShare(stored, terms, nowMs);
  const without = applicantIds.filter((id) => !grants.some(({ applicantId }) => applicantId === id));
  return [
    ...grants.map((grant) => ({
      applicantId: grant.applicantId,
      consentId: grant.consentId,
      worth: applicantIds.includes(grant.applicantId) ? share.judgeGrant(grant) : ('missing' as const),
    })),
    ...without.map((applicantId) => ({ applicantId, consentId: '', worth: 'missing' as const })),
  ];
}

/**
 * Judges all messages of one applicant about one share.
 *
 * @param elsewhere the refusal that is in force for another share
 */
function judgeApplicant(
  said: readonly StoredConsent[],
  elsewhere: Refusal | undefined,
  terms: ShareTerms,
  nowMs: number,
) {
  const { start, validForMs } = terms;
  const findEnd = findEnds(
    said.filter((item) => isRefusal(item.consent) || isFit(item, terms)).map(({ consent }) => consent),
  );
  const grants = said.filter(({ consent }) => !isRefusal(consent));

  function judge(stored: StoredConsent): GrantFault | 'stands' {
    const { consent, usedBy, noted } = stored;
    if (usedBy !== undefined) return 'spent';
    if (noted === 'otherPerson') return noted;
    if (!isFit(stored, terms)) return 'missing';
    const grantedAtMs = computeGrantedAtMs(consent);
    const isRefusedElsewhere = elsewhere !== undefined && toDecidedAtMs(elsewhere) >= grantedAtMs;
    if (findEnd(consent) || isRefusedElsewhere) return 'refused';
    return nowMs - grantedAtMs <= (validForMs ?? Number.POSITIVE_INFINITY) ? 'stands' : 'tooOld';
  }

  function findStanding() {
    const received = grants.filter(({ starts = [] }) => start === undefined || starts.includes(start));
    const find = (worth: GrantFault | 'stands') => findNewest(received.filter((grant) => judge(grant) === worth));
    const granted = find('stands');
    if (granted) {
      const youngUntilMs = validForMs === undefined ? undefined : computeGrantedAtMs(granted) + validForMs;
      const grant = { ...toGrantKey(granted), receivedAt: granted.receivedAt };
      return { stands: 'granted', grant, since: granted.decidedAt, youngUntilMs } as const;
    }
    const tooOld = find('tooOld');
    if (tooOld) return { stands: 'none', fault: 'tooOld', grant: toGrantKey(tooOld) } as const;
    const last = findLastRefusal(said.map(({ consent }) => consent));
    const isOpenHere = () => received.some((grant) => isFit(grant, terms) && !findEnd(grant.consent));
    if (elsewhere && (!last || isOpenHere())) return { stands: elsewhere.decision, since: elsewhere.decidedAt };
    if (last) return { stands: last.decision, since: last.decidedAt, consentId: last.consentId };
    const unfit = grants.find((grant) => grant.noted === undefined && !isFit(grant, terms));
    if (!unfit) return { stands: 'none' } as const;
    const fault = unfit.usedBy === undefined ? 'missing' : 'spent';
    return { stands: 'none', fault, grant: toGrantKey(unfit.consent) } as const;
  }

  return {
    standing: findStanding(),
    judgeGrant({ journeyId, consentId }: GrantKey): GrantFault | 'stands' {
      const isNamed = ({ consent }: StoredConsent) =>
        consent.journeyId === journeyId && consent.consentId === consentId;
      const stored = grants.find(isNamed);
      return stored ? judge(stored) : 'missing';
    },
  };
}

function toGrantKey({ journeyId, shareId, applicantId, consentId }: ConsentRecord): GrantKey {
  return { journeyId, shareId, applicantId, consentId };
}

/** Whether a grant counts at all for this share and its secondary user. */
function isFit({ consent, usedBy, noted }: StoredConsent, terms: ShareTerms): boolean {
  if (usedBy !== undefined || noted === 'otherPerson' || !isForUser(consent.secondaryUser, terms)) return false;
  return terms.consentTrust !== 'proof' || consent.proof !== undefined;
}

/** Returns whether no field that both name differs. */
export function mayMean(named: SecondaryUser, user: SecondaryUser): boolean {
  const agrees = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return agrees(named.endUserCode, user.endUserCode) && agrees(named.endUser, user.endUser);
}

/** The latest refusal of each applicant that is in force for another share. */
function findRefusalsElsewhere(said: readonly ConsentRecord[]): Map<string, Refusal> {
  const byShare = Map.groupBy(said, ({ journeyId, shareId, applicantId }) =>
    JSON.stringify([journeyId, shareId, applicantId]),
  );
  const inForce = [...byShare.values()].flatMap((word) => {
    const last = findLastRefusal(word);
    const endOf = findEnds(word);
    const isGranted = word.some((consent) => !isRefusal(consent) && !endOf(consent));
    return last && !isGranted ? [last] : [];
  });
  const byApplicant = Map.groupBy(inForce, ({ applicantId }) => applicantId);
  return new Map([...byApplicant].map(([id, refusals]) => [id, findLatest(refusals, toDecidedAtMs) as Refusal]));
}

function findLastRefusal(said: readonly ConsentRecord[]): Refusal | undefined {
  return findLatest(said.filter(isRefusal), toDecidedAtMs);
}

/** The newest grant; among several that were decided at the same instant, the first. */
function findNewest(grants: readonly StoredConsent[]): ConsentRecord | undefined {
  return findLatest(grants.map(({ consent }) => consent).toReversed(), computeGrantedAtMs);
}

/** Among several of the same time, the last. */
function findLatest<T>(items: readonly T[], toMs: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (latest, item) => (latest && toMs(latest) > toMs(item) ? latest : item),
    undefined,
  );
}
