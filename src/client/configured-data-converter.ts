import { access } from 'node:fs/promises';
import type { DataConverter, Payload } from '@temporalio/common';
import type { ClientSettings } from '../config-shape.ts';
import { createDataConverter } from '../protection/data-converter.ts';
import { loadKeyRing } from '../protection/key-ring.ts';
import { wasEncrypted } from '../protection/payload-codec.ts';
import { KeysMissingError } from './errors.ts';

/**
 * The data converter that the environment asks for.
 *
 * @throws KeyRingError where there is a key ring file that cannot be used
 */
export async function configuredDataConverter({
  payloadsAreEncrypted,
  keyRingFile,
  temporal,
}: Pick<ClientSettings, 'payloadsAreEncrypted' | 'keyRingFile' | 'temporal'>): Promise<DataConverter> {
  if (!payloadsAreEncrypted || keyRingFile === undefined || !(await exists(keyRingFile))) return WITHOUT_KEYS;
  const keys = await loadKeyRing(keyRingFile);
  return createDataConverter({ keys, namespace: temporal.namespace, mode: 'client' });
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

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
