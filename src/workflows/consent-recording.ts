/** What was said to a run about consent reaches the ledger before the run ends. */
import { allHandlersFinished, CancellationScope, condition, log } from '@temporalio/workflow';
import type { PreparedRun } from '../activities/contract.ts';
import type { ConsentRecord } from '../ledger/port.ts';
import { untilDone } from './activity-stubs.ts';
import { applicationFailureOf } from './flights.ts';
import type { Journey, ShareRecord } from './journey.ts';

/** Whoever is told of consents: a journey, or a share by itself. */
type ConsentKeeper = Pick<Journey, 'consents' | 'checks' | 'recordedConsents' | 'shares'>;

/**
 * What this run has posted it flags where a refusal came afterwards. What it has not posted may have been posted all
 * the same: by an attempt whose answer was lost, or before a reset made the run forget it. The ledger knows.
 */
function mayConcernPosting(share: ShareRecord | undefined): boolean {
  return share?.state !== 'posted' || share.attention !== undefined;
}

/** Everything said to the run reaches the ledger, and every handler has answered, before the run may end. */
export async function closeDown(host: ConsentKeeper, run: PreparedRun): Promise<void> {
  do {
    await recordConsents(host, run);
    await condition(allHandlersFinished);
  } while (host.checks.isBusy || unrecorded(host).length > 0);
}

/**
 * Once more, after a run's end was told: what was said while that was handed over has been accepted. The end that was
 * told stands.
 */
export async function recordWhatCameLast(host: ConsentKeeper, run: PreparedRun): Promise<void> {
  const isLeft = () => host.checks.isBusy || unrecorded(host).length > 0;
  if (!isLeft()) return;
  await CancellationScope.nonCancellable(async () => {
    while (isLeft()) await recordConsents(host, run);
  });
}

/** What the ledger knows of an earlier run, or of the time between two: it is there already. */
export function learnRefusals(
  host: Pick<ConsentKeeper, 'consents' | 'recordedConsents'>,
  refusals: readonly ConsentRecord[],
): void {
  for (const refusal of refusals) {
    host.consents.addEnding(refusal);
    host.recordedConsents.add(refusal);
  }
}

function unrecorded(host: ConsentKeeper): ConsentRecord[] {
  return host.consents.all().filter((record) => !host.recordedConsents.has(record));
}

export async function recordConsents(host: ConsentKeeper, run: PreparedRun): Promise<void> {
  if (host.checks.isBusy) await condition(() => !host.checks.isBusy);
  const consents = unrecorded(host);
  if (consents.length === 0) return;
  try {
    const summary = `recording ${consents.length} consents`;
    const refusalsAfterPosting = host.consents
      .all()
      .filter(({ shareId, decision }) => decision !== 'granted' && mayConcernPosting(host.shares.get(shareId)));
    const { ledgerId } = run;
    await untilDone('recordConsents', { summary }, { ledgerId, consents, refusalsAfterPosting });
  } catch (error) {
    if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
    // Nothing is written into a ledger that is not the run's; the messages stay readable in this history.
    log.warn('consents were not recorded: the ledger is not the one that the run has used');
  }
  for (const consent of consents) host.recordedConsents.add(consent);
}
