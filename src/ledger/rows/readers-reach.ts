/** What a reader may see, as SQL: rows of runs that are for these gateway profiles and end users alone. */
import type { ReadersReach } from '../readers-reach.ts';

export function isOneOf(column: string, places: readonly string[]): string {
  return places.length === 0 ? '1 = 0' : `${column} IN (${places.join(', ')})`;
}

/**
 * Selects the `name` of everybody whom the ledger knows a run to be for. A share names its secondary user, who is none of
 * them: a share by itself is for whom its report was pulled.
 *
 * @param owner the SQL of the run's owner id
 */
export function endUsersOfRun(owner: string): string {
  return `SELECT coalesce(ri.end_user_code, ri.end_user) AS name FROM inquiries ri
      WHERE ri.owner_id = ${owner} AND ri.product_code <> 'SECONDUSE'
    UNION ALL SELECT rs.report_end_user_code FROM report_shares rs WHERE rs.owner_id = ${owner}`;
}

/**
 * Conditions that leave out every run of which the ledger knows that it is out of reach. A run that the ledger does not
 * know passes: Temporal alone knows whose it is.
 */
export function withoutForeignRuns(
  owner: string,
  { profiles, endUsers }: ReadersReach,
  place: (value: string) => string,
): string[] {
  const conditions: string[] = [];
  if (profiles) {
    const isOurs = isOneOf('rp.profile', profiles.map(place));
    conditions.push(
      `NOT EXISTS (SELECT 1 FROM inquiries rp WHERE rp.owner_id = ${owner} AND NOT (${isOurs}))`,
      `NOT EXISTS (SELECT 1 FROM work_for_people rp WHERE rp.owner_id = ${owner} AND NOT (${isOurs}))`,
    );
  }
  if (endUsers) {
    const isOurs = isOneOf('f.name', endUsers.map(place));
    conditions.push(
      `NOT EXISTS (SELECT 1 FROM (${endUsersOfRun(owner)}) f WHERE f.name IS NOT NULL AND NOT (${isOurs}))`,
    );
  }
  return conditions;
}
