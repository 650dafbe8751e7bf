/** Rows of `approved_profile_changes`: who let runs go on under a profile's new addresses, API version or audience. */
import { utcInstant } from '../../base/instants.ts';
import { chaining, columnsOf } from '../audit/audit-chain.ts';
import type { SqlSession } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { ApprovedChange, ProfileChange } from '../profile-changes.ts';
import { insertRow } from './inquiry-writes.ts';

interface ApprovalRow {
  profile: string;
  from_fingerprint: string;
  to_fingerprint: string;
  token_url: string;
  request_url: string;
  audience: string;
  approved_by: string;
  reason: string;
  recorded_at: number;
}

/** Whether the claim's profile has changed since its run started, and nobody has approved that. */
export async function isUnapproved(
  session: SqlSession,
  profile: string,
  change: ProfileChange | undefined,
): Promise<boolean> {
  if (!change) return false;
  return (await readApproval(session, { ...change, profile })) === undefined;
}

export async function readApprovals(session: SqlSession): Promise<ApprovedChange[]> {
  const rows = await session.rows<ApprovalRow>(
    'SELECT * FROM approved_profile_changes ORDER BY recorded_at, profile, from_fingerprint, to_fingerprint',
  );
  return rows.map(approvalOf);
}

async function readApproval(
  session: SqlSession,
  { profile, from, to }: ProfileChange & { profile: string },
): Promise<ApprovedChange | undefined> {
  const [row] = await session.rows<ApprovalRow>(
    'SELECT * FROM approved_profile_changes WHERE profile = $1 AND from_fingerprint = $2 AND to_fingerprint = $3',
    [profile, from, to],
  );
  return row && approvalOf(row);
}

/** Writes the approval, unless one of this change stands. */
export async function insertApproval(
  writing: Writing,
  change: Omit<ApprovedChange, 'approvedAt'>,
): Promise<{ approval: ApprovedChange; isNew: boolean }> {
  const { session, dialect } = writing;
  let isNew = false;
  // The lock of the chain's head keeps two approvals of one change apart.
  await chaining(writing, async (append) => {
    if (await readApproval(session, change)) return;
    const columns = {
      ...{ profile: change.profile, from_fingerprint: change.from, to_fingerprint: change.to },
      ...{ token_url: change.way.tokenUrl, request_url: change.way.requestUrl, audience: change.way.audience },
      ...{ approved_by: change.by, reason: change.reason },
    };
    const row = await insertRow(session, 'approved_profile_changes', columns, {
      sql: { recorded_at: dialect.now },
      returning: columnsOf('approved_profile_changes'),
    });
    if (!row) throw new Error('an insert that returned nothing');
    await append('approved_profile_changes', row);
    isNew = true;
  });
  const approval = await readApproval(session, change);
  if (!approval) throw new Error('an approval that was not written');
  return { approval, isNew };
}

function approvalOf(row: ApprovalRow): ApprovedChange {
  return {
    ...{ profile: row.profile, from: row.from_fingerprint, to: row.to_fingerprint },
    way: { tokenUrl: row.token_url, requestUrl: row.request_url, audience: row.audience },
    ...{ by: row.approved_by, reason: row.reason, approvedAt: utcInstant(row.recorded_at) },
  };
}
