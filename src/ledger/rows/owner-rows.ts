/** Selects the rows of one owner; for a portfolio review, those of all of its rows. */
import { ownerOf } from '../../model/owner-id.ts';

/** The SQL condition on `owner_id`, with the owner's id as value `$place`. */
export function ofOwner(ownerId: string, place = 1): string {
  if (!isReview(ownerId)) return `owner_id = $${place}`;
  // No index: disposals and holds of reviews are rare, and collations differ in how they sort a slash.
  return `substr(owner_id, 1, length($${place}) + 1) = $${place} || '/'`;
}

/** The review that a row belongs to; `null` where it belongs to no portfolio. */
export function reviewOfRow(ownerId: string): string | null {
  const { kind, id, accountId } = ownerOf(ownerId);
  return accountId === undefined ? null : `${kind}:${id}`;
}

/** The owner of everything that the id's runs are about: the rows of a review have their runs in common. */
export function ownerOfRuns(ownerId: string): string {
  return reviewOfRow(ownerId) ?? ownerId;
}

/** Whether it is the id of a whole portfolio review. */
export function isReview(ownerId: string): boolean {
  const { kind, accountId } = ownerOf(ownerId);
  return kind === 'portfolio' && accountId === undefined;
}
