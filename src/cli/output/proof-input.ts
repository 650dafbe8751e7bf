/** Proofs that `--proof` names. Their content is only read here; a worker checks it before it counts. */
import { differingPaths } from '../../base/differing-paths.ts';
import { isRecord } from '../../base/is-record.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { UsageError } from './errors.ts';
import { readText } from './json-input.ts';

interface ReadProof {
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
    if (isRecord(content)) return { text, content };
  } catch {
    // The parser's own message gives only a position, which helps no caller.
  }
  throw new UsageError(`the file given with --proof must hold a compact JWS over {"${member}": {…}, "exp": …}`);
}

/** A worker would refuse what differs from its proof. @throws InvalidInputError */
export function requireProved(proved: object, sent: object): void {
  const rule = 'must be as the proof holds it: options beside --proof may not differ';
  const problems = differingPaths(proved, sent).map((path) => ({ path, rule }));
  if (problems.length > 0) throw new InvalidInputError(problems);
}
