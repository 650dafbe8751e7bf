/** The data converter that the environment asks for. */
import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter, Payload } from '@temporalio/common';
import type { ClientSettings } from '../../config/client.ts';
import { RUNS_WITH_INQUIRIES } from '../../model/owner-id.ts';
import { ConfigError } from '../../model/problems.ts';
import { keyRingExists, WatchedKeyRing } from '../../protection/keys/key-ring.ts';
import { createDataConverter } from '../../protection/payloads/data-converter.ts';
import { wasEncrypted } from '../../protection/payloads/payload-codec.ts';
import { startedEncrypted } from '../../temporal/started-encrypted.ts';
import type { CodecServerConnection } from './codec-server-connection.ts';
import { KeysMissingError } from './errors.ts';

// The data converter of a client whose `PAYLOAD_ENCRYPTION` is off.

interface Queue {
  connection: ConnectionLike;
  namespace: string;
  taskQueue: string;
}

/** Each is a call to the server. One is not enough: another caller may have started it in the clear, too. */
const MOST_LOOKED_AT = 5;
/** A gRPC status: the run was deleted meanwhile. */
const GRPC_NOT_FOUND = 5;

/**
 * Sends in the clear, unless the newest runs of the task queue are encrypted: its workers would refuse what is sent, and
 * it would stay readable in the history. The first message of a client asks for them. An answer that came encrypted
 * cannot be read.
 */
function clearDataConverter(queue: Queue): DataConverter {
  let isClear = false;
  return {
    payloadCodecs: [
      {
        encode: async (payloads: Payload[]) => {
          if (payloads.length > 0 && !isClear) {
            if (await hasEncryptedRuns(queue)) throw new KeysMissingError('nothing was sent: workers encrypt here');
            isClear = true;
          }
          return payloads;
        },
        decode: async (payloads: Payload[]) => {
          if (payloads.some(wasEncrypted)) throw new KeysMissingError('the answer is encrypted');
          return payloads;
        },
      },
    ],
  };
}

/**
 * Whether a run of the queue came encrypted. Starts in the clear that workers have refused are among the failed ones. A
 * namespace may have queues of several environments, so it does not say by itself.
 */
async function hasEncryptedRuns({ connection, namespace, taskQueue }: Queue): Promise<boolean> {
  const { executions } = await connection.workflowService.listWorkflowExecutions({
    namespace,
    // The server's own order: the newest first.
    query: `${RUNS_WITH_INQUIRIES} AND TaskQueue = '${taskQueue.replaceAll("'", "''")}' AND ExecutionStatus != 'Failed'`,
    pageSize: MOST_LOOKED_AT,
  });
  const looks = (executions ?? []).map(async ({ execution }) => {
    const { workflowId, runId } = execution ?? {};
    if (!workflowId || !runId) return false;
    return startedEncrypted(connection, namespace, { workflowId, runId }).catch((error: unknown) => {
      if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return false;
      throw error;
    });
  });
  return (await Promise.all(looks)).includes(true);
}

const NO_KEYS =
  'is required where KEY_RING_FILE names no key ring that is there: nothing is sent in the clear unless PAYLOAD_ENCRYPTION is off. Beside `credit-journey dev`: source .credit-journey/env';

interface ConfiguredDataConverter {
  dataConverter: DataConverter;
  /** The key ring that it follows: a client may run for longer than a key is current. The caller closes it. */
  keys?: WatchedKeyRing;
}

/**
 * The data converter that the environment asks for.
 *
 * @param parts `codecServer` is there wherever `payloads` asks for it
 * @throws ConfigError where there is neither a codec server nor a key ring: nothing is sent in the clear by omission;
 *   KeyRingError where there is a key ring file that cannot be used
 */
export async function configuredDataConverter(
  { payloads, temporal, taskQueue }: Pick<ClientSettings, 'payloads' | 'temporal' | 'taskQueue'>,
  { connection, codecServer }: { connection: ConnectionLike; codecServer: CodecServerConnection | undefined },
): Promise<ConfiguredDataConverter> {
  switch (payloads.kind) {
    case 'clear':
      return { dataConverter: clearDataConverter({ connection, namespace: temporal.namespace, taskQueue }) };
    case 'codecServer': {
      if (!codecServer) throw new Error('a codec server was configured, and none was connected to');
      const { createRemoteDataConverter } = await import('./remote-codec.ts');
      return { dataConverter: createRemoteDataConverter(codecServer) };
    }
    case 'keyRing': {
      if (!(await keyRingExists(payloads.file)))
        throw new ConfigError([{ variable: 'CODEC_SERVER_URL', rule: NO_KEYS }]);
      const keys = await WatchedKeyRing.open(payloads.file);
      return { dataConverter: createDataConverter({ keys, namespace: temporal.namespace, mode: 'client' }), keys };
    }
  }
}
