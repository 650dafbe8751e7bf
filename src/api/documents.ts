/** Public documents: the OpenAPI 3.1 document and a reference page, made from the table of operations; and whether the API is ready. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { addProbes, type Readiness } from '../health/readiness.ts';
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '../http/refusal.ts';
import { problemSchema } from '../messages/journey/shapes.ts';
import { OPERATIONS } from '../operations/all-operations.ts';
import { createPathSchema, listPathParameters, type Operation } from '../operations/operation.ts';
import { SCOPES } from '../operations/scopes.ts';
import { createPolicy } from './page.ts';

const STYLE = `:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:light-dark(#1b1f24,#e6e8eb);background:light-dark(#fff,#14171a)}
a{color:light-dark(#0a4fb3,#8ab8ff)}code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
td,th{border-top:1px solid light-dark(#d8dee4,#3a4149);padding:4px 8px;text-align:left;vertical-align:top;font-weight:normal}`;

export const REFERENCE_PAGE_CSP = createPolicy(
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
);

export function addDocuments(app: FastifyInstance, readiness: Readiness): void {
  const json = JSON.stringify(createOpenApiDocument());
  const page = writeReferencePage();
  app.get('/v1/openapi.json', { config: { route: 'GET /v1/openapi.json' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(json),
  );
  app.get('/v1/reference', { config: { route: 'GET /v1/reference' } }, async (_request, reply) =>
    reply.header('content-security-policy', REFERENCE_PAGE_CSP).type('text/html; charset=utf-8').send(page),
  );
  addProbes(app, readiness);
}

/** Explains the cause and the remedy of a problem if its title does not. */
const REMEDIES: Partial<Record<ProblemCode, string>> = {
  after: '`after` must be the `next` of a previous page of the same list.',
  attributeMissing: 'A search attribute is missing: `credit-journey setup` registers it.',
  method: '`Allow` names those that it accepts.',
  slow: 'Send the same again.',
  signature: 'It was changed, or its key is not in the key set.',
  notFound: 'Or the token does not reach it: the answer is the same in both cases.',
  invalidInput: '`problems` names each place that is wrong, and the rule.',
  idTaken: 'A run that the token does not reach has it: choose another id.',
  differs:
    'A start, a message or a decision had it. `problems` names what differs: choose another id, or send the first content again.',
  decided: '`decided` says who has decided what, and when.',
  notOnHold: 'The hold is gone, or is about another attempt.',
  inFuture: 'Only small differences between clocks are tolerated.',
  unproven: 'It is missing, or does not match this content.',
  noLongerCounts:
    'It was ended or spent, is too old, or is for another share or person. Send a new grant under a new `consentId`.',
  unknownPart: '`problems` names the member.',
  ending: 'It accepts no message that would make it send something.',
  notNow: '`detail` says why.',
  shareAfterEnd: 'Share its report by itself: `POST /v1/shares`.',
  outOfTime: 'Send it again.',
  stopping: 'Send it again.',
  tooManyMessages: 'Send it again in a minute.',
  workerUnavailable: 'A message may still arrive. Send the same again.',
  portfolioDirectory: 'It has no `PORTFOLIO_DIR`.',
  closed: 'Send it again.',
  failed: 'A bug or an unforeseen error.',
};

/** Lists each operation, and each problem at the anchor that its `type` names. */
export function writeReferencePage(): string {
  const operations = OPERATIONS.map(({ operationId, method, path, summary, scope }) =>
    formatTableRow(operationId, `<code>${method} ${path}</code>`, `${toHtml(summary)}. Scope <code>${scope}</code>`),
  );
  const problems = PROBLEM_CODES.map((code) => {
    const { status, title } = PROBLEMS[code];
    return formatTableRow(
      `problem-${code}`,
      `<code>${code}</code>`,
      `${status}. ${toHtml(`${title}. ${REMEDIES[code] ?? ''}`)}`,
    );
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>credit-journey: HTTP API</title><style>${STYLE}</style></head><body><main>
<h1>credit-journey: HTTP API</h1>
<p>Parameters, bodies and answers of each operation: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<h2>Operations</h2>
<table>${operations.join('\n')}</table>
<h2>Problems</h2>
<p>Each refusal has one of these as its <code>code</code>; its <code>type</code> leads here.</p>
<table>${problems.join('\n')}</table>
</main></body></html>
`;
}

function formatTableRow(id: string, name: string, words: string): string {
  return `<tr id="${id}"><th scope="row">${name}</th><td>${words}</td></tr>`;
}

/** Escapes the words, and shows as code each part between backticks. */
function toHtml(words: string): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

export type Json = { [member: string]: unknown };

const PROBLEM = z
  .object({
    type: z.string().describe('The address on this server at which the reference explains the code.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('Text for people. It never contains a value of the request.'),
    code: z.enum(PROBLEM_CODES).describe('For programs: one of a closed list of codes.'),
    problems: z
      .array(problemSchema.extend({ parameter: z.string().optional().describe('The wrong query parameter.') }))
      .optional()
      .describe('Each wrong place, and the rule that it breaks.'),
    requestId: z.string(),
  })
  .meta({ id: 'problem', description: 'RFC 9457.' });

/** The problems that every operation may answer with; three of them only where they can occur. */
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
export function createOpenApiDocument(operations: readonly Operation[] = OPERATIONS): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: buildOperation(operation, components),
    };
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
    tags: [...new Set(operations.map(toTag))].map((name) => ({ name })),
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
function toTag({ path }: Pick<Operation, 'path'>): string {
  return path.split('/')[2] ?? '';
}

function buildOperation(operation: Operation, components: Components): Json {
  const { operationId, summary, description, scope, path, query = z.object({}), body, headers } = operation;
  const ofHeaders = Object.entries({
    ...headers,
    'X-Request-Id': 'Your own id for the request. The API repeats it in the answer and in its logs.',
  }).map(([name, what]) => ({ name, in: 'header', required: false, description: what, schema: { type: 'string' } }));
  return {
    operationId,
    tags: [toTag(operation)],
    summary,
    description,
    'x-scope': scope,
    security: [{ token: [scope] }],
    parameters: [...listMembers('path', createPathSchema(path)), ...listMembers('query', query), ...ofHeaders],
    requestBody: body && { required: true, content: components.describe(body, operationId) },
    responses: buildResponses(operation, components),
  };
}

function listMembers(place: 'path' | 'query', form: z.ZodObject): Json[] {
  const { properties, required = [] } = toPlainSchema(form) as {
    properties: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    return { name, in: place, required: required.includes(name), description, schema };
  });
}

function buildResponses(operation: Operation, components: Components): Json {
  const { operationId, path, body, problems = {} } = operation;
  const responses: Record<string, Json> = {};
  for (const [status, { description, schema, headers }] of Object.entries(operation.answers)) {
    const named = Object.entries(headers ?? {}).map(([header, what]) => {
      return [header, { description: what, schema: { type: 'string' } }] as const;
    });
    responses[status] = {
      description,
      headers: headers && Object.fromEntries(named),
      content: schema && components.describe(schema, `${operationId}${status}`),
    };
  }
  const omitted: Readonly<Record<string, boolean>> = {
    404: listPathParameters(path).length === 0,
    413: !body,
    415: !body,
  };
  const common = Object.entries(COMMON_PROBLEMS).filter(([status]) => !omitted[status]);
  const content = { 'application/problem+json': { schema: components.refer(PROBLEM, 'problem') } };
  for (const [status, description] of [...common, ...Object.entries(problems)]) {
    responses[status] = { description, content };
  }
  return responses;
}

/** The schemas of the document, each under one name: that of its `id`, or of the operation. */
class Components {
  readonly schemas: Record<string, Json> = {};

  /** The content of a JSON body. */
  describe(schema: z.ZodType, fallback: string): Json {
    return { 'application/json': { schema: this.refer(schema, fallback) } };
  }

  /** @throws Error where two schemas that differ have one name */
  refer(schema: z.ZodType, fallback: string): Json {
    const { $defs = {}, ...own } = toPlainSchema(schema) as { $defs?: Record<string, Json>; $ref?: string };
    // A schema with an id is among `$defs`.
    const isNamed = typeof own.$ref === 'string';
    for (const [name, content] of Object.entries(isNamed ? $defs : { ...$defs, [fallback]: own })) {
      const known = this.schemas[name] ?? content;
      if (JSON.stringify(known) !== JSON.stringify(content)) throw new Error(`two schemas are called ${name}`);
      this.schemas[name] = content;
    }
    return isNamed ? own : { $ref: `#/components/schemas/${fallback}` };
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
  const [condition, consequence, alternative] = anyOf ? [{ not: first }, second] : [first, { not: second }, second];
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  Object.assign(jsonSchema, { if: condition, then: consequence, ...(alternative && { else: alternative }) });
}
