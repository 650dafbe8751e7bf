/** How the consents of a report's applicants stand towards one share, taken together. Pure. */

import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { Standing } from '../../consent/applicants-word.ts';
import type { ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { ShareInput } from '../../messages/journey/shapes.ts';

export type Consent = { kind: 'granted'; consents: ConsentRecord[] } | { kind: 'denied' | 'revoked' | 'waiting' };

type Terms = Pick<ShareInput, 'shareId' | 'consentValidFor'>;
type Book = Pick<ConsentBook, 'standing'>;

/** How old a grant may be, in milliseconds; `undefined` where any age will do. */
export function consentValidForMs({ consentValidFor }: Pick<Terms, 'consentValidFor'>): number | undefined {
  return consentValidFor === undefined ? undefined : (parseDurationMs(consentValidFor) ?? 0);
}

export function consentTowards(book: Book, share: Terms, applicantIds: readonly string[]): Consent {
  const standings = applicantIds.map((applicantId) => standingOf(book, share, applicantId));
  if (standings.some(({ kind }) => kind === 'denied')) return { kind: 'denied' };
  if (standings.some(({ kind }) => kind === 'revoked')) return { kind: 'revoked' };
  const consents = standings.flatMap((standing) => (standing.kind === 'granted' ? [standing.consent] : []));
  const isWhole = applicantIds.length > 0 && consents.length === applicantIds.length;
  return isWhole ? { kind: 'granted', consents } : { kind: 'waiting' };
}

/** Those whose grant does not stand: it never came, is too old, or was refused or spent. */
export function ungranted(book: Book, share: Terms, applicantIds: readonly string[]): string[] {
  return applicantIds.filter((applicantId) => standingOf(book, share, applicantId).kind !== 'granted');
}

/** How long until the first of the grants that stand becomes too old, in milliseconds; `undefined` where none will. */
export function firstExpiryInMs(book: Book, share: Terms, applicantIds: readonly string[]): number | undefined {
  const validForMs = consentValidForMs(share);
  if (validForMs === undefined) return undefined;
  const leftMs = applicantIds.flatMap((applicantId) => {
    const standing = standingOf(book, share, applicantId);
    if (standing.kind !== 'granted') return [];
    // The last millisecond of its time still counts.
    return [(parseInstantMs(standing.consent.decidedAt) ?? 0) + validForMs + 1 - Date.now()];
  });
  return leftMs.length === 0 ? undefined : Math.max(1, Math.min(...leftMs));
}

function standingOf(book: Book, share: Terms, applicantId: string): Standing {
  return book.standing(share.shareId, applicantId, { nowMs: Date.now(), validForMs: consentValidForMs(share) });
}
