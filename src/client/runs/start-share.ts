/** Starts a share of a report by itself, once: a start that is repeated finds the first. */
import type { Client } from '@temporalio/client';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type ShareReportInput, shareReport } from '../../messages/inputs/share-report.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { nameOfUser } from '../../model/stage-end-user.ts';
import { priorityOf } from '../../model/work-class.ts';
import { startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'One report shared with one secondary user. The current details say where it stands and what resolves a hold; they need a running worker.';

/** As `startOnce`. */
export function startShare(
  { client, taskQueue }: { client: Client; taskQueue: string },
  share: ShareReportInput,
): Promise<boolean> {
  const { shareId, endUserCode } = share;
  return startOnce({
    client,
    taskQueue,
    workflowType: 'shareReport',
    ownerId: ownerIdOf('share', shareId),
    input: share,
    priority: priorityOf('interactive', endUserCode),
    staticSummary: `share ${shareId} · ${nameOfUser(share)}`,
    staticDetails: STATIC_DETAILS,
    parse: (started) => parseMessage(shareReport, started),
  });
}
