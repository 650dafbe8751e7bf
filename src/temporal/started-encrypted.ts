import type { ConnectionLike } from '@temporalio/client';
import { wasEncrypted } from '../protection/payloads/payload-codec.ts';

/**
 * Whether the input that a run was started with came encrypted. Reads it raw from the first history event, since every
 * other reader sees it decoded.
 */
export async function startedEncrypted(
  connection: Pick<ConnectionLike, 'workflowService'>,
  namespace: string,
  execution: { workflowId: string; runId: string },
): Promise<boolean> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution,
    maximumPageSize: 1,
  });
  const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return input.length > 0 && input.every((payload) => wasEncrypted(payload));
}
