/** The digests by which the ledger decides whether a row is of the same request: one in each canonical form. */
import { CANONICAL_FORMS, CANONICAL_VERSION } from '../../model/canonical-request.ts';
import type { InquiryContent } from '../../model/inquiry.ts';
import { LedgerUnavailableError } from '../errors.ts';
import type { RequestDigests } from '../records.ts';

export function requestDigests(ledger: { digest(text: string): string }, content: InquiryContent): RequestDigests {
  return Object.fromEntries(
    Object.entries(CANONICAL_FORMS).map(([version, form]) => [version, ledger.digest(form(content))]),
  );
}

/** The digest of a request that the ledger does not know yet. */
export function currentDigest(digests: RequestDigests): string {
  const digest = digests[CANONICAL_VERSION];
  if (digest === undefined) throw new Error(`no digest in the form ${CANONICAL_VERSION}`);
  return digest;
}

/**
 * The digest to compare with a row's own.
 *
 * @throws LedgerUnavailableError where a newer version of the product has made the row: that version can compare it, so
 * the caller waits
 */
export function comparableDigest(row: { digest_version: string | null } | null, digests: RequestDigests): string {
  if (row === null || row.digest_version === null) return currentDigest(digests);
  const digest = digests[row.digest_version];
  if (digest === undefined) {
    throw new LedgerUnavailableError(
      `the inquiry's digest is in the form ${row.digest_version}, which a newer worker knows`,
    );
  }
  return digest;
}
