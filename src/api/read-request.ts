/** From what Fastify hands over to what a handler may trust: members of the path, query and body. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import type { JsonObject } from '../base/json-safety.ts';
import { parseWith } from '../fields/problems.ts';
import { readJsonBody } from '../http/payload-json.ts';
import { Refusal } from '../http/refusal.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { findMisplacedMembers, PATH_PARAMETERS, parametersIn, type Route } from './route.ts';

/** The deepest message has six levels. */
const MAX_BODY_DEPTH = 16;

const NO_NUL = 'must not hold the character NUL';

/** @throws Refusal 404: there is nothing of such a name, and it does not matter why */
export function readParams(route: Route, request: FastifyRequest): Record<string, string> | undefined {
  const params = request.params as Record<string, string>;
  const isGood = parametersIn(route.path).every((name) => PATH_PARAMETERS[name].problem(params[name] ?? '') === null);
  return isGood ? params : undefined;
}

/** @throws InvalidInputError: each problem names its parameter */
export function readQuery(route: Route, request: FastifyRequest): unknown {
  try {
    return checkQuery(route, request);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(
      error.problems.map((problem) => ({
        ...problem,
        ...(problem.path === '' ? {} : { parameter: problem.path.slice(1) }),
      })),
    );
  }
}

function checkQuery(route: Route, request: FastifyRequest): unknown {
  const given = request.query as Record<string, unknown>;
  const twice = Object.entries(given).filter(([name, value]) => Array.isArray(value) && isNamed(route, name));
  if (twice.length > 0) {
    throw new InvalidInputError(twice.map(([name]) => ({ path: `/${name}`, rule: 'must be given once' })));
  }
  const withNul = Object.keys(given).filter((name) => isNamed(route, name) && String(given[name]).includes('\0'));
  // PostgreSQL cannot hold it, and SQLite finds nothing by it.
  if (withNul.length > 0) {
    throw new InvalidInputError(withNul.map((name) => ({ path: `/${name}`, rule: NO_NUL })));
  }
  if (route.query) return parseWith(route.query, given);
  if (Object.keys(given).length > 0) throw new InvalidInputError([{ path: '', rule: 'takes no query' }]);
  return {};
}

/** PostgreSQL cannot hold it. A member that the operation does not know is not named: its name is the caller's text. */
function nulProblems({ body: schema }: Route, body: JsonObject): Problem[] {
  const known = schema instanceof z.ZodObject ? schema.shape : {};
  return Object.entries(body)
    .filter((member) => holdsNul(member))
    .map(([name]) => ({ path: Object.hasOwn(known, name) ? `/${name}` : '', rule: NO_NUL }));
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul);
}

function isNamed({ query }: Route, name: string): boolean {
  return query !== undefined && Object.hasOwn(query.shape, name);
}

/** @throws Refusal 400 for what is no JSON object; InvalidInputError for members that are given elsewhere */
export function readBody(route: Route, request: FastifyRequest): JsonObject {
  const text = request.body;
  if (!route.body) {
    if (text === undefined || text === null || text === '') return {};
    throw new Refusal('bodyNotTaken', 'this operation takes no body');
  }
  const body = readJsonBody(text, MAX_BODY_DEPTH);
  if (!isRecord(body)) throw new InvalidInputError([{ path: '', rule: 'must be an object' }]);
  const problems = [...findMisplacedMembers([...parametersIn(route.path), 'by'], body), ...nulProblems(route, body)];
  if (problems.length > 0) throw new InvalidInputError(problems);
  return body;
}
