/**
 * Finds runs, and events in runs, that the ledger has and Temporal has lost. Temporal's database may go back in time (a
 * backup, a region's replica that was behind). The comparison asks no worker: it reads the ledger's rows since an
 * instant, and the histories of their runs. The ledger's watch covers the other direction (docs/protocol.md).
 */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { inParallel } from '../base/in-parallel.ts';
import { translatedError } from '../client/connection/errors.ts';
import type {
  AuditedAttempt,
  AuditedConsent,
  AuditedDecision,
  AuditedShareWithdrawal,
} from '../ledger/audit/audited.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseRunKey, runKeyFromWorkflowId, toWorkflowId } from '../model/run-key.ts';
import { type HistoryWords, wordsOfRun } from './history-words.ts';

/** The ledger's records of one run, or some of them. */
export interface KnownOfRun {
  attempts: AuditedAttempt[];
  consents: AuditedConsent[];
  decisions: AuditedDecision[];
  withdrawnShares: AuditedShareWithdrawal[];
}

/**
 * - `noRun`: Temporal has no run that has done this, and none is open
 * - `behind`: the run is open, and its history lacks records of the ledger
 */
export interface BehindRun extends KnownOfRun {
  kind: 'noRun' | 'behind';
  /** The run's owner (model/run-key.ts); of a portfolio's rows, the review. */
  runKey: string;
  /** When the ledger took the newest of it. */
  lastAt: string;
}

export interface ComparedWithTemporal {
  /** RFC 3339. */
  since: string;
  /** Runs of which the ledger has taken anything since then. */
  compared: number;
  /** The oldest first. */
  behind: BehindRun[];
}

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/**
 * Compares what the ledger has taken since an instant with Temporal's histories. Reads only.
 *
 * @param since RFC 3339: earlier than the moment that Temporal went back to
 * @throws LedgerUnavailableError, TemporalUnavailableError; KeyRingError where a payload's key is gone
 */
export async function compareWithTemporal(
  client: Client,
  ledger: Ledger,
  since: string,
): Promise<ComparedWithTemporal> {
  const known = await knownSince(ledger, since);
  const found = await inParallel([...known], AT_ONCE, async ([workflowId, rows]) => {
    const runKey = runKeyFromWorkflowId(workflowId) ?? workflowId;
    try {
      const kind = await findBehind({ client, ledger }, workflowId, rows);
      return kind ? [{ ...kind, runKey, lastAt: findLastInstant(kind) }] : [];
    } catch (error) {
      throw translatedError(error, runKey);
    }
  });
  const behind = found.flat().sort((a, b) => (a.lastAt < b.lastAt ? -1 : 1));
  return { since, compared: known.size, behind };
}

/** By workflow id, without disposed records: these are never sent again, and their runs are rightly gone. */
async function knownSince(ledger: Ledger, from: string): Promise<Map<string, KnownOfRun>> {
  const known = new Map<string, KnownOfRun>();
  const of = (runKey: string): KnownOfRun => {
    const workflowId = toWorkflowId(runKey);
    const rows = known.get(workflowId) ?? { attempts: [], consents: [], decisions: [], withdrawnShares: [] };
    known.set(workflowId, rows);
    return rows;
  };
  for await (const attempt of ledger.inquiriesBetween({ from })) {
    if (attempt.disposedAt === undefined) of(attempt.runKey).attempts.push(attempt);
  }
  for await (const consent of ledger.consentsBetween({ from })) of(consent.journeyId).consents.push(consent);
  for await (const decision of ledger.decisionsBetween({ from })) {
    // `seen` is no message to a run.
    if (decision.action !== 'seen') of(decision.runKey).decisions.push(decision);
  }
  for await (const share of ledger.withdrawnSharesBetween({ from })) of(share.runKey).withdrawnShares.push(share);
  return known;
}

async function findBehind(
  { client, ledger }: { client: Client; ledger: Ledger },
  workflowId: string,
  rows: KnownOfRun,
): Promise<(KnownOfRun & Pick<BehindRun, 'kind'>) | undefined> {
  const run = await latestRun(client, workflowId);
  if (!run) {
    // A late consent or decision about a run whose retention is over: its attempts are older.
    const isOlder = rows.attempts.length === 0 && (await hasInquiries(ledger, workflowId));
    return isOlder ? undefined : { kind: 'noRun', ...rows };
  }
  const lacking = lackingIn(await wordsOfRun(client, { workflowId, runId: run.runId }), rows, workflowId);
  if (run.isOpen) return countRecords(lacking) > 0 ? { kind: 'behind', ...lacking } : undefined;
  // The ledger alone has messages after a run's end. But attempts claimed after its end belong to a lost run.
  const attempts = lacking.attempts.filter(({ claimedAt }) => Date.parse(claimedAt) > run.closedAtMs);
  return attempts.length > 0 ? { kind: 'noRun', ...lacking, attempts } : undefined;
}

async function hasInquiries(ledger: Ledger, workflowId: string): Promise<boolean> {
  const runKey = runKeyFromWorkflowId(workflowId);
  return runKey !== null && (await ledger.inquiriesOf(runKey)).length > 0;
}

interface LatestRun {
  runId: string;
  isOpen: boolean;
  /** Milliseconds since the epoch, if the run has closed. */
  closedAtMs: number;
}

async function latestRun(client: Client, workflowId: string): Promise<LatestRun | undefined> {
  try {
    const { runId, status, closeTime } = await client.workflow.getHandle(workflowId).describe();
    const isOpen = status.name === 'RUNNING' || status.name === 'PAUSED';
    return { runId, isOpen, closedAtMs: closeTime?.getTime() ?? 0 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function lackingIn(words: HistoryWords, rows: KnownOfRun, workflowId: string): KnownOfRun {
  const { kind } = parseRunKey(runKeyFromWorkflowId(workflowId) ?? '');
  return {
    // A review reads its rows again and asks the ledger about each, so it needs no operator.
    attempts:
      kind === 'portfolio'
        ? []
        : rows.attempts.filter(
            (attempt) =>
              !words.hasAttempt(attempt) && !words.hasAskedSince(attempt.customerTraceNumber, attempt.claimedAt),
          ),
    consents: rows.consents.filter((consent) => !words.hasConsent(consent)),
    decisions: rows.decisions.filter(
      ({ decisionId, customerTraceNumber, recordedAt }) =>
        !words.hasDecision(decisionId) &&
        (customerTraceNumber === undefined || !words.hasAskedSince(customerTraceNumber, recordedAt)),
    ),
    withdrawnShares: rows.withdrawnShares.filter((share) => !words.hasWithdrawal(share)),
  };
}

function countRecords({ attempts, consents, decisions, withdrawnShares }: KnownOfRun): number {
  return attempts.length + consents.length + decisions.length + withdrawnShares.length;
}

function findLastInstant({ attempts, consents, decisions, withdrawnShares }: KnownOfRun): string {
  const times = [
    ...attempts.map(({ claimedAt }) => claimedAt),
    ...[...consents, ...decisions, ...withdrawnShares].map(({ recordedAt }) => recordedAt),
  ];
  return times.sort().at(-1) ?? '';
}
