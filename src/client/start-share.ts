/** Starts a share of a report by itself, once: a start that is repeated finds the first. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { redactedPointer } from '../codec-server/redaction.ts';
import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { ShareReportInput } from '../model/share-shapes.ts';
import { priorityOf } from '../model/work-class.ts';
import { parseShareReportInput } from '../validation/messages.ts';
import { ShareDiffersError } from './errors.ts';
import { startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'One report shared with one secondary user. The current details say where it stands and what resolves a hold; they need a running worker.';

/** @throws ShareDiffersError, and what `translated` makes of the SDK's errors */
export async function startShare(
  { client, taskQueue }: { client: Client; taskQueue: string },
  share: ShareReportInput,
): Promise<void> {
  const { shareId, endUserCode, endUser } = share;
  const user = [endUserCode, endUser].filter((name) => name !== undefined).join(', ');
  const isThis = await startOnce({
    client,
    taskQueue,
    workflowType: 'shareReport',
    ownerId: ownerIdOf('share', shareId),
    input: share,
    priority: priorityOf('interactive', endUserCode),
    staticSummary: `share ${shareId} · ${user}`,
    staticDetails: STATIC_DETAILS,
    isSame: (started) => isSame(started, share),
  });
  if (!isThis) throw new ShareDiffersError(shareId);
}

/** Started by others, it may be in another form that means the same; masked by a codec server, only in part known. */
function isSame(started: unknown, share: ShareReportInput): boolean {
  if (redactedPointer(started) !== null) return isDeepStrictEqual(withoutReport(started), withoutReport(share));
  try {
    return isDeepStrictEqual(parseShareReportInput(started), share);
  } catch (error) {
    // A run with an invalid input is about to fail.
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}

function withoutReport(input: unknown): object {
  const { report: _personal, ...rest } = { ...(input as object) } as { report?: unknown };
  return rest;
}
