/** Operations for the operators' page alone: the signed-in caller, a search, and the story of one run in words. */

import { z } from 'zod';
import { pick } from '../base/defined.ts';
import { runInParallel } from '../base/in-parallel.ts';
import { Refusal } from '../http/refusal.ts';
import type { NamedRecord } from '../ledger/audit/audited.ts';
import type { OperatorTask } from '../ledger/holds/holds.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { instant, optionalText, refusedMessageSchema } from '../messages/journey/shapes.ts';
import { isFailureType } from '../model/failure-types.ts';
import { ENVIRONMENTS } from '../model/products.ts';
import { checkRunKey, formatRunName, KINDS, parseRunKey, toRunKey, toWorkflowId } from '../model/run-key.ts';
import {
  describeAttempt,
  describeConsent,
  describeDecision,
  describeDisposal,
  describeLateAnswer,
  describeTask,
  describeTaskEnd,
  type RecordLine,
} from '../words/records.ts';
import { type AnyStatus, describePendingDecision, describeStanding, toRunView } from '../words/runs.ts';
import { AS_TEXT } from '../words/writer.ts';
import { consents, decisions, disposals, type Listing } from './listings.ts';
import { type Call, defineOperation, type Operation } from './operation.ts';
import { isReached, reaches, toReadersReach } from './reach.ts';
import { readRun } from './run-list.ts';
import type { ApiServices } from './services.ts';

const reach = z.union([z.array(z.string()), z.literal('*')]);

const sessionSchema = z
  .object({
    by: optionalText.describe('The name that decisions are recorded under. Absent if the token names no person.'),
    scopes: z.array(z.string()),
    profiles: reach,
    endUsers: reach,
    environment: z.enum(ENVIRONMENTS),
    temporalUi: optionalText.describe('The address of the Temporal UI.'),
    runbookUrl: optionalText.describe('The address of the runbook’s pages.'),
    signOutAt: optionalText.describe('The address at which the proxy signs people out.'),
    signOut: z.boolean().describe('Whether DELETE /session signs out.'),
  })
  .meta({ id: 'session' });

const session = defineOperation({
  at: 'GET /v1/session',
  operationId: 'readSession',
  summary: 'Show what the token permits, for which runs, and in whose name',
  scope: 'holds:read',
  answer: sessionSchema,
  async run({ services, caller }) {
    const { by, scopes, signedInBy } = caller;
    const { profiles = '*', endUsers = '*' } = toReadersReach(caller);
    return {
      by,
      scopes: [...scopes],
      profiles,
      endUsers,
      ...pick(services, ['environment', 'temporalUi', 'runbookUrl']),
      signOutAt: signedInBy === 'header' ? services.signOutPath : undefined,
      signOut: signedInBy === 'cookie',
    };
  },
});

// Finds runs by their exact name, so that a caller learns nothing by trying beginnings of names.

const matchSchema = z.object({
  what: z.enum([...KINDS, 'inquiry', 'decision']),
  runKey: z.string().describe('The key of the run.'),
  customerTraceNumber: z.string().optional(),
  shareId: z.string().optional(),
  decisionId: z.string().optional(),
});
type Match = z.infer<typeof matchSchema>;

const MOST = 20;

const searchSchema = z
  .object({
    data: z.array(matchSchema).describe(`At most ${MOST}; runs first.`),
    isWhole: z.boolean().describe('false: there may be more matches. No request lists them.'),
  })
  .meta({ id: 'searchAnswer' });

const searchQuery = z.strictObject({
  q: z
    .string()
    .max(200)
    .transform((text) => text.trim())
    .pipe(z.string().min(1).max(150))
    .describe('1 to 150 characters: a whole id, also as `<kind>:<id>`.'),
});

const search = defineOperation({
  at: 'GET /v1/search',
  operationId: 'search',
  summary: 'Find runs by a whole id: of the run, of a share, an inquiry or a decision',
  description: 'The answer has only runs that the token reaches.',
  scope: 'holds:read',
  query: searchQuery,
  answer: searchSchema,
  async run(call) {
    const { q } = call.query;
    const names = KINDS.map((kind) => toRunKey(kind, q)).filter((name) => checkRunKey(name) === null);
    // No record has a name of this form. The text may be personal, so the search does not use it.
    if (names.length === 0) return { data: [], isWhole: true };
    const sources = await Promise.allSettled([findRunsNamed(call, names), recordsNamed(call, q)]);
    const matches = sources.flatMap((source) => (source.status === 'fulfilled' ? source.value : []));
    // If one source fails, the answer has the matches of the other.
    const failed = sources.find((source) => source.status === 'rejected');
    if (failed && matches.length === 0) throw failed.reason;
    const data = matches.slice(0, MOST);
    call.note({ count: data.length });
    return { data, isWhole: !failed && matches.length <= MOST };
  },
});

type Asking = Pick<Call, 'services' | 'caller'>;

/** Finds runs with these keys. */
async function findRunsNamed({ services, caller }: Asking, names: readonly string[]): Promise<Match[]> {
  const found = await runInParallel(names, KINDS.length, async (runKey) => {
    const required = await services.findRequiredReach(runKey);
    if (!required || !reaches(caller, required)) return [];
    const { kind, id, accountId } = parseRunKey(runKey);
    // A row requires the same reach as its review, which does not show that the row exists.
    if (accountId !== undefined && (await (await services.openLedger()).inquiriesOf(runKey)).length === 0) return [];
    return [{ what: kind, runKey, shareId: kind === 'share' ? id : undefined }];
  });
  return found.flat();
}

async function recordsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  if (q.includes(':')) return [];
  const records = await (await services.openLedger()).recordsNamed(q, toReadersReach(caller));
  // Without a record, the API still looks up one run, so that an unknown name takes as long as a foreign one.
  const owners = records.length === 0 ? [q] : [...new Set(records.map(({ runKey }) => runKey))];
  const mine = new Set<string>();
  await runInParallel(owners, 8, async (runKey) => {
    if (await isReached({ services, caller }, runKey)) mine.add(runKey);
  });
  // A share by itself is found as a run.
  const isOwnRun = ({ what, runKey }: NamedRecord) => what === 'share' && runKey === toRunKey('share', q);
  const reached = records.filter((record) => mine.has(record.runKey) && !isOwnRun(record));
  return reached.map((record) => (record.what === 'decision' ? { ...record, decisionId: q } : record));
}

const storySchema = z
  .object({
    asOf: instant,
    runKey: z.string(),
    headline: z.string().describe('The state of the run, in a sentence or two.'),
    state: z
      .string()
      .describe(
        'The state from the run’s status. Without a status: held, running, closed, or gone where Temporal has no such run any more.',
      ),
    lines: z
      .array(
        z.object({
          at: instant,
          text: z.string(),
          by: z.string().optional().describe('Who decided it.'),
          reason: z.string().optional().describe('Why, as that person wrote it.'),
          customerTraceNumber: z.string().optional(),
          attempt: z.int().min(0).optional(),
        }),
      )
      .describe('What has happened, the oldest first.'),
    isWhole: z.boolean().describe('false: the run has more entries of some kind than this answer lists.'),
    messages: z.array(refusedMessageSchema).describe('Messages that the run has refused: the last 50.'),
    temporalUi: z.string().optional().describe('The run’s address in the Temporal UI.'),
    fromLedger: z
      .boolean()
      .describe('true: no worker answered, or there is no run. The story is from the ledger alone.'),
  })
  .meta({ id: 'runStory' });

/** Limits the wait for a worker, since an operator looks at the page. After it the story uses the ledger alone. */
const STATUS_MS = 2_000;

const story = defineOperation({
  at: 'GET /v1/runs/{runKey}/story',
  operationId: 'readStory',
  summary: 'Tell the story of a run in words: its state, and what has happened',
  description:
    'It contains nothing personal. If no worker answers, the story is from the ledger alone, and `headline` says so.',
  scope: 'holds:read',
  answer: storySchema,
  async run({ services, params: { runKey }, sending: { signal } }) {
    const asOf = new Date().toISOString();
    const { client, temporalUi } = services;
    const ledger = await services.openLedger();
    const [asked, known] = await Promise.all([askRun(services, runKey, signal), readLedgerStory(ledger, runKey)]);
    const { status, run, isNowhere } = asked;
    if (isNowhere && known.lines.length === 0) throw new Refusal('notFound');
    const held = known.open.filter(({ kind }) => kind === 'held');
    const isClosed = run !== undefined && run.run !== 'running';
    const standing = held.length > 0 ? 'held' : isNowhere ? 'gone' : isClosed ? 'closed' : 'running';
    const [namespace, workflowId] = [client.options.namespace, toWorkflowId(runKey)].map(encodeURIComponent);
    return {
      asOf,
      runKey,
      headline: status ? describeStanding(toRunView(status)) : writeLedgerHeadline(runKey, asked, held),
      state: status?.state ?? standing,
      lines: [
        ...(run ? [{ at: run.startedAt, text: 'The run was started.' }] : []),
        ...(run?.closedAt === undefined ? [] : [{ at: run.closedAt, text: 'The run ended.' }]),
        ...known.lines,
      ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
      isWhole: known.isWhole,
      messages: status?.refusedMessages ?? [],
      temporalUi: temporalUi && run && `${temporalUi}/namespaces/${namespace}/workflows/${workflowId}`,
      fromLedger: status === undefined,
    } satisfies z.infer<typeof storySchema>;
  },
});

/** Queries the status and describes the run, both at once and with a time limit. A failed answer is left out. */
async function askRun({ journeys, client }: ApiServices, runKey: string, signal: AbortSignal) {
  // A row belongs to the run of its review, whose status covers all rows.
  const isRow = parseRunKey(runKey).accountId !== undefined;
  const [status, run] = await Promise.allSettled([
    isRow ? undefined : journeys.run(runKey).status({ signal, timeoutMs: STATUS_MS }),
    readRun(client, runKey, STATUS_MS),
  ]);
  return {
    status: status.status === 'fulfilled' ? (status.value as AnyStatus | undefined) : undefined,
    run: run.status === 'fulfilled' ? run.value : undefined,
    /** Temporal has no run with this key. */
    isNowhere: run.status === 'rejected' && run.reason instanceof Refusal,
  };
}

type RunAnswer = Awaited<ReturnType<typeof askRun>>;

/** Returns a headline from the ledger alone, and the reason why the run's status is missing. */
function writeLedgerHeadline(runKey: string, { run, isNowhere }: RunAnswer, held: readonly OperatorTask[]): string {
  const reason = isNowhere
    ? `Temporal has no run of ${formatRunName(runKey)}`
    : run && run.run !== 'running'
      ? 'The run has ended, and no worker can answer for it'
      : run
        ? 'No worker answers'
        : 'Temporal does not answer';
  const words = `${reason}: this is what the ledger has.`;
  const [first] = held;
  if (!first) return words;
  const { reason: failureType, since, productCode } = first;
  return isFailureType(failureType) && productCode !== undefined
    ? `${words} ${describePendingDecision({ failureType, since, productCode }, AS_TEXT, held.length - 1)}`
    : `${words} An operator must look at it: ${failureType}.`;
}

// The ledger's records of a run.

/** Limit for each kind of record. A journey has some dozens at most, but consents are unlimited. */
const MOST_OF_A_KIND = 500;

const MOST_OPEN = 100;

/**
 * Reads the story of a run, each kind of record for itself. The events of a review's rows are in the stories of the rows: a review may have 100,000.
 */
export async function readLedgerStory(ledger: Ledger, runKey: string) {
  const { kind, id, accountId } = parseRunKey(runKey);
  const isReview = kind === 'portfolio' && accountId === undefined;
  // Legal holds and disposals are recorded for the whole review, so they concern each row.
  const owners = accountId === undefined ? [runKey] : [runKey, toRunKey(kind, id)];
  const readLines = async <Row>({ read }: Listing, describe: (row: Row) => RecordLine, owner = runKey) =>
    (await collect<Row>(read(ledger, { runKey: owner }))).map(describe);
  const [{ rows: open, hasMore }, state, attempts, ...records] = await Promise.all([
    ledger.tasks.open({ runKey, limit: MOST_OPEN }),
    isReview ? [] : ledger.tasks.of(runKey),
    isReview ? [] : collect(ledger.inquiriesBetween({ runKey })),
    readLines(decisions, describeDecision),
    readLines(consents, describeConsent),
    ...owners.map((owner) => readLines(disposals, describeDisposal, owner)),
  ]);
  const work = isReview ? open : state;
  const lines: RecordLine[] = [
    ...attempts.flatMap((attempt) => [describeAttempt(attempt), describeLateAnswer(attempt) ?? []].flat()),
    ...records.flat(),
    ...work.slice(-MOST_OF_A_KIND).flatMap(listTaskLines),
  ];
  return {
    lines,
    /** `false` if the ledger has more records of a kind than the story. */
    isWhole: !hasMore && [attempts, work, ...records].every((of) => of.length < MOST_OF_A_KIND),
    /** Work that needs an operator now. */
    open,
  };
}

function listTaskLines(row: OperatorTask): RecordLine[] {
  const { closedAt, closedHow, since, customerTraceNumber, attempt } = row;
  const end = closedHow && describeTaskEnd(row, closedHow);
  return [
    { at: since, text: describeTask(row), customerTraceNumber, attempt },
    ...(closedAt !== undefined && end !== undefined ? [{ at: closedAt, text: end, customerTraceNumber, attempt }] : []),
  ];
}

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const record of records) if (found.push(record) === MOST_OF_A_KIND) break;
  return found;
}

export const pageOperations: readonly Operation[] = [session, search, story];
