/** Why a run, or the ledger, refuses a message: the cause for programs, the reason for people. Pure. */
import { describeDifference, findDifferingPaths } from '../base/differing-paths.ts';

export const REFUSAL_CAUSES = [
  'invalidInput',
  'differs',
  'inFuture',
  'unproven',
  'noLongerCounts',
  'ending',
  'decided',
  'notOnHold',
  'notListed',
  'unknownPart',
  'notNow',
] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

export interface MessageRefusal {
  cause: RefusalCause;
  /** A path and a rule, or a sentence: never a value. */
  reason: string;
  /** With `differs`: the places of the difference, as JSON pointers. */
  paths?: string[];
}

export function refuse(cause: RefusalCause, reason: string): MessageRefusal {
  return { cause, reason };
}

/** Refuses other content under an id that was used before; `null` if both contents are equal. */
export function refuseDifference(what: string, kept: unknown, sent: unknown): MessageRefusal | null {
  return refusePaths(what, findDifferingPaths(kept, sent));
}

/** Refuses content that differs at these paths; `null` if there are none. */
export function refusePaths(what: string, paths: readonly string[]): MessageRefusal | null {
  return paths.length > 0 ? { ...refuse('differs', describeDifference(what, paths)), paths: [...paths] } : null;
}
