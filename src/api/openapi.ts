/** The OpenAPI 3.1 document of the API, made from the table of its operations. */
import { z } from 'zod';
import { PROBLEM_CODES } from '../http/refusal.ts';
import { problemSchema } from '../messages/journey/shapes.ts';
import { SCOPES } from '../operations/scopes.ts';
import { type AnswerForm, createPathSchema, listPathParameters, type Route } from './route.ts';
import { ROUTES } from './route-table.ts';

export type Json = { [member: string]: unknown };

const PROBLEM = z
  .object({
    type: z.string().meta({ description: 'The address on this server at which the reference explains the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'Text for people. It never contains a value of the request.' }),
    code: z.enum(PROBLEM_CODES).meta({ description: 'For programs: one of a closed list of codes.' }),
    problems: z
      .array(
        problemSchema.extend({
          parameter: z.string().optional().meta({ description: 'The wrong query parameter.' }),
        }),
      )
      .optional()
      .meta({ description: 'Each wrong place, and the rule that it breaks.' }),
    requestId: z.string(),
  })
  .meta({ id: 'problem', description: 'RFC 9457.' });

/** The problems that every operation may answer with; four of them only where they can occur. */
const COMMON_PROBLEMS: Readonly<Record<number, string>> = {
  400: 'The request cannot be read, or its headers are too long.',
  401: 'The token is missing, or this API does not accept it.',
  403: 'The token lacks a scope (`scope`), does not reach this data (`reach`), or does not say who acts (`by`).',
  404: 'Nothing has this name, or the token does not reach it. The answer is the same in both cases.',
  408: 'The request came too slowly.',
  413: 'The body is too large.',
  415: 'The body must be application/json.',
  422: 'The content breaks rules: `problems` names each place.',
  429: 'Too many requests at once.',
  500: 'A bug or an unforeseen error.',
  503: 'Temporal, its workers or the ledger cannot be reached.',
};

/** Builds the document. It depends on the table alone. */
export function createOpenApiDocument(routes: readonly Route[] = ROUTES): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    (paths[route.path] as Json)[route.method.toLowerCase()] = buildOperation(route, components);
  }
  components.refer(PROBLEM, 'problem');
  return {
    openapi: '3.1.0',
    info: {
      title: 'credit-journey',
      version: '1.0.0',
      description:
        'The credit-report side of a loan. A message that is answered with 2xx is in Temporal or in the ledger. ' +
        'Errors are problem documents (RFC 9457) that name places and rules, never values.',
    },
    servers: [{ url: 'http://127.0.0.1:7282' }],
    security: [{ token: [] }],
    tags: [...new Set(routes.map(toTag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'Claims: `scope` (below), `profiles` and `end_users` (lists; `"*"` for all), and who acts. Scopes: ' +
            `${Object.entries(SCOPES)
              .map(([scope, what]) => `\`${scope}\`: ${what}`)
              .join('; ')}.`,
        },
      },
      schemas: components.schemas,
    },
  };
}

/** The resource: `journeys` of `/v1/journeys/{journeyId}`. */
function toTag({ path }: Pick<Route, 'path'>): string {
  return path.split('/')[2] ?? '';
}

function buildOperation(route: Route, components: Components): Json {
  const { operationId, summary, description, scope, body } = route;
  return {
    operationId,
    tags: [toTag(route)],
    summary,
    description,
    'x-scope': scope,
    security: [{ token: [scope] }],
    ...buildParameters(route),
    requestBody: body ? { required: true, content: toJsonContent(components.refer(body, operationId)) } : undefined,
    responses: buildResponses(route, components),
  };
}

function buildParameters({ path, query = z.object({}), headers = {} }: Route): { parameters?: Json[] } {
  const ofHeaders = Object.entries({
    ...headers,
    'X-Request-Id': 'Your own id for the request. The API repeats it in the answer and in its logs.',
  }).map(([name, description]) => ({ name, in: 'header', required: false, description, schema: { type: 'string' } }));
  return { parameters: [...listMembers('path', createPathSchema(path)), ...listMembers('query', query), ...ofHeaders] };
}

function listMembers(place: 'path' | 'query', form: z.ZodObject): Json[] {
  const { properties, required = [] } = toPlainSchema(form) as {
    properties: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    description: description as string,
    schema,
  }));
}

function buildResponses(route: Route, components: Components): Json {
  const answers = Object.entries(route.answers).map(([status, answer]) => {
    return [status, buildResponse(answer, components, `${route.operationId}${status}`)] as const;
  });
  const omitted: Readonly<Record<string, boolean>> = {
    404: listPathParameters(route.path).length === 0,
    413: !route.body,
    415: !route.body,
    422: !route.body && !route.query,
  };
  const common = Object.entries(COMMON_PROBLEMS).filter(([status]) => !omitted[status]);
  const problems: Record<string, string> = { ...Object.fromEntries(common), ...route.problems };
  const content = { 'application/problem+json': { schema: components.refer(PROBLEM, 'problem') } };
  const refusals = Object.entries(problems).map(([status, description]) => {
    return [status, { description, content }] as const;
  });
  return Object.fromEntries([...answers, ...refusals]);
}

function buildResponse({ description, schema, headers = {} }: AnswerForm, components: Components, name: string): Json {
  const named = Object.entries(headers).map(([header, what]) => {
    return [header, { description: what, schema: { type: 'string' } }] as const;
  });
  return {
    description,
    headers: named.length > 0 ? Object.fromEntries(named) : undefined,
    content: schema ? toJsonContent(components.refer(schema, name)) : undefined,
  };
}

function toJsonContent(schema: Json): Json {
  return { 'application/json': { schema } };
}

/** The schemas of the document, each under one name: that of its `id`, or of the operation. */
class Components {
  readonly schemas: Record<string, Json> = {};

  /** @throws Error where two schemas that differ have one name */
  refer(schema: z.ZodType, fallback: string): Json {
    const { $defs = {}, ...own } = toPlainSchema(schema) as { $defs?: Record<string, Json>; $ref?: string };
    for (const [part, content] of Object.entries($defs)) this.#add(part, content);
    // A schema with an id is among `$defs`, and so is added already.
    if (typeof own.$ref === 'string') return own;
    this.#add(fallback, own);
    return { $ref: `#/components/schemas/${fallback}` };
  }

  #add(name: string, content: Json): void {
    const known = this.schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(content)) throw new Error(`two schemas are called ${name}`);
    this.schemas[name] = content;
  }
}

/**
 * Returns the schema of the sender's form, before ZIP codes and states are normalized. Answers stay open to more
 * members.
 */
function toPlainSchema(schema: z.ZodType): Json {
  const { $schema: _, id: __, ...json } = z.toJSONSchema(schema, { io: 'input', override: adaptToGenerators }) as Json;
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/**
 * Replaces a choice (`anyOf`, `oneOf`) beside members or a type by `if`, which says the same. Client generators ignore
 * `if`. They would make the choice a separate type, and drop its neighbours.
 */
function adaptToGenerators({ jsonSchema }: { jsonSchema: Json }): void {
  delete jsonSchema.id;
  const { type, anyOf, oneOf } = jsonSchema;
  const choice = anyOf ?? oneOf;
  if (type === undefined || choice === undefined) return;
  const [first, second, ...more] = choice as Json[];
  if (!first || !second || more.length > 0) throw new Error('a choice beside a type must be between two');
  delete jsonSchema.anyOf;
  delete jsonSchema.oneOf;
  const condition = anyOf ? [{ not: first }, second] : [first, { not: second }, second];
  const words = ['if', 'then', 'else'];
  for (const [index, part] of condition.entries()) jsonSchema[words[index] as string] = part;
}
