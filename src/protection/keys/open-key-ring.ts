/** The key ring that is configured. */
import { access } from 'node:fs/promises';
import { createKeyRing, type KeyRing, loadKeyRing } from './key-ring.ts';

export interface KeyRingSettings {
  keyRingFile: string;
  /** A sandbox makes one where none was named. */
  keyRingMayBeMade: boolean;
}

/**
 * The key ring that the configuration names. The sandbox, where none was named, makes one on first use.
 *
 * @throws KeyRingError as `loadKeyRing` and `createKeyRing` do
 */
export async function openKeyRing(settings: KeyRingSettings): Promise<KeyRing> {
  await makeMissingKeyRing(settings);
  return loadKeyRing(settings.keyRingFile);
}

/** Never throws: whoever reads the file then is told why there is none. */
export async function makeMissingKeyRing({ keyRingFile, keyRingMayBeMade }: KeyRingSettings): Promise<void> {
  if (!keyRingMayBeMade || (await keyRingExists(keyRingFile))) return;
  // Another process may have been faster: then its key ring is the one.
  await createKeyRing(keyRingFile).catch(() => {});
}

export function keyRingExists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
