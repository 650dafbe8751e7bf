/** Changes a key ring file: one change at a time, and each one complete or not made. */
import { realpath } from 'node:fs/promises';
import { KeyRingError } from '../errors.ts';
import { fileLock } from './file-lock.ts';
import {
  KEY_ID_FORM,
  KEY_USES,
  type KeyRingContent,
  type KeyUse,
  newKey,
  readKeyRing,
  unwrapAll,
  withSecret,
  writeKeyRing,
} from './key-ring-file.ts';
import { withKeyServices } from './kms.ts';

interface Rotated {
  use: KeyUse;
  /** The key that only decrypts from now on. */
  retired: string;
  current: string;
}

/**
 * Makes a new current key for each of these uses. The former keys decrypt for as long as they are in the file. A
 * running worker notices by itself (`WatchedKeyRing`).
 *
 * @param kms wraps the new keys; by default they are wrapped, or in the clear, as the former keys are
 * @throws KeyRingError as `readKeyRing`, and where the file cannot be replaced; `KeyServiceError`
 */
export async function rotateKeys(
  file: string,
  uses: readonly KeyUse[] = KEY_USES,
  { kms }: { kms?: string | undefined } = {},
): Promise<Rotated[]> {
  const rotated: Rotated[] = [];
  await change(file, (content) =>
    withKeyServices(async (serviceOf) => {
      const createdAt = new Date().toISOString();
      for (const use of uses) {
        const before = content.keys.find((key) => key.use === use && key.status === 'current');
        if (!before) throw new Error(`a key ring without a current ${use} key`);
        const after = await newKey({ use, createdAt }, kms ?? before.kms, serviceOf);
        before.status = 'retired';
        before.retiredAt = createdAt;
        content.keys.push(after);
        rotated.push({ use, retired: before.id, current: after.id });
      }
    }),
  );
  return rotated;
}

/**
 * Wraps every key of the ring by a key management service or, with `null`, puts them in the clear. The keys themselves
 * stay the same, so nothing that they encrypted has to change.
 *
 * @returns the ids of the keys, and the name of the wrapping key: for an alias, the key that it names
 * @throws KeyRingError as `rotateKeys`
 */
export async function rewrapKeys(file: string, kms: string | null): Promise<{ ids: string[]; wrappedBy?: string }> {
  let after: KeyRingContent['keys'] = [];
  await change(file, (content) =>
    withKeyServices(async (serviceOf) => {
      const secrets = await unwrapAll(file, content.keys, serviceOf);
      after = await Promise.all(
        content.keys.map((key, index) => withSecret(key, secrets[index] as Buffer, kms ?? undefined, serviceOf)),
      );
      content.keys = after;
    }),
  );
  const wrappedBy = after[0]?.kms;
  return { ids: after.map(({ id }) => id), ...(wrappedBy === undefined ? {} : { wrappedBy }) };
}

/**
 * Records that a key which payloads name will never come. From then on payloads under it are refused, and no run waits
 * for it any longer.
 *
 * @returns whether it was not refused before
 * @throws KeyRingError as `readKeyRing`; where the ring holds that key, or it cannot be the id of a key; and where the
 * file cannot be replaced
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

async function change(file: string, apply: (content: KeyRingContent) => void | Promise<void>): Promise<void> {
  // If the name is a link, the link stays and its target is replaced.
  const target = await realpath(file).catch(() => file);
  // Reads without the lock first, so that a missing key ring leaves no lock file.
  await readKeyRing(target);
  using _lock = await fileLock(`${target}.lock`).catch(() => {
    throw new KeyRingError(`the key ring ${file} could not be locked: its directory must be writable`);
  });
  const { content, owner } = await readKeyRing(target);
  await apply(content);
  await writeKeyRing(target, content, { owner });
}
