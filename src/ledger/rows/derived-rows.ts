/** Rows of `derived_documents`: sealed like reports, and destroyed with either report that they are derived from. */
import type { Sealed } from '../../protection/sealed/sealing.ts';
import { placesOf, type SqlSession } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { DerivedDocument, ReportOrigin } from '../records.ts';
import { insertRow } from './inquiry-writes.ts';

/** Replaces an earlier row: the document is derived again from the same reports, and sealed under a key of its own. */
export async function insertDerived(
  { session, dialect }: Writing,
  { kind, of, from }: DerivedDocument,
  sealed: Sealed,
): Promise<void> {
  const replaced = ['from_trace_number', 'from_attempt', 'algorithm', 'body', 'key_id', 'wrapped_key', 'stored_at'];
  await insertRow(
    session,
    'derived_documents',
    {
      customer_trace_number: of.customerTraceNumber,
      attempt: of.attempt,
      kind,
      from_trace_number: from.customerTraceNumber,
      from_attempt: from.attempt,
      algorithm: sealed.algorithm,
      body: sealed.body,
      key_id: sealed.keyId,
      wrapped_key: sealed.wrappedKey,
    },
    {
      sql: { stored_at: dialect.now },
      onConflict: `ON CONFLICT (customer_trace_number, attempt, kind) DO UPDATE
        SET ${replaced.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    },
  );
}

/** The ledger's id, and when the first of these inquiries was disposed of; `null` where none was. */
export async function disposalOfAny(
  session: SqlSession,
  customerTraceNumbers: readonly string[],
): Promise<{ ledgerId: string; disposedAtMs: number | null }> {
  const [row] = await session.rows<{ ledger_id: string; disposed_at: number | null }>(
    `SELECT ledger_id, (SELECT min(disposed_at) FROM inquiries
       WHERE customer_trace_number IN (${placesOf(customerTraceNumbers)})) AS disposed_at FROM ledger_identity`,
    customerTraceNumbers,
  );
  return { ledgerId: row?.ledger_id ?? 'none', disposedAtMs: row?.disposed_at ?? null };
}

type FoundDerived =
  | { of: ReportOrigin; from: ReportOrigin; storedAtMs: number; sealed: Sealed; disposedAtMs?: never }
  | { disposedAtMs: number };

/** The document about the newest report, which may have been destroyed; `null` where there never was one. */
export async function newestDerived(
  session: SqlSession,
  ownerId: string,
  kind: DerivedDocument['kind'],
): Promise<FoundDerived | null> {
  const [row] = await session.rows<DerivedRow>(
    `SELECT d.*, i.disposed_at, f.disposed_at AS from_disposed_at FROM derived_documents d
     JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
     JOIN inquiries f ON f.customer_trace_number = d.from_trace_number
     WHERE i.owner_id = $1 AND d.kind = $2 ORDER BY d.stored_at DESC, i.ordinal DESC, d.attempt DESC LIMIT 1`,
    [ownerId, kind],
  );
  if (!row) return null;
  const { body, key_id: keyId, wrapped_key: wrappedKey } = row;
  if (body === null || keyId === null || wrappedKey === null) {
    return { disposedAtMs: Math.max(row.disposed_at ?? 0, row.from_disposed_at ?? 0) };
  }
  return {
    of: { customerTraceNumber: row.customer_trace_number, attempt: row.attempt },
    from: { customerTraceNumber: row.from_trace_number, attempt: row.from_attempt },
    storedAtMs: row.stored_at,
    sealed: { algorithm: row.algorithm, body, keyId, wrappedKey },
  };
}

interface DerivedRow {
  customer_trace_number: string;
  attempt: number;
  from_trace_number: string;
  from_attempt: number;
  stored_at: number;
  algorithm: string;
  body: Uint8Array | null;
  key_id: string | null;
  wrapped_key: Uint8Array | null;
  disposed_at: number | null;
  from_disposed_at: number | null;
}
