/** The data converter that the environment asks for. */
import type { DataConverter, Payload } from '@temporalio/common';
import type { ClientSettings } from '../../config/config-shape.ts';
import { keyRingExists } from '../../protection/keys/open-key-ring.ts';
import { WatchedKeyRing } from '../../protection/keys/watched-key-ring.ts';
import { createDataConverter } from '../../protection/payloads/data-converter.ts';
import { wasEncrypted } from '../../protection/payloads/payload-codec.ts';
import type { CodecServerConnection } from './codec-server-connection.ts';
import { KeysMissingError } from './errors.ts';

export interface ConfiguredDataConverter {
  dataConverter: DataConverter;
  /** The key ring that it follows: a client may run for longer than a key is current. The caller closes it. */
  keys?: WatchedKeyRing;
}

/**
 * The data converter that the environment asks for.
 *
 * @param codecServer there wherever `payloads` asks for it
 * @throws KeyRingError where there is a key ring file that cannot be used
 */
export async function configuredDataConverter(
  { payloads, temporal }: Pick<ClientSettings, 'payloads' | 'temporal'>,
  codecServer: CodecServerConnection | undefined,
): Promise<ConfiguredDataConverter> {
  switch (payloads.kind) {
    case 'clear':
      return { dataConverter: WITHOUT_KEYS };
    case 'codecServer': {
      if (!codecServer) throw new Error('a codec server was configured, and none was connected to');
      const { createRemoteDataConverter } = await import('./remote-codec.ts');
      return { dataConverter: createRemoteDataConverter(codecServer) };
    }
    case 'keyRing': {
      if (payloads.mayBeMissing && !(await keyRingExists(payloads.file))) return { dataConverter: WITHOUT_KEYS };
      const keys = await WatchedKeyRing.open(payloads.file);
      return { dataConverter: createDataConverter({ keys, namespace: temporal.namespace, mode: 'client' }), keys };
    }
  }
}

/** Sends in the clear, and says what is missing where an answer came encrypted. */
const WITHOUT_KEYS: DataConverter = {
  payloadCodecs: [
    {
      encode: async (payloads: Payload[]) => payloads,
      decode: async (payloads: Payload[]) => {
        if (payloads.some(wasEncrypted)) throw new KeysMissingError();
        return payloads;
      },
    },
  ],
};
