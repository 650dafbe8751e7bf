/**
 * Counts what needs a person, at intervals: from the ledger, and from the search attribute of journeys. Every
 * worker of a ledger counts the same, so that alerts take the greatest.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { inParallel } from '../base/in-parallel.ts';
import { isRunOpen } from '../client/holds/rows-as-holds.ts';
import type { Ledger } from '../ledger/port.ts';
import type { OpenWork } from '../ledger/records.ts';
import { MAY_BE_POSTED } from '../model/failure-types.ts';
import { ATTENTION_REASONS, type AttentionWord, type Metrics } from '../telemetry/metrics.ts';

interface OpenWorkOptions {
  ledger: Pick<Ledger, 'oldestOpen' | 'ping' | 'kept' | 'pauses'>;
  client: Client;
  taskQueue: string;
  metrics: Metrics;
  everyMs: number;
  /** Ends it. */
  signal: AbortSignal;
  /** Whether the search attribute NeedsAttention can be asked for. */
  knowsAttention(): Promise<boolean>;
  /** Milliseconds since the epoch; tests let time pass by it. */
  now?: () => number;
}

/** More than operators can handle in a day. Above it the counts stop growing; the oldest stays exact. */
const MAX_ROWS = 1_000;
const MAX_JOURNEYS = 1_000;
/** So many runs are asked for at a time whether they are open: a server that bills calls is not billed for a flood. */
const MAX_ASKED = 50;
const AT_ONCE = 8;
/** Asked for again this late: an open run may have ended, and a journey whose run has ended been started anew. */
const KNOWN_FOR_MS = 5 * 60_000;
/** Younger than this, the run may have taken its row up before it was listed. */
const LEFT_AFTER_MS = 5 * 60_000;

/** Nothing waits for these: their run may have closed. */
const LATE_NEWS: ReadonlySet<AttentionWord> = new Set(['lateAnswer', 'lateConsent']);

/** Counts at once and then every `everyMs`, until the signal. Never rejects: what cannot be read stands as it was. */
export async function watchOpenWork(options: OpenWorkOptions): Promise<void> {
  const runs = new KnownRuns(options.client);
  while (!options.signal.aborted) {
    await count(options, runs).catch(() => {});
    await delay(options.everyMs, undefined, { signal: options.signal, ref: false }).catch(() => {});
  }
}

async function count(options: OpenWorkOptions, runs: KnownRuns): Promise<void> {
  const { metrics } = options;
  const [rows, journeys] = await Promise.all([readLedger(options), readJourneys(options).catch(() => undefined)]);
  if (!rows) return;
  await countConsents(options).catch(() => {});
  const pauses = await options.ledger.pauses.list().catch(() => undefined);
  if (pauses) metrics.paused(pauses.some(({ ended }) => !ended));
  const attention = journeys && tally([...journeys.values()].map((reason) => ({ reason })));
  const waiting = rows.filter(({ reason }) => !LATE_NEWS.has(reason));
  await runs.learn(waiting.flatMap(({ workflowId }) => (workflowId && !journeys?.has(workflowId) ? [workflowId] : [])));
  const isGone = ({ workflowId = '' }: OpenWork) => !journeys?.has(workflowId) && runs.isGone(workflowId);
  const nowMs = (options.now ?? Date.now)();
  const counted = rows.filter((row) => LATE_NEWS.has(row.reason) || mayBePosted(row) || !isGone(row));
  const holds = tally(counted.map(({ reason, since }) => ({ reason, ageMs: Math.max(0, nowMs - Date.parse(since)) })));
  const left = waiting.filter(
    (row) => mayBePosted(row) && isGone(row) && nowMs - Date.parse(row.since) >= LEFT_AFTER_MS,
  );
  metrics.openWork({
    holds,
    attention: attention && new Map([...attention].map(([reason, { count: many }]) => [reason, many])),
    withoutRun: left.length,
  });
}

function mayBePosted({ reason }: OpenWork): boolean {
  return (MAY_BE_POSTED as readonly string[]).includes(reason);
}

/** Counts the consents that match nothing. */
async function countConsents({ ledger, metrics, now = Date.now }: OpenWorkOptions): Promise<void> {
  const found = await ledger.kept.unmatched({ limit: MAX_ROWS });
  const counts = new Map([...Map.groupBy(found, ({ unmatched }) => unmatched)].map(([word, of]) => [word, of.length]));
  const oldestMs = Math.max(0, ...found.slice(0, 1).map(({ since }) => now() - Date.parse(since)));
  metrics.unmatchedConsents({ counts, oldestMs });
}

/** `undefined` where the ledger does not answer, for which there is another metric. */
async function readLedger({ ledger, metrics }: OpenWorkOptions): Promise<OpenWork[] | undefined> {
  try {
    await ledger.ping();
    metrics.ledgerUp(true);
    return await ledger.oldestOpen(MAX_ROWS);
  } catch {
    metrics.ledgerUp(false);
    return undefined;
  }
}

/** By workflow id, why each needs a person; `undefined` where the attribute is not registered. */
async function readJourneys(options: OpenWorkOptions): Promise<Map<string, AttentionWord> | undefined> {
  const { client, taskQueue } = options;
  if (!(await options.knowsAttention())) return undefined;
  const queue = taskQueue.replaceAll("'", "''");
  const query = `NeedsAttention IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
  const journeys = new Map<string, AttentionWord>();
  for await (const { workflowId, searchAttributes } of client.workflow.list({ query, pageSize: MAX_JOURNEYS })) {
    const reason = ATTENTION_REASONS.find((one) => one === searchAttributes?.NeedsAttention?.[0]);
    if (reason) journeys.set(workflowId, reason);
    if (journeys.size >= MAX_JOURNEYS) break;
  }
  return journeys;
}

function tally(items: readonly { reason: AttentionWord; ageMs?: number }[]) {
  const found = new Map<AttentionWord, { count: number; oldestMs: number }>();
  for (const { reason, ageMs = 0 } of items) {
    const before = found.get(reason) ?? { count: 0, oldestMs: 0 };
    found.set(reason, { count: before.count + 1, oldestMs: Math.max(before.oldestMs, ageMs) });
  }
  return found;
}

/** Which runs have ended, asked for a few at a time. One that the worker has not asked for yet counts as open. */
class KnownRuns {
  readonly #client: Client;
  #known = new Map<string, { isOpen: boolean; askedAtMs: number }>();

  constructor(client: Client) {
    this.#client = client;
  }

  isGone(workflowId: string): boolean {
    return workflowId === '' || this.#known.get(workflowId)?.isOpen === false;
  }

  async learn(workflowIds: readonly string[]): Promise<void> {
    const wanted = new Set(workflowIds);
    const askedAtMs = performance.now();
    const fresh = [...this.#known].filter(
      ([id, known]) => wanted.has(id) && askedAtMs - known.askedAtMs < KNOWN_FOR_MS,
    );
    this.#known = new Map(fresh);
    const unknown = [...wanted].filter((id) => !this.#known.has(id)).slice(0, MAX_ASKED);
    await inParallel(unknown, AT_ONCE, async (id) => {
      // One that cannot be asked for counts as open.
      const isOpen = await isRunOpen(this.#client, id).catch(() => true);
      this.#known.set(id, { isOpen, askedAtMs });
    });
  }
}
