/** Selects rows by their owner: those of one owner or of a whole review, and those that a reader may see. */
import { parseRunKey } from '../model/run-key.ts';
import { type Condition, isIn, type Place } from './database/rows.ts';
import type { SqlSession } from './database/sql-session.ts';

/** The SQL condition that `run_key` is this one, or a row of this review. */
export function writeOwnerCondition(runKey: string, place = '$1', column = 'run_key'): string {
  const { kind, accountId } = parseRunKey(runKey);
  if (kind !== 'portfolio' || accountId !== undefined) return `${column} = ${place}`;
  // No index: disposals and holds of reviews are rare, and collations differ in how they sort a slash.
  return `(${column} = ${place} OR substr(${column}, 1, length(${place}) + 1) = ${place} || '/')`;
}

/** Writes the same condition on a member. */
export function isOfOwner(runKey: string): Condition {
  return (column, place) => writeOwnerCondition(runKey, place(runKey), column);
}

/** The owner of everything that the id's runs are about: the rows of a review have their runs in common. */
export function toOwner(runKey: string): string {
  const { kind, id, accountId } = parseRunKey(runKey);
  return accountId === undefined ? runKey : `${kind}:${id}`;
}

/** The run of an inquiry, and of a review's row also the review: whose withdrawals its claim reads. */
export function toClaimOwners(runKey: string): [runKey: string, owner: string] {
  return [runKey, toOwner(runKey)];
}

// Limits the rows that a reader may see. An absent field sets no limit, and an empty list finds nothing.

export interface ReadersReach {
  profiles?: readonly string[];
  /** End users, by code or name. */
  endUsers?: readonly string[];
}

/**
 * Selects each `profile` and `end_user` that the ledger knows a run to be for. A share names its secondary user, who is none
 * of them: a share by itself is for whom its report was pulled.
 *
 * @param owner the SQL of the run's run key
 */
export function selectMadeFor(owner: string): string {
  const ofRows = (table: string) => `SELECT m.profile,
      CASE WHEN coalesce(m.product_code, '') <> 'SECONDUSE' THEN coalesce(m.end_user_code, m.end_user) END AS end_user
    FROM ${table} m WHERE m.run_key = ${owner}`;
  return `${ofRows('inquiries')} UNION ALL ${ofRows('operator_tasks')}
    UNION ALL SELECT NULL, m.report_end_user_code FROM report_shares m WHERE m.run_key = ${owner}`;
}

/** Reads only: the profiles and the end users of a run, as far as the ledger knows them. */
export async function readMadeFor(session: SqlSession, runKey: string) {
  const statement = `SELECT DISTINCT profile, end_user FROM (${selectMadeFor('$1')}) known`;
  const known = await session.read<{ profile?: string; endUser?: string }>(statement, [runKey]);
  return {
    profiles: known.flatMap(({ profile }) => profile ?? []),
    endUsers: known.flatMap(({ endUser }) => endUser ?? []),
  };
}

/**
 * Conditions that exclude each run which the ledger knows to be out of reach, and what belongs to no run. A run that the
 * ledger lacks passes: only Temporal knows its owner.
 */
export function withoutForeignRuns(owner: string, { profiles, endUsers }: ReadersReach, place: Place): string[] {
  const exclude = (column: string, ours: readonly string[] | undefined) =>
    ours
      ? [
          `${owner} IS NOT NULL`,
          `NOT EXISTS (SELECT 1 FROM (${selectMadeFor(owner)}) f WHERE f.${column} IS NOT NULL AND NOT (${isIn(ours)(`f.${column}`, place)}))`,
        ]
      : [];
  return [...exclude('profile', profiles), ...exclude('end_user', endUsers)];
}
