/** Clients that send in the clear, and the bytes that Temporal stores of their messages. */
import { Client, isGrpcServiceError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import type { Harness } from './journey-harness.ts';

/** Makes a client that sends in the clear and decrypts what it reads. */
export async function clearClient({ client, config }: Pick<Harness, 'client' | 'config'>): Promise<Client> {
  const { namespace } = client.options;
  const keys = await openKeyRing({ ...config, keyRingMayBeMade: false });
  const converter = createDataConverter({ keys, namespace, mode: 'client' });
  const payloadCodecs = (converter.payloadCodecs ?? []).map((codec) => ({
    encode: async (payloads: Payload[]) => payloads,
    decode: (payloads: Payload[]) => codec.decode(payloads),
  }));
  return new Client({ connection: client.connection, namespace, dataConverter: { ...converter, payloadCodecs } });
}

const GRPC_NOT_FOUND = 5;

/** Reads each event of the newest run as the server stores it, or none if no run has the id. */
export async function storedEvents({ client }: Pick<Harness, 'client'>, workflowId: string): Promise<Buffer[]> {
  try {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const { HistoryEvent } = proto.temporal.api.history.v1;
    return (events ?? []).map((event) => Buffer.from(HistoryEvent.encode(event).finish()));
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return [];
    throw error;
  }
}
