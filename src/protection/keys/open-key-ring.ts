/** Opens the configured key ring. */
import { access } from 'node:fs/promises';
import { createKeyRing, type KeyRing, loadKeyRing } from './key-ring.ts';

interface KeyRingSettings {
  keyRingFile: string;
  /** Whether a missing key ring may be made: in a sandbox whose configuration names none. */
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

/** Makes the key ring where it is missing. Never throws: a later read of the file gives the reason. */
export async function makeMissingKeyRing({ keyRingFile, keyRingMayBeMade }: KeyRingSettings): Promise<void> {
  if (!keyRingMayBeMade || (await keyRingExists(keyRingFile))) return;
  // Another process may have made one first; then that key ring is used.
  await createKeyRing(keyRingFile).catch(() => {});
}

export function keyRingExists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
