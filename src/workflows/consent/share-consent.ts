/** How the consents of a report's applicants stand towards one share, taken together. Pure. */

import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { Standing } from '../../consent/applicants-word.ts';
import type { ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { ShareInput } from '../../messages/request-share.ts';

export type Consent = { kind: 'granted'; consents: ConsentRecord[] } | { kind: 'denied' | 'revoked' | 'waiting' };

type Terms = Pick<ShareInput, 'shareId' | 'consentValidFor'>;
type Book = Pick<ConsentBook, 'standing'>;

/** How old a grant may be, in milliseconds; `undefined` where any age will do. */
export function consentValidForMs({ consentValidFor }: Pick<Terms, 'consentValidFor'>): number | undefined {
  return consentValidFor === undefined ? undefined : (parseDurationMs(consentValidFor) ?? 0);
}

/**
 * Each applicant must consent, and one refusal refuses the share.
 *
 * @param nowMs the instant at which grants are young enough or too old. A predicate takes it from the code that waits
 *   (docs/decisions/journeys.md, 54)
 */
export function consentTowards(book: Book, share: Terms, applicantIds: readonly string[], nowMs: number): Consent {
  const standings = applicantIds.map((applicantId) => standingOf(book, share, applicantId, nowMs));
  const refusal = (['denied', 'revoked'] as const).find((kind) => standings.some((standing) => standing.kind === kind));
  if (refusal) return { kind: refusal };
  const consents = standings.flatMap((standing) => (standing.kind === 'granted' ? [standing.consent] : []));
  return consents.length > 0 && consents.length === applicantIds.length
    ? { kind: 'granted', consents }
    : { kind: 'waiting' };
}

/** Whether one of the applicants of the posted share has refused it. */
export function isRefusedByAny(book: Book, share: Terms, applicantIds: readonly string[]): boolean {
  // No refusal becomes too old.
  const { kind } = consentTowards(book, share, applicantIds, 0);
  return kind === 'denied' || kind === 'revoked';
}

/** Those whose consent the share waits for: it never came, or the grant is too old, refused or spent. */
export function ungranted(book: Book, share: Terms, applicantIds: readonly string[], nowMs: number): string[] {
  return applicantIds.filter((applicantId) => standingOf(book, share, applicantId, nowMs).kind !== 'granted');
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
