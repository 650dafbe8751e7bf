/** The secondary user with whom a report is shared, and whether a consent names that user. Pure. */
import { defined } from '../base/defined.ts';

export function secondaryUserOf({ endUserCode, endUser }: Partial<SecondaryUser>): SecondaryUser {
  return defined({ endUserCode, endUser });
}

/** The name of a secondary user for people. */
export function nameOfUser({ endUserCode, endUser }: Partial<SecondaryUser>): string {
  return [endUserCode, endUser].filter((name) => name !== undefined).join(', ');
}

/**
 * Whether a consent names this secondary user. Where either side has a code, the code decides, since several users may
 * have one name. A name beside the code is compared where both sides have one.
 */
export function isForUser(named: SecondaryUser, user: SecondaryUser): boolean {
  if (named.endUserCode !== user.endUserCode) return false;
  if (user.endUserCode === undefined) return user.endUser !== undefined && named.endUser === user.endUser;
  return named.endUser === undefined || user.endUser === undefined || named.endUser === user.endUser;
}

/** A secondary user: a code, a name, or both (interface 2.6). */
export interface SecondaryUser {
  endUserCode?: string;
  endUser?: string;
}
