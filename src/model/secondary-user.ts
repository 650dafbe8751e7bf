/** Whom a report is shared with, out of whatever names it. Pure. */
import type { SecondaryUser } from './shapes.ts';

export function secondaryUserOf({ endUserCode, endUser }: Partial<SecondaryUser>): SecondaryUser {
  return { ...(endUserCode === undefined ? {} : { endUserCode }), ...(endUser === undefined ? {} : { endUser }) };
}

/** For people. */
export function nameOfUser({ endUserCode, endUser }: Partial<SecondaryUser>): string {
  return [endUserCode, endUser].filter((name) => name !== undefined).join(', ');
}
