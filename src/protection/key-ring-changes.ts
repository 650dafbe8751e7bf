/** Changes to a key ring file: one at a time, and each either whole or not at all. */
import { realpath, rename } from 'node:fs/promises';
import { fileLock } from '../local/file-lock.ts';
import { KeyRingError } from './errors.ts';
import {
  KEY_ID_FORM,
  KEY_USES,
  type KeyRingContent,
  type KeyUse,
  newKey,
  readKeyRing,
  writeKeyRing,
} from './key-ring.ts';

export interface Rotated {
  use: KeyUse;
  /** The key that only decrypts from now on. */
  retired: string;
  current: string;
}

/**
 * Makes a new current key for each of these uses; the ones before decrypt for as long as they are in the file.
 * A worker that runs sees it by itself (`WatchedKeyRing`).
 *
 * @throws KeyRingError as `loadKeyRing`, and where the file cannot be replaced
 */
export async function rotateKeys(file: string, uses: readonly KeyUse[] = KEY_USES): Promise<Rotated[]> {
  const rotated: Rotated[] = [];
  await change(file, (content) => {
    const now = new Date().toISOString();
    for (const use of uses) {
      const before = content.keys.find((key) => key.use === use && key.status === 'current');
      if (!before) throw new Error(`a key ring without a current ${use} key`);
      const after = newKey(use, now);
      before.status = 'retired';
      before.retiredAt = now;
      content.keys.push(after);
      rotated.push({ use, retired: before.id, current: after.id });
    }
  });
  return rotated;
}

/**
 * Says that a key which payloads name will never come: what was encrypted under it is refused from now on, and no run
 * waits for it any longer.
 *
 * @returns whether it was not refused before
 * @throws KeyRingError as `loadKeyRing`, where the ring holds that key or it cannot be the id of one, and where the file
 *   cannot be replaced
 */
export async function refuseKey(file: string, keyId: string): Promise<boolean> {
  if (!KEY_ID_FORM.test(keyId)) throw new KeyRingError('that is not the form of a key id: take it from the alert');
  let isNew = false;
  await change(file, (content) => {
    if (content.keys.some((key) => key.id === keyId)) {
      throw new KeyRingError(
        `the key ring ${file} holds the key "${keyId}": what it encrypted can be read, and histories need it`,
      );
    }
    const refused = new Set(content.refused);
    isNew = !refused.has(keyId);
    content.refused = [...refused.add(keyId)];
  });
  return isNew;
}

async function change(file: string, apply: (content: KeyRingContent) => void): Promise<void> {
  // Where it is a link, what it points to is replaced and not the link.
  const target = await realpath(file).catch(() => file);
  // Read first without the lock: where there is no key ring, none of its files is made.
  await readKeyRing(target);
  const lock = await fileLock(`${target}.lock`).catch(() => {
    throw new KeyRingError(`the key ring ${file} could not be locked: its directory must be writable`);
  });
  try {
    const { content, owner } = await readKeyRing(target);
    apply(content);
    await writeKeyRing(target, content, (aside) => rename(aside, target), owner);
  } finally {
    lock.release();
  }
}
