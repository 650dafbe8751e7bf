/**
 * The differences between two contents that were sent under one key: JSON pointers, never a value. Pure. Members are
 * compared in any order; a member that is `undefined` counts as absent. An instant is equal to itself in another spelling.
 */
import { areSameInstant } from './instants.ts';
import { isRecord } from './is-record.ts';

/** More paths would not help a reader. */
const SHOWN = 10;

/**
 * The paths at which `sent` differs from `kept`; an empty list where the two are equal. Where only `sent` has a member
 * of a list's item, the item is named and not the member: the member is not checked yet, and the sender may have made
 * it up.
 */
export function findDifferingPaths(kept: unknown, sent: unknown): string[] {
  return compare(kept, sent, { path: '', isInList: false });
}

function compare(kept: unknown, sent: unknown, at: { path: string; isInList: boolean }): string[] {
  if (Array.isArray(kept) && Array.isArray(sent)) return compareLists(kept, sent, at.path);
  if (isRecord(kept) && isRecord(sent)) return compareObjects(kept, sent, at);
  if (Object.is(kept, sent)) return [];
  const isSame = typeof kept === 'string' && typeof sent === 'string' && areSameInstant(kept, sent);
  return isSame ? [] : [at.path];
}

function compareLists(kept: readonly unknown[], sent: readonly unknown[], path: string): string[] {
  const length = Math.max(kept.length, sent.length);
  return Array.from({ length }).flatMap((_, index) =>
    compare(kept[index], sent[index], { path: `${path}/${index}`, isInList: true }),
  );
}

function compareObjects(
  kept: Record<string, unknown>,
  sent: Record<string, unknown>,
  { path, isInList }: { path: string; isInList: boolean },
): string[] {
  const ofKept = Object.keys(kept).flatMap((name) =>
    compare(kept[name], sent[name], { path: path + toJsonPointer([name]), isInList }),
  );
  const added = Object.keys(sent).filter((name) => sent[name] !== undefined && !Object.hasOwn(kept, name));
  const ofSent = isInList && added.length > 0 ? [path] : added.map((name) => path + toJsonPointer([name]));
  return [...ofKept, ...ofSent];
}

/** Makes the reason of a refusal from the paths of `findDifferingPaths`. @param what was used or taken before */
export function describeDifference(what: string, paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN).map((path) => path || '/');
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return `${what} before with other content: ${shown.join(', ')}${more} ${paths.length > 1 ? 'differ' : 'differs'}`;
}

/** RFC 6901. */
export function toJsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
