/** The data converter that the environment asks for. */
import type { ConnectionLike } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { ClientSettings } from '../../config/config-shape.ts';
import { ConfigError } from '../../model/problems.ts';
import { keyRingExists } from '../../protection/keys/open-key-ring.ts';
import { WatchedKeyRing } from '../../protection/keys/watched-key-ring.ts';
import { createDataConverter } from '../../protection/payloads/data-converter.ts';
import { clearDataConverter } from './clear-data-converter.ts';
import type { CodecServerConnection } from './codec-server-connection.ts';

const NO_KEYS =
  'is required where KEY_RING_FILE names no key ring that is there: nothing is sent in the clear unless PAYLOAD_ENCRYPTION is off. Beside `credit-journey dev`: source .credit-journey/env';

export interface ConfiguredDataConverter {
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
