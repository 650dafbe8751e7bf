/** Whom a report is shared with, and whether a consent is for them. Pure. */

export function secondaryUserOf({ endUserCode, endUser }: Partial<SecondaryUser>): SecondaryUser {
  return { ...(endUserCode === undefined ? {} : { endUserCode }), ...(endUser === undefined ? {} : { endUser }) };
}

/** For people. */
export function nameOfUser({ endUserCode, endUser }: Partial<SecondaryUser>): string {
  return [endUserCode, endUser].filter((name) => name !== undefined).join(', ');
}

/**
 * Whether a consent names this secondary user. The code decides where either side has one: a name alone may be that of
 * several. A name beside the code is compared where both sides have it.
 */
export function isForUser(named: SecondaryUser, user: SecondaryUser): boolean {
  if (named.endUserCode !== user.endUserCode) return false;
  if (user.endUserCode === undefined) return user.endUser !== undefined && named.endUser === user.endUser;
  return named.endUser === undefined || user.endUser === undefined || named.endUser === user.endUser;
}

/** Whom a report is shared with: a code, a name, or both (interface 2.6). */
export interface SecondaryUser {
  endUserCode?: string;
  endUser?: string;
}
