/**
 * Describes one operation in full. The table of operations (all-operations.ts) yields the API's routes, commands, the
 * OpenAPI document, the reference page and the tests of who may do what.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { JsonObject } from '../base/json-safety.ts';
import { ruledText } from '../fields/alphanumeric.ts';
import { getMessageFields } from '../fields/fields.ts';
import { parseWith } from '../fields/problems.ts';
import type { AccessRecord } from '../http/audit.ts';
import type { Checked, Loose } from '../messages/message.ts';
import { PRODUCTS } from '../model/products.ts';
import { checkRunKey, ID_NAMES, KINDS, toRunKey } from '../model/run-key.ts';
import type { ApiCaller } from './caller.ts';
import type { Scope } from './scopes.ts';
import type { ApiServices } from './services.ts';

type Method = 'GET' | 'POST';

/** One of the answers that are no errors. */
export interface AnswerForm {
  description: string;
  /** Absent if the answer has no body. */
  schema?: z.ZodType;
  headers?: Readonly<Record<string, string>>;
}

/** The input of a handler. The API has checked all of it except the rules of the message itself. */
export interface Call<Params extends string = string, Query = unknown, Body = JsonObject> {
  services: ApiServices;
  caller: ApiCaller;
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
  /** Aborted once the server stops, for handlers that only wait. The server still answers messages under way. */
  stopping: AbortSignal;
  /** Options for calls of the client: no answer takes longer. The signal is aborted once the caller has disconnected. */
  sending: { signal: AbortSignal; timeoutMs: number };
  headers: IncomingHttpHeaders;
}

/** An answer with a status or headers of its own. A text is sent unchanged, since it is JSON already. */
export class Reply {
  readonly status: number;
  declare readonly body?: object | string;
  readonly headers: Readonly<Record<string, string>> = {};
  /** In place of a body: passed on as it comes. */
  declare readonly stream?: { type: string; content: Readable };

  constructor(status: number, parts: Partial<Omit<Reply, 'status'>>) {
    this.status = status;
    Object.assign(this, parts);
  }
}

/** An operation, as `defineOperation` makes it. */
export interface Operation {
  method: Method;
  path: `/v1/${string}`;
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
  query?: z.ZodObject;
  /** Finds the definition of the message that it sends, or of the run's input: all rules between fields. */
  findDefinition?(content: Loose): Checked;
  /** Request headers, by name, that it understands. */
  headers?: Readonly<Record<string, string>>;
  answers: Readonly<Record<number, AnswerForm>>;
  /** Further problems that it answers, beside those that every operation has: status and when. */
  problems?: Readonly<Record<number, string>>;
  handle(call: Call): Promise<Reply>;
}

interface OperationForm<At extends string, Query extends z.ZodObject, Body extends z.ZodType>
  extends Omit<Operation, 'method' | 'path' | 'query' | 'body' | 'answers' | 'handle'> {
  /** Method and path, as `GET /v1/holds`. */
  at: At;
  query?: Query;
  body?: Body;
  /** The schema of the one answer, and what it means. */
  answer?: z.ZodType;
  done?: string;
  /** In place of `answer`, if there are several: by their status. */
  answers?: Operation['answers'];
  /** Returns the answer: an object, or its JSON. The body follows its schema, or else its message's definition. */
  run(call: Call<ParametersOf<At>, z.infer<Query>, z.infer<Body>>): Promise<object | string>;
}

/** Makes an operation, and checks the types of what it takes. */
export function defineOperation<
  const At extends `${Method} /v1/${string}`,
  Query extends z.ZodObject,
  Body extends z.ZodType = z.ZodType<JsonObject>,
>({ at, answer, done = 'The answer.', answers, run, ...form }: OperationForm<At, Query, Body>): Operation {
  const { body, findDefinition } = form;
  const [method, path] = at.split(' ') as [Method, Operation['path']];
  return {
    ...(form as Omit<typeof form, 'query' | 'body'>),
    method,
    path,
    answers: answers ?? { 200: { description: done, schema: answer } },
    async handle(call) {
      const checked = body && !findDefinition ? parseWith(body, call.body) : call.body;
      const reply = await run({ ...call, body: checked } as never);
      return reply instanceof Reply ? reply : new Reply(200, { body: reply });
    },
  };
}

/**
 * Returns the key of the run that the first parameter of the path names. A token that does not reach it gets the answer
 * to an unknown id, before the handler and before the body's own rules.
 */
export function findRun({ path }: Pick<Operation, 'path'>, params: Call['params']): string | undefined {
  const [first = ''] = listPathParameters(path);
  const kind = KINDS.find((candidate) => ID_NAMES[candidate] === first);
  return kind ? toRunKey(kind, params[first] ?? '') : params.runKey;
}

export function isAboutRun({ path }: Pick<Operation, 'path'>): boolean {
  const [first = ''] = listPathParameters(path);
  return first === 'runKey' || KINDS.some((kind) => ID_NAMES[kind] === first);
}

/** Whether a worker must give the answer. While no worker runs, the call takes all the time that it may. */
export function isMessage(operation: Operation): boolean {
  return operation.sendsMessages ?? (operation.method === 'POST' && isAboutRun(operation));
}

const { journeyId, pullId, shareId, reviewId, signature } = getMessageFields();

/** Why an operator did something. */
export const recordedReason = signature.reason;

/** Path parameters: each name means the same thing everywhere. */
export const PATH_PARAMETERS = {
  journeyId,
  pullId,
  shareId,
  reviewId,
  runKey: ruledText(checkRunKey).meta({
    description:
      'A run: a journeyId, pull:<pullId>, share:<shareId> or portfolio:<reviewId>. A row of a review: portfolio:<reviewId>/<accountId>.',
    pattern: '^(?:(?:pull|share|portfolio):)?[A-Za-z0-9][A-Za-z0-9._~/:-]*$',
    maxLength: 150,
  }),
  customerTraceNumber: z
    .string()
    .regex(/^[A-Z0-9]{28}$/, 'must be 28 capital letters and digits')
    .describe('Names an inquiry.'),
  attempt: z
    .string()
    .regex(/^[1-9][0-9]{0,5}$/, 'must be a whole number from 1')
    .describe('The number of an attempt, from 1.'),
  productCode: z.enum(PRODUCTS).describe('A product of the gateway.'),
} as const;

export type PathParameter = keyof typeof PATH_PARAMETERS;

/** The names in braces. A name that is no path parameter makes the type `never`, so that its row does not compile. */
type ParametersOf<At extends string> = At extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends PathParameter ? Name : never) | ParametersOf<Rest>
  : never;

export function listPathParameters(path: string): PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as PathParameter);
}

export function createPathSchema(path: string): z.ZodObject {
  return z.object(Object.fromEntries(listPathParameters(path).map((name) => [name, PATH_PARAMETERS[name]])));
}
