/** How the consents of a report's applicants stand towards one share, taken together. Pure. */

import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { Standing } from '../../consent/applicants-word.ts';
import type { ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import { isForThoseWhoConsent } from '../../consent/share-consumers.ts';
import type { ShareInput } from '../../messages/journey/shapes.ts';

export type Consent = { kind: 'granted'; consents: ConsentRecord[] } | { kind: 'denied' | 'revoked' | 'waiting' };

type Terms = Pick<ShareInput, 'shareId' | 'consentValidFor' | 'consumers'>;
type Book = Pick<ConsentBook, 'standing'>;

/** How old a grant may be, in milliseconds; `undefined` where any age will do. */
export function consentValidForMs({ consentValidFor }: Pick<Terms, 'consentValidFor'>): number | undefined {
  return consentValidFor === undefined ? undefined : (parseDurationMs(consentValidFor) ?? 0);
}

/**
 * With `consumers: 'consented'` it is `granted` by those who consented, once each applicant has answered, and refused
 * where nobody has consented. Otherwise each applicant must consent, and one refusal refuses it.
 *
 * @param nowMs the instant at which grants are young enough or too old. A predicate takes it from the code that waits
 *   (docs/decisions/journeys.md, 54)
 * @param isOver the wait is over: whoever has not answered is left out
 */
export function consentTowards(
  book: Book,
  share: Terms,
  applicantIds: readonly string[],
  { nowMs, isOver = false }: { nowMs: number; isOver?: boolean },
): Consent {
  const standings = applicantIds.map((applicantId) => standingOf(book, share, applicantId, nowMs));
  const consents = standings.flatMap((standing) => (standing.kind === 'granted' ? [standing.consent] : []));
  const refusal = (['denied', 'revoked'] as const).find((kind) => standings.some((standing) => standing.kind === kind));
  const isChosen = isForThoseWhoConsent(share, applicantIds);
  if (!isChosen && refusal) return { kind: refusal };
  const haveAllAnswered = standings.every(isAnswer);
  if (!haveAllAnswered && !(isChosen && isOver)) return { kind: 'waiting' };
  if (consents.length > 0) return { kind: 'granted', consents };
  return { kind: haveAllAnswered && refusal ? refusal : 'waiting' };
}

/** The grants of these very applicants, where each of them stands. */
export function grantsOf(
  book: Book,
  share: Terms,
  applicantIds: readonly string[],
  nowMs: number,
): ConsentRecord[] | null {
  const consent = consentTowards(book, { ...share, consumers: 'all' }, applicantIds, { nowMs });
  return consent.kind === 'granted' ? consent.consents : null;
}

/** Whether one of those whom the posted share names has refused it. */
export function isRefusedByNamed(book: Book, share: Terms, named: readonly string[]): boolean {
  // No refusal becomes too old.
  const kinds = named.map((applicantId) => standingOf(book, share, applicantId, 0).kind);
  return kinds.some((kind) => kind === 'denied' || kind === 'revoked');
}

/**
 * Those whose consent the share waits for: it never came, or the grant is too old, refused or spent. Who has refused a
 * share for those who consent is not waited for.
 */
export function ungranted(book: Book, share: Terms, applicantIds: readonly string[], nowMs: number): string[] {
  const isMissing = isForThoseWhoConsent(share, applicantIds)
    ? (standing: Standing) => !isAnswer(standing)
    : ({ kind }: Standing) => kind !== 'granted';
  return applicantIds.filter((applicantId) => isMissing(standingOf(book, share, applicantId, nowMs)));
}

function isAnswer({ kind }: Standing): boolean {
  return kind === 'granted' || kind === 'denied' || kind === 'revoked';
}

/** How long until the first of the grants that stand becomes too old, in milliseconds; `undefined` where none will. */
export function firstExpiryInMs(
  book: Book,
  share: Terms,
  applicantIds: readonly string[],
  nowMs: number,
): number | undefined {
  const validForMs = consentValidForMs(share);
  if (validForMs === undefined) return undefined;
  const leftMs = applicantIds.flatMap((applicantId) => {
    const standing = standingOf(book, share, applicantId, nowMs);
    if (standing.kind !== 'granted') return [];
    // The last millisecond of its time still counts.
    return [(parseInstantMs(standing.consent.decidedAt) ?? 0) + validForMs + 1 - nowMs];
  });
  return leftMs.length === 0 ? undefined : Math.max(1, Math.min(...leftMs));
}

function standingOf(book: Book, share: Terms, applicantId: string, nowMs: number): Standing {
  return book.standing(share.shareId, applicantId, { nowMs, validForMs: consentValidForMs(share) });
}
