/** Finds records by their own names: a trace number, a share's id, a decision's. Each by an index. */
import type { SqlSession } from '../database/sql-session.ts';
import type { NamedRecord } from '../record-audit.ts';

interface Row {
  what: NamedRecord['what'];
  owner_id: string;
  customer_trace_number: string | null;
  share_id: string | null;
}

/** Enough to show that a name is common. */
const MOST = 20;

const OF_INQUIRY = 'i.owner_id, i.customer_trace_number, i.share_id FROM';

const SOURCES = [
  `SELECT 'inquiry' AS what, ${OF_INQUIRY} inquiries i WHERE i.customer_trace_number = $1`,
  `SELECT 'share' AS what, ${OF_INQUIRY} inquiries i WHERE i.share_id = $1`,
  // Of a share that was not sent yet.
  ...[
    ['report_shares', 'owner_id'],
    ['consents', 'journey_id'],
  ].map(
    ([
      table,
      owner,
    ]) => `SELECT DISTINCT 'share' AS what, s.${owner} AS owner_id, NULL AS customer_trace_number, s.share_id
      FROM ${table} s WHERE s.share_id = $1`,
  ),
  ...['decisions', 'attention_seen'].map(
    (table) => `SELECT 'decision' AS what, ${OF_INQUIRY} ${table} d
      JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number WHERE d.decision_id = $1`,
  ),
  `SELECT DISTINCT 'decision' AS what, d.owner_id, NULL AS customer_trace_number, d.share_id FROM run_decisions d
   WHERE d.decision_id = $1`,
];

/** As `Ledger.recordsNamed`. */
export async function readNamed(session: SqlSession, name: string): Promise<NamedRecord[]> {
  const found: NamedRecord[] = [];
  for (const source of SOURCES) {
    const rows = await session.rows<Row>(`${source} LIMIT ${MOST}`, [name]);
    found.push(...rows.map(recordOf));
  }
  const isRepeated = (record: NamedRecord, index: number) =>
    record.what === 'share' &&
    found.findIndex(({ what, ownerId }) => what === 'share' && ownerId === record.ownerId) < index;
  return found.filter((record, index) => !isRepeated(record, index)).slice(0, MOST);
}

function recordOf({ what, owner_id, customer_trace_number, share_id }: Row): NamedRecord {
  return {
    ...{ what, ownerId: owner_id },
    ...(customer_trace_number === null ? {} : { customerTraceNumber: customer_trace_number }),
    ...(share_id === null ? {} : { shareId: share_id }),
  };
}
