/** Describes a run for the error of a wait that timed out: its history, its ledger rows, the last log lines. */
import type { WorkflowClient, WorkflowHandle } from '@temporalio/client';
import type { DestinationStream } from 'pino';
import type { SqlRow } from '../../src/ledger/database/sql-session.ts';
import { TABLES } from '../../src/ledger/database/tables.ts';
import { openEngine } from '../../src/ledger/open-ledger.ts';

/** The number of log lines kept, of all runs in this process. */
const LINES_KEPT = 40;
/** Payloads are cut to this length, enough to recognize them. */
const PAYLOAD_LENGTH = 160;
/** pino's number for `error`. */
const ERROR_LEVEL = 50;

/** The part of a handle that waits and stories need, for any workflow. */
export type WatchedRun = Pick<WorkflowHandle, 'client' | 'workflowId' | 'query' | 'fetchHistory'>;

const ledgers = new WeakMap<WorkflowClient, string>();
const lastLines: string[] = [];

/** Says which ledger the runs of this client use. */
export function rememberLedger(client: WorkflowClient, url: string): void {
  ledgers.set(client, url);
}

/** Keeps the last log lines. Only errors go to standard error, since many tests have failing attempts. */
export const keptLines: DestinationStream = {
  write(line) {
    lastLines.push(line.trimEnd());
    if (lastLines.length > LINES_KEPT) lastLines.shift();
    if (levelOf(line) >= ERROR_LEVEL) process.stderr.write(line);
  },
};

function levelOf(line: string): number {
  return Number(/"level":(\d+)/.exec(line)?.[1] ?? ERROR_LEVEL);
}

/** Never throws. A part that cannot be read has the error instead. */
export async function storyOf(handle: WatchedRun): Promise<string> {
  const parts: [title: string, lines: () => Promise<string[]>][] = [
    [`history of ${handle.workflowId}`, () => historyInWords(handle)],
    ['rows of the ledger', () => ledgerRows(handle)],
    [`last ${lastLines.length} log lines of this process`, async () => lastLines],
  ];
  const told: string[] = [];
  for (const [title, lines] of parts) {
    const found = await lines().catch((error: unknown) => [`not readable: ${String(error)}`]);
    told.push(`${title}:`, ...found.map((line) => `  ${line}`));
  }
  return told.join('\n');
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** Lists events by their one `…EventAttributes`, and workflow tasks only if they failed or timed out. */
async function historyInWords(handle: WatchedRun): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  const begin = millisecondsOf(events?.[0]);
  return (events ?? []).flatMap((event) => {
    const [name, attributes] =
      Object.entries(event).find(([key, value]) => key.endsWith('EventAttributes') && value) ?? [];
    if (!name || /^workflowTask(Scheduled|Started|Completed)/.test(name)) return [];
    const after = ((millisecondsOf(event) - begin) / 1_000).toFixed(2);
    const what = name.replace('EventAttributes', '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return [`${String(event.eventId).padStart(4)} ${after.padStart(8)} s  ${what}${detailsOf(attributes)}`];
  });
}

function millisecondsOf(event: HistoryEvent | undefined): number {
  const { seconds, nanos } = event?.eventTime ?? {};
  return Number(seconds ?? 0) * 1_000 + Number(nanos ?? 0) / 1_000_000;
}

/** Finds the names, payloads and failures among an event's attributes. */
function detailsOf(attributes: unknown): string {
  const found: string[] = [];
  const walk = (value: unknown, key: string): void => {
    if (value === null || typeof value !== 'object') {
      const isWanted = /^(name|signalName|updateId|activityId|timerId|scheduledEventId|message|type|attempt)$/.test(
        key,
      );
      if (isWanted && value) found.push(`${key} ${value}`);
    } else if ('metadata' in value && 'data' in value) {
      const data = value.data instanceof Uint8Array ? Buffer.from(value.data).toString('utf8') : '';
      found.push(data.length > PAYLOAD_LENGTH ? `${data.slice(0, PAYLOAD_LENGTH)}…` : data);
    } else if (isLong(value)) {
      walk(String(value), key);
    } else if (key !== 'header' && key !== 'memo' && key !== 'taskQueue') {
      for (const [inner, one] of Object.entries(value)) walk(one, Array.isArray(value) ? key : inner);
    }
  };
  walk(attributes, '');
  return found.length === 0 ? '' : `: ${found.join(', ')}`;
}

/** Recognizes the server's 64-bit numbers. */
function isLong(value: object): boolean {
  return 'low' in value && 'high' in value && 'unsigned' in value;
}

/** Reads rows with the run's business id and those of its inquiries. Encrypted bytes are only counted. */
async function ledgerRows({ client, workflowId }: WatchedRun): Promise<string[]> {
  const url = ledgers.get(client);
  if (url === undefined) return ['the test gave none'];
  const businessId = workflowId.slice(workflowId.indexOf('-') + 1);
  const engine = await openEngine(url);
  try {
    return await engine.read(async (session) => {
      const all: { table: string; row: SqlRow }[] = [];
      for (const table of Object.keys(TABLES)) {
        for (const row of await session.rows(`SELECT * FROM ${table}`)) all.push({ table, row });
      }
      const ofRun = all.filter(({ row }) => Object.values(row).some((value) => String(value).includes(businessId)));
      const traces = new Set(
        ofRun.flatMap(({ row }) => (typeof row.customer_trace_number === 'string' ? [row.customer_trace_number] : [])),
      );
      return all
        .filter((one) => ofRun.includes(one) || traces.has(String(one.row.customer_trace_number)))
        .map(({ table, row }) => `${table}: ${valuesOf(row)}`);
    });
  } finally {
    await engine.close();
  }
}

function valuesOf(row: SqlRow): string {
  return Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${value instanceof Uint8Array ? `(${value.length} bytes)` : value}`)
    .join(', ');
}
