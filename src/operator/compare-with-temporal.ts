/**
 * Compares the ledger's rows since an instant with Temporal's runs. Temporal's database may go
 * back in time (a backup, a region's replica that was behind). The comparison asks no worker and reads no history. The
 * ledger's watch covers the other direction (docs/protocol.md).
 */
import type { Client } from '@temporalio/client';
import { runInParallel } from '../base/in-parallel.ts';
import { describeRun } from '../client/connection/describe-run.ts';
import { translateCallError } from '../client/connection/errors.ts';
import type { AuditedAttempt, AuditedConsent, AuditedDecision } from '../ledger/audit/audited.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { parseRunKey, parseWorkflowId, toWorkflowId } from '../model/run-key.ts';

/** The ledger's records of one run since an instant. */
interface KnownOfRun {
  attempts: AuditedAttempt[];
  consents: AuditedConsent[];
  decisions: AuditedDecision[];
}

/**
 * - `noRun`: Temporal has no run that has done this, and none is open
 * - `open`: the run is open, and may have lost some of it. Each message may be sent again: the ledger recognizes it
 */
export interface ComparedRun extends KnownOfRun {
  kind: 'noRun' | 'open';
  /** The run's owner (model/run-key.ts); of a portfolio's rows, the review. */
  runKey: string;
  /** Time of the newest record. */
  lastAt: string;
}

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/**
 * @param since RFC 3339: earlier than the moment that Temporal went back to
 * @throws LedgerUnavailableError, CallError
 */
export async function compareWithTemporal(client: Client, ledger: Ledger, since: string) {
  const known = await readKnownSince(ledger, since);
  const found = await runInParallel([...known], AT_ONCE, async ([workflowId, rows]): Promise<ComparedRun[]> => {
    const runKey = parseWorkflowId(workflowId) ?? workflowId;
    const kind = await findKind({ client, ledger }, runKey, rows).catch((error: unknown) => {
      throw translateCallError(error, runKey);
    });
    const lastAt = findLastInstant(rows);
    // An open review reads its rows again and asks the ledger about each, so they need no operator.
    if (kind === 'open' && parseRunKey(runKey).kind === 'portfolio') rows.attempts = [];
    return kind ? [{ kind, runKey, ...rows, lastAt }] : [];
  });
  const runs = found.flat().sort((a, b) => (a.lastAt < b.lastAt ? -1 : 1));
  // `compared` counts the runs of which the ledger has recorded anything since then.
  return { since, compared: known.size, runs };
}

/** Reads records by workflow id. Leaves out disposed ones: they are never sent again, and their runs may be deleted. */
async function readKnownSince(ledger: Ledger, from: string): Promise<Map<string, KnownOfRun>> {
  const known = new Map<string, KnownOfRun>();
  const of = (runKey: string): KnownOfRun => {
    const workflowId = toWorkflowId(runKey);
    const rows = known.get(workflowId) ?? { attempts: [], consents: [], decisions: [] };
    known.set(workflowId, rows);
    return rows;
  };
  for await (const attempt of ledger.inquiriesBetween({ from })) {
    if (attempt.disposedAt === undefined) of(attempt.runKey).attempts.push(attempt);
  }
  for await (const consent of ledger.consentsBetween({ from })) of(consent.runKey).consents.push(consent);
  for await (const decision of ledger.decisionsBetween({ from })) {
    // `seen` is no message to a run.
    if (decision.action !== 'seen') of(decision.runKey).decisions.push(decision);
  }
  return known;
}

async function findKind(
  { client, ledger }: { client: Client; ledger: Ledger },
  runKey: string,
  { attempts }: KnownOfRun,
): Promise<ComparedRun['kind'] | undefined> {
  const run = await describeRun(client, toWorkflowId(runKey));
  if (!run) {
    // A late consent or decision about a run whose retention is over: its attempts are older.
    const isOlder = attempts.length === 0 && (await ledger.inquiriesOf(runKey)).length > 0;
    return isOlder ? undefined : 'noRun';
  }
  if (run.status.name === 'RUNNING' || run.status.name === 'PAUSED') return 'open';
  // The ledger alone has messages after a run's end. But attempts claimed after its end belong to a lost run.
  const closedAtMs = run.closeTime?.getTime() ?? 0;
  return attempts.some(({ claimedAt }) => Date.parse(claimedAt) > closedAtMs) ? 'noRun' : undefined;
}

function findLastInstant({ attempts, consents, decisions }: KnownOfRun): string {
  const times = [
    ...attempts.map(({ claimedAt }) => claimedAt),
    ...[...consents, ...decisions].map(({ recordedAt }) => recordedAt),
  ];
  return times.sort().at(-1) ?? '';
}

/** Has open runs read their consents from the ledger: Temporal may have lost the messages that brought them. */
export async function sendConsents(client: Client, runs: readonly ComparedRun[]) {
  const failed: { runKey: string; error: string }[] = [];
  const open = runs.filter(({ kind, consents }) => kind === 'open' && consents.length > 0);
  await runInParallel(open, AT_ONCE, async ({ runKey }) => {
    try {
      await client.workflow.getHandle(toWorkflowId(runKey)).signal('lookUpConsents');
    } catch (error) {
      const translated = translateCallError(error, runKey);
      // Any other error's message may quote anything.
      if (!(translated instanceof CreditJourneyError)) throw error;
      failed.push({ runKey, error: translated.message });
    }
  });
  return { sent: open.length - failed.length, failed };
}
