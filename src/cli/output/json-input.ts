/** Reads JSON from a file or from stdin. */

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { getErrorCode } from '../../base/error-code.ts';
import { isRecord } from '../../base/is-record.ts';
import { ConfigError, InvalidInputError } from '../../model/problems.ts';
import type { TypedProblem } from './errors.ts';

/**
 * Reads `-` from stdin. Strips a byte order mark, which editors on Windows write.
 *
 * @param name of the option or variable that names the file
 * @param holds what the file holds
 * @throws InvalidInputError, ConfigError
 */
export async function readText(file: string, name: string, holds: string): Promise<string> {
  const read = file === '-' ? text(process.stdin) : readFile(file, 'utf8');
  const given = await read.catch((error: unknown) => {
    throw createFileError(name, `must name a file with ${holds}: this one cannot be read (${getErrorCode(error)})`);
  });
  const content = given.replace(/^\uFEFF/, '');
  const what = file === '-' ? 'standard input' : 'the file';
  if (content.trim() === '') throw createFileError(name, `must name a file with ${holds}: ${what} is empty`);
  // Node decodes the two bytes of a UTF-16 mark to these characters.
  if (content.startsWith('\uFFFD\uFFFD')) throw createFileError(name, `${what} must be UTF-8: it is UTF-16`);
  return content;
}

function createFileError(name: string, rule: string): Error {
  if (!name.startsWith('--')) return new ConfigError([{ variable: name, rule }]);
  const problem: TypedProblem = { path: '', rule, option: name };
  return new InvalidInputError([problem]);
}

/** Reads an object that options may add to. The message's own check judges its members. @throws InvalidInputError */
export async function readObject(file: string | undefined): Promise<Record<string, unknown>> {
  if (file === undefined) return {};
  const value = parseJson(await readText(file, '--file', 'the JSON of the message'));
  if (isRecord(value)) return value;
  const members = Array.isArray(value) ? ': a list is a member of it, as in {"applicants":[…]}' : '';
  throw createFileError('--file', `must be an object, with the members of the message by name${members}`);
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    // The parser's own message quotes the input: only the place is taken from it.
    const place = /line \d+ column \d+/.exec(error instanceof Error ? error.message : '');
    throw createFileError('--file', `must be JSON${place ? `; it is not from ${place[0]}` : ''}`);
  }
}
