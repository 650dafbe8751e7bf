/**
 * Compares the ledger's rows since an instant with Temporal's runs. Temporal's database may go
 * back in time (a backup, a region's replica that was behind). The comparison asks no worker and reads no history. The
 * ledger's watch covers the other direction (docs/protocol.md).
 */
import type { Client } from '@temporalio/client';
import { runInParallel } from '../base/in-parallel.ts';
import { translateCallError } from '../client/connection/errors.ts';
import { describeRun, isOpen } from '../client/connection/temporal-runs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { parseRunKey, parseWorkflowId, toWorkflowId } from '../model/run-key.ts';

/**
 * Counts what the ledger has recorded of one run since an instant. The lists of records have the rows.
 *
 * - `noRun`: Temporal has no run that has done this, and none is open
 * - `open`: the run is open, and may have lost some of it. Each message may be sent again: the ledger recognizes it
 */
export interface ComparedRun extends Omit<typeof NOTHING_KNOWN, 'lastClaimedAt'> {
  kind: 'noRun' | 'open';
  /** The run's owner (model/run-key.ts); of a portfolio's rows, the review. */
  runKey: string;
}

const NOTHING_KNOWN = { lastAt: '', lastClaimedAt: '', attempts: 0, consents: 0, decisions: 0 };

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/**
 * @param since RFC 3339: earlier than the moment that Temporal went back to
 * @throws LedgerUnavailableError, CallError
 */
export async function compareWithTemporal(client: Client, ledger: Ledger, since: string) {
  const known = await readKnownSince(ledger, since);
  const found = await runInParallel([...known], AT_ONCE, async ([workflowId, { lastClaimedAt, ...counts }]) => {
    const runKey = parseWorkflowId(workflowId) ?? workflowId;
    const kind = await findKind({ client, ledger }, runKey, lastClaimedAt).catch((error: unknown) => {
      throw translateCallError(error, runKey);
    });
    // An open review reads its rows again and asks the ledger about each, so they need no operator.
    if (kind === 'open' && parseRunKey(runKey).kind === 'portfolio') counts.attempts = 0;
    return kind ? [{ kind, runKey, ...counts }] : [];
  });
  const runs: ComparedRun[] = found.flat().sort((a, b) => (a.lastAt < b.lastAt ? -1 : 1));
  // `compared` counts the runs of which the ledger has recorded anything since then.
  return { since, compared: known.size, runs };
}

async function readKnownSince(ledger: Ledger, from: string) {
  const known = new Map<string, typeof NOTHING_KNOWN>();
  const unseen = new Set<string>();
  for await (const { runKey } of ledger.unmatchedBetween({ from })) unseen.add(runKey);
  const sources = {
    attempts: ledger.inquiriesBetween({ from }),
    consents: ledger.consentsBetween({ from }),
    decisions: ledger.decisionsBetween({ from }),
  };
  for (const [name, rows] of Object.entries(sources)) {
    for await (const row of rows as AsyncIterable<Partial<Record<string, string>>>) {
      const { runKey = '', claimedAt = '', recordedAt = claimedAt, disposedAt, action, unmatched } = row;
      // Disposed attempts are never sent again, and their runs may be deleted. `seen` is no message to a run.
      if (disposedAt !== undefined || action === 'seen') continue;
      // A person has seen that this consent names a wrong run. Other consents may not be listed yet.
      if (unmatched === parseRunKey(runKey).kind && !unseen.has(runKey)) continue;
      const workflowId = toWorkflowId(runKey);
      const counts = known.get(workflowId) ?? { ...NOTHING_KNOWN };
      counts[name as keyof typeof sources]++;
      if (recordedAt > counts.lastAt) counts.lastAt = recordedAt;
      if (claimedAt > counts.lastClaimedAt) counts.lastClaimedAt = claimedAt;
      known.set(workflowId, counts);
    }
  }
  return known;
}

async function findKind(
  { client, ledger }: { client: Client; ledger: Ledger },
  runKey: string,
  lastClaimedAt: string,
): Promise<ComparedRun['kind'] | undefined> {
  const run = await describeRun(client, toWorkflowId(runKey));
  if (!run) {
    // A late consent or decision about a run whose retention is over: its attempts are older.
    const isOlder = lastClaimedAt === '' && (await ledger.inquiriesOf(runKey)).length > 0;
    return isOlder ? undefined : 'noRun';
  }
  if (isOpen(run)) return 'open';
  // The ledger alone has messages after a run's end. But attempts claimed after its end belong to a lost run.
  return Date.parse(lastClaimedAt) > (run.closeTime?.getTime() ?? 0) ? 'noRun' : undefined;
}

/** Has open runs read their consents from the ledger: Temporal may have lost the messages that brought them. */
export async function sendConsents(client: Client, runs: readonly ComparedRun[]) {
  const failed: { runKey: string; error: string }[] = [];
  const open = runs.filter(({ kind, consents }) => kind === 'open' && consents > 0);
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
