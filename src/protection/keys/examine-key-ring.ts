/** A report about a key ring's file, which works also where its keys cannot be unwrapped now. */
import { KeyServiceError } from '../errors.ts';
import { type KeyAge, keyAges } from './key-age.ts';
import { readKeyRing } from './key-ring-file.ts';
import { secretsOf } from './key-secrets.ts';
import { withKeyServices } from './kms.ts';

interface KeyRingReport {
  /** Every key, with its age and the service that wraps it; no secrets. */
  keys: KeyAge[];
  refused: readonly string[];
  /** Which keys were not unwrapped, and what to do. `null` where all were, or where the file has them in the clear. */
  problem: KeyServiceError | null;
}

/** @throws KeyRingError where the file is missing, readable by group or others, or malformed */
export async function examineKeyRing(file: string): Promise<KeyRingReport> {
  const { content } = await readKeyRing(file);
  const problem = await withKeyServices((serviceOf) => secretsOf(file, content.keys, serviceOf)).then(
    () => null,
    (error: unknown) => {
      if (error instanceof KeyServiceError) return error;
      throw error;
    },
  );
  return { keys: keyAges(content), refused: content.refused ?? [], problem };
}
