/** Reads from the histories of runs what they were sent and answered, as far as the client's codec decodes it. */
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';

/** The input of the newest run. */
export async function readStartInput(client: Client, workflowId: string): Promise<unknown> {
  const { history } = await client.connection.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1,
  });
  return decode(client, history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input);
}

/** A run that continued as new accepted its messages in several histories. */
const MOST_HISTORIES = 5;

/** The updates of this name that the newest run, or one that it continues, has answered. Refused ones are left out. */
export async function* readAnsweredUpdates(
  client: Client,
  workflowId: string,
  name: string,
): AsyncIterable<{ message: unknown; answer: unknown }> {
  let runId: string | undefined;
  for (let count = 0; count < MOST_HISTORIES; count++) {
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    const requests = events.flatMap((event) => [
      event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest,
      // After a reset the request is here alone.
      event.workflowExecutionUpdateAdmittedEventAttributes?.request,
    ]);
    const inputs = new Map(requests.map((request) => [request?.meta?.updateId, request?.input]));
    for (const { workflowExecutionUpdateCompletedEventAttributes: completed } of events) {
      const input = inputs.get(completed?.meta?.updateId);
      const { success } = completed?.outcome ?? {};
      if (input?.name !== name || !success) continue;
      yield { message: await decode(client, input.args), answer: await decode(client, success) };
    }
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
    if (runId === undefined) return;
  }
}

/** Decodes the first payload of a list. */
async function decode(
  { options: { loadedDataConverter: converter } }: Client,
  list: { payloads?: Payload[] | null } | null | undefined,
): Promise<unknown> {
  let payloads = list?.payloads ?? [];
  for (const codec of converter.payloadCodecs) payloads = await codec.decode(payloads);
  const [payload] = payloads;
  return payload && converter.payloadConverter.fromPayload(payload);
}
