/**
 * Describes one operation of the API in full. The table of operations (route-table.ts) yields the routes, the OpenAPI
 * document, the reference page and the tests of who may do what.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { JsonObject } from '../base/json-safety.ts';
import { REVIEW_ID } from '../base/portable-patterns.ts';
import { parseWith } from '../fields/problems.ts';
import type { AccessRecord } from '../http/audit.ts';
import type { Checked, Loose } from '../messages/message.ts';
import { MAX_ID_LENGTH, MAX_SHARE_ID_LENGTH, opaqueIdProblem, reviewIdProblem } from '../model/opaque-id.ts';
import type { Problem } from '../model/problems.ts';
import { PRODUCTS } from '../model/products.ts';
import { ID_NAMES, type RunKind, runKeyProblem, toRunKey } from '../model/run-key.ts';
import type { Scope } from '../operations/scopes.ts';
import type { SignedInCaller } from './caller.ts';
import type { ApiServices } from './services.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One of the answers that are no errors. */
export interface AnswerForm {
  description: string;
  /** Without one the answer has no body. */
  schema?: z.ZodType;
  headers?: Readonly<Record<string, string>>;
}

/** The input of a handler. Everything has been checked but the body's own rules. */
export interface Call<Params extends string = string, Query = unknown, Body = JsonObject> {
  services: ApiServices;
  caller: SignedInCaller;
  params: Readonly<Record<Params, string>>;
  query: Query;
  /** An object; `{}` for an operation without a body. Without the members that the path or the token gives. */
  body: Body;
  /** Returns the name of the caller, from the token. @throws Refusal 403 */
  by(): string;
  /** Adds to the audit line of the request, even if the request is refused afterwards. */
  note(target: Partial<AccessRecord>): void;
  /** Makes room for other requests. For a handler that only waits from here on. */
  giveUpSlot(): void;
  /** Aborted once the caller has gone. */
  signal: AbortSignal;
  /** Aborted once the server stops, for handlers that only wait. The server still answers messages under way. */
  stopping: AbortSignal;
  /** Options for calls of the client: no answer takes longer. */
  sending: { signal: AbortSignal; timeoutMs: number };
  /** When the request came, by `performance.now()`. */
  startedAt: number;
  headers: IncomingHttpHeaders;
}

/** `body` has the form of the answer's schema. A text is sent unchanged, since it is JSON already. */
export interface Reply<Status extends number = number> {
  status: Status;
  body?: object | string;
  /** In place of a body: passed on as it comes. */
  stream?: { type: string; content: Readable };
  headers?: Readonly<Record<string, string>>;
}

interface RouteOf<Path extends string, Query extends z.ZodObject, Answers extends Record<number, AnswerForm>> {
  method: Method;
  path: Path;
  /** A name for generated clients; never changed within /v1. */
  operationId: string;
  summary: string;
  description?: string;
  /** The scope that the token must have. */
  scope: Scope;
  /** Set if the operation sends messages to runs that its body names. A POST with a run in its path needs no mark. */
  sendsMessages?: true;
  /** The message's schema, without the members that the path and the token give. */
  body?: z.ZodType;
  /** Finds the definition of the message that it sends, or of the run's input: all rules between fields. */
  findDefinition?(content: Loose): Checked;
  query?: Query;
  /** Request headers, by name, that it understands. */
  headers?: Readonly<Record<string, string>>;
  answers: Answers;
  /** Further problems that it answers, beside those that every operation has: status and when. */
  problems?: Readonly<Record<number, string>>;
  handle(call: Call<ParametersOf<Path>, z.infer<Query>>): Promise<Reply<keyof Answers & number>>;
}

export interface Route extends Omit<RouteOf<`/v1/${string}`, z.ZodObject, Record<number, AnswerForm>>, 'handle'> {
  handle(call: Call): Promise<Reply>;
}

/** Checks the types of a route's parameters, query and answers. The result has the one type of all routes. */
export function route<
  const Path extends `/v1/${string}`,
  Query extends z.ZodObject,
  const Answers extends Record<number, AnswerForm>,
>(definition: RouteOf<Path, Query, Answers>): Route {
  return definition as unknown as Route;
}

type Fields = Readonly<Record<string, string>>;

interface SimpleRoute<Path extends string, Query extends z.ZodObject, Body extends z.ZodType>
  extends Omit<RouteOf<Path, Query, never>, 'body' | 'answers' | 'handle'> {
  body?: Body;
  /** The answer's schema, and what the answer means. */
  answer: z.ZodType;
  done?: string;
  /** Returns the answer. The body follows its schema. */
  run(call: Call<ParametersOf<Path>, z.infer<Query>, z.infer<Body>>): Promise<object>;
}

/** Returns the route of an operation that has one answer: 200. */
export function defineRoute<
  const Path extends `/v1/${string}`,
  Query extends z.ZodObject,
  Body extends z.ZodType = z.ZodType<JsonObject>,
>({ answer, done = 'The answer.', run, ...form }: SimpleRoute<Path, Query, Body>): Route {
  const { body } = form;
  const handle = async (call: Call): Promise<Reply<200>> => {
    const checked = body ? parseWith(body, call.body) : call.body;
    return { status: 200, body: await run({ ...call, body: checked } as never) };
  };
  return { ...form, answers: { 200: { description: done, schema: answer } }, handle } as unknown as Route;
}

const KINDS_BY_ID = Object.fromEntries(Object.entries(ID_NAMES).map(([kind, name]) => [name, kind as RunKind]));

/**
 * Returns the key of the run that the first parameter of the path names. A token that does not reach it gets the answer
 * to an unknown id, before the handler and before the body's own rules.
 */
export function findRun({ path }: Pick<Route, 'path'>, params: Fields): string | undefined {
  const [first = ''] = parametersIn(path);
  const kind = KINDS_BY_ID[first];
  return kind ? toRunKey(kind, params[first] ?? '') : params.runKey;
}

export function isAboutRun({ path }: Pick<Route, 'path'>): boolean {
  const [first = ''] = parametersIn(path);
  return first === 'runKey' || first in KINDS_BY_ID;
}

/** Whether a worker must give the answer. While no worker runs, the call takes all the time that it may. */
export function isMessage(route: Route): boolean {
  return route.sendsMessages ?? (route.method === 'POST' && isAboutRun(route));
}

/** Returns a problem for each of these members that the body has: the path or the token gives them. */
export function findMisplacedMembers(names: readonly string[], body: JsonObject): Problem[] {
  return names
    .filter((name) => Object.hasOwn(body, name))
    .map((name) => ({
      path: `/${name}`,
      rule: name === 'by' ? 'must not be given: the token says who acts' : 'must not be given: it is in the address',
    }));
}

// Path parameters: each name means the same thing everywhere.

interface Parameter {
  description: string;
  /** The rule that a value breaks, or `null`. */
  problem(value: string): string | null;
  /** Its JSON Schema. */
  schema: { type: 'string'; pattern?: string; maxLength?: number; enum?: readonly string[] };
}

function id(description: string, maxLength: number): Parameter {
  return {
    description,
    problem: (value) => opaqueIdProblem(value, maxLength),
    schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]*$', maxLength },
  };
}

function pattern(description: string, source: string, rule: string): Parameter {
  const form = new RegExp(source);
  return {
    description,
    problem: (value) => (form.test(value) ? null : rule),
    schema: { type: 'string', pattern: source },
  };
}

export const TRACE_NUMBER = { form: '^[A-Z0-9]{28}$', rule: 'must be 28 capital letters and digits' } as const;

export const PATH_PARAMETERS = {
  journeyId: id('Your own id of the loan.', MAX_ID_LENGTH),
  pullId: id('Your own id of the pull.', MAX_ID_LENGTH),
  shareId: id('Your own id of the share.', MAX_SHARE_ID_LENGTH),
  reviewId: {
    description: 'Your own id of the portfolio review, or the one that a Temporal Schedule has given it.',
    problem: reviewIdProblem,
    schema: { type: 'string', pattern: REVIEW_ID, maxLength: MAX_ID_LENGTH },
  },
  runKey: {
    description:
      'A run: a journeyId, pull:<pullId>, share:<shareId> or portfolio:<reviewId>. A row of a review: portfolio:<reviewId>/<accountId>.',
    problem: runKeyProblem,
    schema: {
      type: 'string',
      pattern: '^(?:(?:pull|share|portfolio):)?[A-Za-z0-9][A-Za-z0-9._~/:-]*$',
      maxLength: 150,
    },
  },
  customerTraceNumber: pattern('Names an inquiry.', TRACE_NUMBER.form, TRACE_NUMBER.rule),
  attempt: pattern('The number of an attempt, from 1.', '^[1-9][0-9]{0,5}$', 'must be a whole number from 1'),
  productCode: {
    description: 'A product of the gateway.',
    problem: (value) => (PRODUCTS.some((product) => product === value) ? null : `must be ${PRODUCTS.join(' or ')}`),
    schema: { type: 'string', enum: PRODUCTS },
  },
} as const satisfies Record<string, Parameter>;

export type PathParameter = keyof typeof PATH_PARAMETERS;

/** The names in braces. A name that is no path parameter makes the type `never`, so that the route does not compile. */
type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends PathParameter ? Name : never) | ParametersOf<Rest>
  : never;

export function parametersIn(path: string): PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as PathParameter);
}
