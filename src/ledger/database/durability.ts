/**
 * Checks whether a power cut or a failover can lose commits that PostgreSQL has confirmed. If the new primary lacks a
 * claim, a run may claim again, and an inquiry is posted twice.
 */
import type { SqlSession } from './sql-session.ts';

/** How a deployment keeps its commits: `LEDGER_DURABILITY` (docs/configuration.md). */
export interface DurabilitySetting {
  /**
   * - `replication`: a server that may take over is a synchronous standby of PostgreSQL's own.
   * - `storage`: the storage beneath PostgreSQL keeps commits, where PostgreSQL cannot show it.
   * - `accepted`: a person accepts that commits can be lost.
   */
  kind: 'replication' | 'storage' | 'accepted';
  /** The person who decided, and the reason; absent with `replication`. */
  by?: string;
}

/** A server or program that receives what this server writes. */
export interface Follower {
  /** The value in `pg_stat_replication`; absent if this role may not read it. */
  sync?: 'sync' | 'quorum' | 'potential' | 'async';
  /** A standby. A subscriber of logical replication, a backup or an archive of the log cannot take over. */
  canTakeOver: boolean;
}

/** The settings and followers that a PostgreSQL server shows. Any role may read all of it, except the states of followers. */
export interface Durability {
  /** A standby takes no writes. */
  isStandby: boolean;
  /** `fsync` */
  isFlushed: boolean;
  /** `full_page_writes` */
  writesFullPages: boolean;
  /** `synchronous_commit` as this role has it in this database. */
  commit: string;
  /** `synchronous_standby_names` */
  synchronousNames: string;
  followers: Follower[];
}

const SETTINGS = `SELECT pg_is_in_recovery() AS is_standby, current_setting('fsync') = 'on' AS is_flushed,
  current_setting('full_page_writes') = 'on' AS writes_full_pages, current_setting('synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') AS synchronous_names`;

// By names that any role may read: PostgreSQL's own programs, and Barman's.
const FOLLOWERS = `SELECT r.sync_state AS sync,
    coalesce(r.application_name !~ '^(pg_basebackup|pg_receivewal|barman)' AND r.state IS DISTINCT FROM 'backup'
      AND s.slot_type IS DISTINCT FROM 'logical', true) AS can_take_over
  FROM pg_stat_replication r LEFT JOIN pg_replication_slots s ON s.active_pid = r.pid`;

/**
 * Reads how PostgreSQL keeps confirmed commits; `null` for SQLite, which flushes each commit and has no other server. A
 * new setting of a role or a database shows only on a newer connection.
 */
export async function readDurability(session: SqlSession): Promise<Durability | null> {
  // SQLite needs no row locks.
  if (session.dialect.forUpdate === '') return null;
  const [settings, followers] = await Promise.all([
    session.read<Omit<Durability, 'followers'>>(SETTINGS),
    session.read<Follower>(FOLLOWERS),
  ]);
  return { ...settings[0], followers } as Durability;
}

export interface DurabilityVerdict {
  /**
   * - `loses`: a confirmed commit can be lost; production does not start.
   * - `stalls`: nothing is lost, and no commit is confirmed either.
   * - `unknown`: it depends on what PostgreSQL does not show.
   */
  kind: 'sound' | 'unknown' | 'stalls' | 'loses';
  /** One sentence, without its full stop. */
  detail: string;
  /** Absent with `sound`. */
  toDo?: string;
}

const ACCEPT = 'or declare in LEDGER_DURABILITY what keeps commits here (docs/deploy.md)';

/** Pure. */
export function judgeDurability(found: Durability | null, { kind: keeps, by }: DurabilitySetting): DurabilityVerdict {
  if (!found) return { kind: 'sound', detail: 'SQLite, every commit is flushed' };
  const verdict = judgeServer(found, keeps === 'storage');
  if (keeps === 'replication' || verdict.kind === 'stalls' || found.isStandby) return verdict;
  const isAccepted = keeps === 'accepted' && verdict.kind === 'loses';
  const decided = by === undefined ? '' : ` (LEDGER_DURABILITY, ${by})`;
  const detail = `${verdict.detail}${isAccepted ? '; accepted' : ''}${decided}`;
  if (!isAccepted) return { ...verdict, detail };
  return { kind: 'unknown', detail, toDo: 'this was accepted: remove LEDGER_DURABILITY once it is fixed' };
}

/**
 * The first line that applies is the verdict.
 *
 * @param isStored whether the storage beneath PostgreSQL keeps commits
 */
function judgeServer(found: Durability, isStored: boolean): DurabilityVerdict {
  const { isStandby, isFlushed, writesFullPages, commit, followers } = found;
  const needed = countNeededStandbys(found.synchronousNames);
  const standbys = followers.filter(({ canTakeOver }) => canTakeOver).length;
  const confirming = followers.filter(({ sync = 'sync' }) => sync === 'sync' || sync === 'quorum');
  const hasWrongOnes = confirming.some(({ sync, canTakeOver }) => sync !== undefined && !canTakeOver);
  // The ledger's own transactions set `on`. An operator who sets another value expects that commits here may be lost.
  // Other programs that write into the ledger by hand get that value.
  const isUnsafe = commit === 'off' || (commit === 'local' && !isStored && (needed > 0 || followers.length > 0));
  const waits = `commits wait for ${describeStandbys(needed)}`;
  const follows = `${describeStandbys(standbys)} ${standbys === 1 ? 'follows' : 'follow'}, and commits wait for none`;
  type Verdict = [applies: boolean, kind: DurabilityVerdict['kind'], detail: string, toDo?: string];
  const verdicts: Verdict[] = [
    [isStandby, 'loses', 'the database is a standby, which takes no writes', 'LEDGER_URL must name the primary'],
    [!isFlushed, 'loses', 'fsync is off: a power cut may forget what was sent', 'set fsync = on in PostgreSQL'],
    [
      !writesFullPages && !isStored,
      'loses',
      'full_page_writes is off: a power cut may destroy what was sent',
      `set full_page_writes = on in PostgreSQL, ${ACCEPT}`,
    ],
    [
      isUnsafe,
      'loses',
      `synchronous_commit is ${commit} for this role: commits are confirmed before they are safe`,
      'set synchronous_commit = on where it is set: `pg_settings.source` says where',
    ],
    [
      confirming.length < needed,
      'stalls',
      `${waits}, and ${confirming.length} of them follow: nothing is sent until they do`,
      'start the synchronous standbys; see synchronous_standby_names and pg_stat_replication',
    ],
    [
      needed > 0 && hasWrongOnes,
      'loses',
      'commits wait for a subscriber or an archive, which cannot take over',
      'name only physical standbys in synchronous_standby_names',
    ],
    [
      needed > 0 && standbys > needed,
      'unknown',
      `commits wait for ${needed} of ${describeStandbys(standbys)}: the others may lack what was sent`,
      'fail over only to one that has all commits: the one that received most, as PostgreSQL’s tools choose it',
    ],
    [needed > 0, 'sound', waits],
    [isStored && standbys === 0, 'sound', 'the storage beneath PostgreSQL keeps commits'],
    [isStored, 'unknown', follows, 'fail over only through the storage, and never make one of them the primary'],
    [
      standbys === 0,
      'unknown',
      'no standby is known: a failover to another server may forget what was sent, and send it again',
      `set synchronous_standby_names before you fail over to another server, ${ACCEPT}`,
    ],
    [
      true,
      'loses',
      `${follows}: a failover may forget what was sent, and send it again`,
      `set synchronous_standby_names, ${ACCEPT}`,
    ],
  ];
  const [, kind, detail, toDo] = verdicts.find(([applies]) => applies) as Verdict;
  return { kind, detail, toDo };
}

/** How many standbys a commit waits for (PostgreSQL, `synchronous_standby_names`). */
export function countNeededStandbys(names: string): number {
  if (names.trim() === '') return 0;
  const [, count] = /^\s*(?:(?:FIRST|ANY)\s*)?(\d+)\s*\(/i.exec(names) ?? [];
  return count === undefined ? 1 : Number(count);
}

function describeStandbys(standbys: number): string {
  return `${standbys} ${standbys === 1 ? 'standby' : 'standbys'}`;
}
