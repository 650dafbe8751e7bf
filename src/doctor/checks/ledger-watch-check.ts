/** Whether the ledger is an older copy, by what the watch over it has seen: also before any worker has started on it. */
import { Client } from '@temporalio/client';
import { seenByWatch } from '../../client/seen-by-watch.ts';
import { inspectRestore } from '../../ledger/inspect-ledger.ts';
import type { SeenAttempt } from '../../messages/ledger-watch.ts';
import { KeyRingError } from '../../protection/errors.ts';
import { createDataConverter } from '../../protection/payloads/data-converter.ts';
import type { Check } from './check.ts';
import type { DoctorContext } from './context.ts';
import { type Finding, fail, NotCheckedError, pass } from './finding.ts';

export const ledgerWatchCheck: Check = {
  name: 'ledger-watch',
  needs: ['TEMPORAL_', 'TASK_QUEUE', 'LEDGER_'],
  async run(context) {
    const { content } = await context.ledger();
    if (!content) throw new NotCheckedError('the ledger cannot be read');
    const seen = await seenOutside(context, content.ledgerId);
    if (!seen) return pass('no worker has watched an attempt of this ledger yet');
    const { lost } = await inspectRestore(context.config.ledger.url, seen);
    return lost ? olderCopy(lost) : pass('the newest attempt that was seen is there');
  },
};

/** The finding for an older copy. */
export function olderCopy({ claimedAt }: SeenAttempt): Finding {
  return fail(
    `it is an older copy: it lacks an attempt of ${claimedAt}, and nothing is sent`,
    'bring the newest copy back; where there is none, docs/runbook/ledger-restored.md',
  );
}

async function seenOutside(context: DoctorContext, ledgerId: string): Promise<SeenAttempt | undefined> {
  const { config } = context;
  const { connection } = await context.temporal();
  const { namespace } = config.temporal;
  const keys = config.payloadsAreEncrypted ? await context.keys().catch(noKeys) : null;
  const dataConverter = keys ? createDataConverter({ keys, namespace, mode: 'client' }) : undefined;
  const client = new Client({ connection, namespace, ...(dataConverter ? { dataConverter } : {}) });
  return seenByWatch(client, { ledgerId, taskQueue: config.taskQueue });
}

function noKeys(error: unknown): never {
  throw error instanceof KeyRingError ? new NotCheckedError('the key ring cannot be used') : error;
}
