/** Proofs that `--proof` names: what they hold is read here, and believed by nobody before a worker has checked it. */
import { differingPaths } from '../../base/differing-paths.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { UsageError } from './errors.ts';
import { readText } from './json-input.ts';

export interface ReadProof {
  /** The compact JWS. */
  text: string;
  content: Record<string, unknown>;
}

/** @param member of the proof's payload that holds what is proved */
export async function readProof(file: string, member: 'consent' | 'decision'): Promise<ReadProof> {
  const text = (await readText(file, '--proof')).trim();
  const { decodeJwt } = await import('jose');
  try {
    const content = decodeJwt(text)[member];
    if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
      return { text, content: { ...content } };
    }
  } catch {
    // Its own message would tell where, and nobody could do anything with that.
  }
  throw new UsageError(`the file given with --proof must hold a compact JWS over {"${member}": {…}, "exp": …}`);
}

/** A worker would refuse what differs from its proof. @throws InvalidInputError */
export function requireProved(proved: object, sent: object): void {
  const rule = 'must be as the proof holds it: what is given beside --proof may not differ';
  const problems = differingPaths(proved, sent).map((path) => ({ path, rule }));
  if (problems.length > 0) throw new InvalidInputError(problems);
}
