/** The key ring that is configured. */
import { access } from 'node:fs/promises';
import type { Config } from '../config-shape.ts';
import { createKeyRing, type KeyRing, loadKeyRing } from './key-ring.ts';

/**
 * The key ring that the configuration names. The sandbox, where none was named, makes one on first use.
 *
 * @throws KeyRingError as `loadKeyRing` and `createKeyRing` do
 */
export async function openKeyRing({
  keyRingFile,
  keyRingMayBeMade,
}: Pick<Config, 'keyRingFile' | 'keyRingMayBeMade'>): Promise<KeyRing> {
  const exists = await access(keyRingFile).then(
    () => true,
    () => false,
  );
  if (exists || !keyRingMayBeMade) return loadKeyRing(keyRingFile);
  // Another process may have been faster: then its key ring is the one.
  return createKeyRing(keyRingFile).catch(() => loadKeyRing(keyRingFile));
}
