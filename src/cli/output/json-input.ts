/** Reads JSON from a file or from stdin. */

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { getErrorCode } from '../../base/error-code.ts';
import { isRecord } from '../../base/is-record.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { UsageError } from './errors.ts';

/** Reads `-` from stdin. Strips a byte order mark, which editors on Windows write. */
export async function readText(file: string, option: string): Promise<string> {
  const what = file === '-' ? 'standard input' : `the file given with ${option}`;
  const read = file === '-' ? text(process.stdin) : readFile(file, 'utf8');
  const given = await read.catch((error: unknown) => {
    throw new UsageError(`${what} cannot be read (${getErrorCode(error)})`);
  });
  const content = given.replace(/^\uFEFF/, '');
  if (content.trim() === '') throw new UsageError(`${what} is empty`);
  // Node decodes the two bytes of a UTF-16 mark to these characters.
  if (content.startsWith('\uFFFD\uFFFD')) throw new UsageError(`${what} must be UTF-8: it is UTF-16`);
  return content;
}

/** An object that options may add to; anything else is left for the message's own check to refuse. @throws InvalidInputError */
export async function readObject(file: string | undefined): Promise<Record<string, unknown>> {
  if (file === undefined) return {};
  const value = parseJson(await readText(file, '--file'));
  if (!isRecord(value)) throw new InvalidInputError([{ path: '', rule: 'must be an object' }]);
  return value;
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    // The parser's own message quotes the input: only the place is taken from it.
    const place = /line \d+ column \d+/.exec(error instanceof Error ? error.message : '');
    throw new InvalidInputError([{ path: '', rule: `must be JSON${place ? `; it is not from ${place[0]}` : ''}` }]);
  }
}
