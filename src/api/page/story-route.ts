/** Describes one run in words: its state and its history. */
import { z } from 'zod';
import { Refusal } from '../../http/refusal.ts';
import type { WorkEnd, WorkRow } from '../../ledger/holds/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { refusedMessageSchema } from '../../messages/journey/shapes.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { formatRunName, parseRunKey, toRunKey, toWorkflowId } from '../../model/run-key.ts';
import { consents, decisions, disposals } from '../../operations/listings.ts';
import type { Listing } from '../../operations/operation.ts';
import {
  describeAttempt,
  describeConsent,
  describeDecision,
  describeDisposal,
  describeLateAnswer,
  describeWork,
  describeWorkEnd,
  type RecordLine,
} from '../../words/records.ts';
import { type AnyStatus, describePendingDecision, describeStanding, toRunView } from '../../words/runs.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { type ListedRun, readRun } from '../lists/runs.ts';
import { defineRoute, type Route } from '../route.ts';
import type { ApiServices } from '../services.ts';

const instant = z.string().meta({ format: 'date-time' });

const storySchema = z
  .object({
    asOf: instant,
    runKey: z.string(),
    headline: z.string().meta({ description: 'The state of the run, in a sentence or two.' }),
    state: z
      .string()
      .meta({ description: 'The state from the run’s status. Without a status: held, running, closed or lost.' }),
    lines: z
      .array(
        z.object({
          at: instant,
          text: z.string(),
          by: z.string().optional().meta({ description: 'Who decided it.' }),
          reason: z.string().optional().meta({ description: 'Why, as that person wrote it.' }),
          customerTraceNumber: z.string().optional(),
          attempt: z.int().min(0).optional(),
        }),
      )
      .meta({ description: 'What has happened, the oldest first.' }),
    isWhole: z.boolean().meta({ description: 'false: the run has more entries of some kind than this answer lists.' }),
    messages: z.array(refusedMessageSchema).meta({ description: 'Messages that the run has refused: the last 50.' }),
    temporalUi: z.string().optional().meta({ description: 'The run’s address in the Temporal UI.' }),
    fromLedger: z
      .boolean()
      .meta({ description: 'true: no worker answered, or there is no run. The story is from the ledger alone.' }),
  })
  .meta({ id: 'runStory' });

type Story = z.infer<typeof storySchema>;

/** Limits the wait for a worker, since an operator looks at the page. After it the story uses the ledger alone. */
const STATUS_MS = 2_000;

export const storyRoutes: readonly Route[] = [
  defineRoute({
    at: 'GET /v1/runs/{runKey}/story',
    operationId: 'readStory',
    summary: 'Tell the story of a run in words: its state, and what has happened',
    description:
      'It contains nothing personal. If no worker answers, the story is from the ledger alone, and `headline` says so.',
    scope: 'holds:read',
    answer: storySchema,
    async run({ services, params, sending: { signal } }) {
      const { runKey } = params;
      const asOf = new Date().toISOString();
      const ledger = await services.openLedger();
      const [run, told] = await Promise.all([askRun(services, runKey, signal), readLedgerStory(ledger, runKey)]);
      if (run.isNowhere && told.lines.length === 0) throw new Refusal('notFound');
      return { asOf, ...buildStory(services, runKey, run, told) };
    },
  }),
];

interface RunAnswer {
  status: AnyStatus | undefined;
  run: ListedRun | undefined;
  /** Temporal has no run with this key. */
  isNowhere: boolean;
}

/** Queries the status and describes the run, both at once and with a time limit. A failed answer is left out. */
async function askRun({ journeys, client }: ApiServices, runKey: string, signal: AbortSignal): Promise<RunAnswer> {
  // A row belongs to the run of its review, whose status covers all rows.
  const isRow = parseRunKey(runKey).accountId !== undefined;
  const [status, run] = await Promise.allSettled([
    isRow ? undefined : journeys.run(runKey).status({ signal, timeoutMs: STATUS_MS }),
    readRun(client, runKey, STATUS_MS),
  ]);
  return {
    status: status.status === 'fulfilled' ? (status.value as AnyStatus | undefined) : undefined,
    run: run.status === 'fulfilled' ? run.value : undefined,
    isNowhere: run.status === 'rejected' && run.reason instanceof Refusal,
  };
}

function buildStory(
  { client, temporalUi }: ApiServices,
  runKey: string,
  answer: RunAnswer,
  { lines, isWhole, open }: LedgerStory,
): Omit<Story, 'asOf'> {
  const { status, run, isNowhere } = answer;
  const held = open.filter(({ kind }) => kind === 'held');
  const isClosed = run !== undefined && run.run !== 'running';
  const standing = held.length > 0 ? 'held' : isNowhere ? 'lost' : isClosed ? 'closed' : 'running';
  const address = `/namespaces/${encodeURIComponent(client.options.namespace)}/workflows/${encodeURIComponent(toWorkflowId(runKey))}`;
  return {
    runKey,
    headline: status ? describeStanding(toRunView(status)) : writeLedgerHeadline(runKey, answer, held),
    state: status?.state ?? standing,
    lines: sortLines([
      ...(run ? [{ at: run.startedAt, text: 'The run was started.' }] : []),
      ...(run?.closedAt === undefined ? [] : [{ at: run.closedAt, text: 'The run ended.' }]),
      ...lines,
    ]),
    isWhole,
    messages: status?.refusedMessages ?? [],
    temporalUi: temporalUi === undefined || !run ? undefined : `${temporalUi}${address}`,
    fromLedger: status === undefined,
  };
}

/** Returns a headline from the ledger alone, and the reason why the run's status is missing. */
function writeLedgerHeadline(runKey: string, { run, isNowhere }: RunAnswer, held: LedgerStory['open']): string {
  const [first] = held;
  const why = isNowhere
    ? `Temporal has no run of ${formatRunName(runKey)}: this is what the ledger has.`
    : run && run.run !== 'running'
      ? 'The run has ended, and no worker can answer for it: this is what the ledger has.'
      : `${run ? 'No worker answers' : 'Temporal does not answer'}: this is what the ledger has.`;
  return first ? `${why} ${describeHeld(first, held.length - 1)}` : why;
}

function describeHeld({ reason, since, productCode }: WorkRow, others: number): string {
  return isFailureType(reason) && productCode !== undefined
    ? describePendingDecision({ failureType: reason, since, productCode }, AS_TEXT, others)
    : `An operator must look at it: ${reason}.`;
}

// The ledger's records of a run.

type LedgerWork = (WorkRow & { closed?: WorkEnd })[];

interface LedgerStory {
  /** Oldest first. */
  lines: RecordLine[];
  /** `false` if the ledger has more records of a kind than the story. */
  isWhole: boolean;
  /** Work that needs an operator now. */
  open: WorkRow[];
}

/** Limit for each kind of record. A journey has some dozens at most, but consents are unlimited. */
const MOST_OF_A_KIND = 500;

const MOST_OPEN = 100;

/**
 * Reads the story of a run. The events of a review's rows are in the stories of the rows: a review may have 100,000.
 */
export async function readLedgerStory(ledger: Ledger, runKey: string): Promise<LedgerStory> {
  const { kind, id, accountId } = parseRunKey(runKey);
  const isReview = kind === 'portfolio' && accountId === undefined;
  // Legal holds and disposals are recorded for the whole review, so they concern each row.
  const owners = accountId === undefined ? [runKey] : [runKey, toRunKey(kind, id)];
  const readLines = async <Row>({ read }: Listing, describe: (row: Row) => RecordLine, owner = runKey) =>
    (await collect<Row>(read(ledger, { runKey: owner }))).map(describe);
  const [{ rows: open, hasMore }, state, attempts, ...records] = await Promise.all([
    ledger.work.open({ runKey, limit: MOST_OPEN }),
    isReview ? [] : ledger.work.of(runKey),
    isReview ? [] : collect(ledger.inquiriesBetween({ runKey })),
    readLines(decisions, describeDecision),
    readLines(consents, describeConsent),
    ...owners.map((owner) => readLines(disposals, describeDisposal, owner)),
  ]);
  const work: LedgerWork = isReview ? open : state;
  const lines: RecordLine[] = [
    ...attempts.flatMap((attempt) => [describeAttempt(attempt), describeLateAnswer(attempt) ?? []].flat()),
    ...records.flat(),
    ...work.slice(-MOST_OF_A_KIND).flatMap(listWorkLines),
  ];
  return {
    lines: sortLines(lines),
    isWhole: !hasMore && [attempts, work, ...records].every((of) => of.length < MOST_OF_A_KIND),
    open,
  };
}

function sortLines(lines: readonly RecordLine[]): RecordLine[] {
  return lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function listWorkLines(row: LedgerWork[number]): RecordLine[] {
  const { closed } = row;
  const end = closed && describeWorkEnd(row, closed);
  return [
    { at: row.since, text: describeWork(row), ...pickNames(row) },
    ...(closed && end !== undefined ? [{ at: closed.at, text: end, ...pickNames(row) }] : []),
  ];
}

function pickNames({ customerTraceNumber, attempt }: Pick<RecordLine, 'customerTraceNumber' | 'attempt'>) {
  return { customerTraceNumber, attempt };
}

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const record of records) {
    found.push(record);
    if (found.length === MOST_OF_A_KIND) break;
  }
  return found;
}
