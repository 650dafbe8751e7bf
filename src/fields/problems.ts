/**
 * Turns zod's issues into the project's problems: a JSON pointer and a rule in our own words. zod's `unrecognized_keys`
 * message quotes the sender's key names, which may be personal, and is never passed on.
 */
import type { core, ZodType } from 'zod';
import { toJsonPointer } from '../base/differing-paths.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';

const TYPE_WORDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/**
 * Parses `value`; throws `InvalidInputError` with all problems at once.
 *
 * @param basePath JSON pointer that is put before every problem's path, for a part of a larger input
 * @param others problems that no schema finds
 */
export function parseWith<T>(schema: ZodType<T>, value: unknown, basePath = '', others: readonly Problem[] = []): T {
  // The parse-time error map sees the violated schema, which the finished issue no longer names.
  const { data, error } = schema.safeParse(value, { error: describeRule });
  const problems = [...(error?.issues ?? []).map((issue) => toProblem(issue, basePath)), ...others];
  if (problems.length > 0) throw new InvalidInputError(problems);
  return data as T;
}

/** The problems of a value that need not be put in its normal form. Compiles nothing: each run would have to. */
export function findSchemaProblems(schema: ZodType, value: unknown): Problem[] {
  const { error } = schema.safeParse(value, { error: describeRule, jitless: true });
  return (error?.issues ?? []).map((issue) => toProblem(issue, ''));
}

function toProblem(issue: core.$ZodIssue, basePath: string): Problem {
  // An invalid key of a map comes from the sender: the path names the map instead.
  const path = issue.code === 'invalid_key' ? issue.path.slice(0, -1) : issue.path;
  return { path: basePath + toJsonPointer(path), rule: issue.message };
}

/** The rule that an issue breaks, in our words. Usable as a zod error map. */
function describeRule(issue: core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${TYPE_WORDS[String(issue.expected)] ?? String(issue.expected)}`;
    case 'unrecognized_keys':
      return describeUnknownField(issue);
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return describeValueRule(issue.values.map(String));
    case 'too_small':
      return describeSizeRule(issue.origin, 'least', issue.minimum);
    case 'too_big':
      return describeSizeRule(issue.origin, 'most', issue.maximum);
    case 'invalid_key':
      return 'has a key that is not allowed';
    case 'invalid_union':
      return 'has none of the permitted forms';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'custom':
      return issue.message ?? 'is not valid';
    default:
      return 'does not have the permitted form';
  }
}

export function describeValueRule(values: readonly string[]): string {
  return values.length > 2 ? `must be one of ${values.join(', ')}` : `must be ${values.join(' or ')}`;
}

function describeUnknownField(issue: core.$ZodRawIssue): string {
  const shape = (issue as { inst?: { _zod?: { def?: { shape?: object } } } }).inst?._zod?.def?.shape;
  return `has an unknown field${shape ? `; known are ${Object.keys(shape).join(', ')}` : ''}`;
}

const UNITS: Partial<Record<string, readonly [single: string, several: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

function describeSizeRule(origin: string, bound: 'least' | 'most', size: number | bigint): string {
  const units = UNITS[origin];
  return units ? `must have at ${bound} ${size} ${units[Number(size) === 1 ? 0 : 1]}` : `must be at ${bound} ${size}`;
}
