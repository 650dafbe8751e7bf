/** Checks what a request gives: members of the path, query and body. A handler may trust what passes. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import type { JsonObject } from '../base/json-safety.ts';
import { parseWith } from '../fields/problems.ts';
import { readJsonBody } from '../http/payload-json.ts';
import { Refusal } from '../http/refusal.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { listPathParameters, type Route } from './route.ts';

/** The deepest message has six levels. */
const MAX_BODY_DEPTH = 16;

/** PostgreSQL cannot hold it, and SQLite finds nothing by it. */
const NO_NUL = 'must not hold the character NUL';

/** @returns `undefined` where a parameter breaks its rule: there is nothing of such a name, and it does not matter why */
export function readParams(pathSchema: z.ZodObject, { params }: FastifyRequest): Record<string, string> | undefined {
  return pathSchema.safeParse(params).data as Record<string, string> | undefined;
}

/** @throws InvalidInputError: each problem names its parameter */
export function readQuery({ query }: Route, request: FastifyRequest): unknown {
  const given = request.query as Record<string, unknown>;
  const problems = Object.keys(query?.shape ?? {}).flatMap((name): Problem[] => {
    const path = `/${name}`;
    if (Array.isArray(given[name])) return [{ path, rule: 'must be given once' }];
    return String(given[name]).includes('\0') ? [{ path, rule: NO_NUL }] : [];
  });
  try {
    if (problems.length > 0) throw new InvalidInputError(problems);
    if (query) return parseWith(query, given);
    if (Object.keys(given).length > 0) throw new InvalidInputError([{ path: '', rule: 'takes no query' }]);
    return {};
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const name = ({ path }: Problem) => (path === '' ? {} : { parameter: path.slice(1) });
    throw new InvalidInputError(error.problems.map((problem) => ({ ...problem, ...name(problem) })));
  }
}

/** @throws Refusal 400 for what is no JSON object; InvalidInputError for members that are given elsewhere */
export function readBody({ path, body: schema }: Route, { body: text }: FastifyRequest): JsonObject {
  if (!schema) {
    if (text === undefined || text === null || text === '') return {};
    throw new Refusal('bodyNotTaken');
  }
  const body = readJsonBody(text, MAX_BODY_DEPTH);
  if (!isRecord(body)) throw new InvalidInputError([{ path: '', rule: 'must be an object' }]);
  const known = schema instanceof z.ZodObject ? schema.shape : {};
  const inPath: readonly string[] = listPathParameters(path);
  const problems = Object.entries(body).flatMap((member): Problem[] => {
    const [name] = member;
    if (name === 'by') return [{ path: '/by', rule: 'must not be given: the token says who acts' }];
    if (inPath.includes(name)) return [{ path: `/${name}`, rule: 'must not be given: it is in the address' }];
    // A member that the operation does not know is not named: its name is the caller's text.
    return holdsNul(member) ? [{ path: Object.hasOwn(known, name) ? `/${name}` : '', rule: NO_NUL }] : [];
  });
  if (problems.length > 0) throw new InvalidInputError(problems);
  return body as JsonObject;
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul);
}
