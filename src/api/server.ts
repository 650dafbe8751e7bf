/** Starts the HTTP API: a front of the client and the ledger, without a state of its own. docs/http-api.md */

import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import type { JsonObject } from '../base/json-safety.ts';
import { findSchemaProblems } from '../fields/problems.ts';
import { Readiness } from '../health/readiness.ts';
import { createProxyCheck } from '../http/addresses.ts';
import { createUnreadableHandler, refuseOtherMethods, trackRequests } from '../http/answer-refusals.ts';
import type { AuditLog } from '../http/audit.ts';
import { readJsonBody } from '../http/payload-json.ts';
import { Refusal } from '../http/refusal.ts';
import { requireAccess } from '../http/request-guard.ts';
import { openService } from '../http/service.ts';
import { checkOpaqueId, MAX_ID_LENGTH } from '../model/opaque-id.ts';
import { ConfigError, InvalidInputError, type Problem } from '../model/problems.ts';
import { OPERATIONS } from '../operations/all-operations.ts';
import {
  type ApiCaller,
  createApiTokenVerifier,
  listSignInProblems,
  readCredential,
  requireActingName,
  requireOwnPage,
  requireScope,
} from '../operations/caller.ts';
import {
  type Call,
  createPathSchema,
  findRun,
  isMessage,
  listPathParameters,
  type Operation,
} from '../operations/operation.ts';
import { createProblem, translateToRefusal, writeProblem } from '../operations/problem.ts';
import { reachesAll, requireReach, waitUntilNextStep } from '../operations/reach.ts';
import type { Scope } from '../operations/scopes.ts';
import { type ApiOptions, type ApiServices, createServices, DEFAULT_LIMITS } from '../operations/services.ts';
import { addDocuments } from './documents.ts';
import { addPage, addSignIn, createSessionCookie, PROTECTION_FROM_PAGES } from './page.ts';

export type { ApiOptions } from '../operations/services.ts';

export type RunningApi = Awaited<ReturnType<typeof startApi>>;

/** The longest id has 150 characters. Each may come as three, percent-encoded. Fastify's own limit is 100. */
const MAX_PARAMETER_CHARACTERS = 450;

const PROBE_MS = 1_500;

/** A worker may replay a long history first. Callers and proxies give up after 30 s or more. */
const LONGEST_CALL_MS = 15_000;

/** Listens when it resolves. The system's error where the port is taken or the audit file cannot be opened. */
export async function startApi(options: ApiOptions) {
  const { host = '127.0.0.1', tls, tokenHeader } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const problems = listSignInProblems({ ...options, host, trustedProxies: options.trustedProxies ?? [] });
  if (problems.length > 0) throw new ConfigError(problems);
  const cookie = options.signIn === 'token' ? createSessionCookie(tls !== undefined) : undefined;
  const verify = createApiTokenVerifier(options.tokens, options.byClaim ?? 'sub');
  const sources = {
    tokenHeader,
    isTrustedProxy: createProxyCheck(options.trustedProxies),
    cookieName: cookie?.name,
  };
  const stopping = new AbortController();
  const { app, audit, listen } = openService<ApiCaller>(options, {
    limits,
    hasPage: true,
    write: writeProblem,
    translate: translateToRefusal,
    server: {
      routerOptions: { maxParamLength: MAX_PARAMETER_CHARACTERS },
      // The caller's own id, for the logs, if it is short, of harmless characters and no social security number.
      genReqId({ headers: { 'x-request-id': given } }) {
        return typeof given === 'string' && checkOpaqueId(given, MAX_ID_LENGTH) === null ? given : randomUUID();
      },
      // Fastify's own answers would be no problem documents.
      clientErrorHandler: createUnreadableHandler(createProblem),
      return503OnClosing: false,
    },
    policy: {
      describe: ({ id }) => ({ requestId: id }),
      async verifyCaller(request) {
        const { authorization, signedInBy } = readCredential(request, sources);
        if (signedInBy !== 'authorization') requireOwnPage(request);
        return { ...(await verify(authorization)), signedInBy };
      },
      authorize({ routeOptions }, caller) {
        requireScope(caller, routeOptions.config.needs as Scope);
        return caller;
      },
    },
    prepare(server) {
      trackRequests(server.server);
      refuseOtherMethods(server);
      server.addHook('onRequest', async ({ id, url }, reply) => {
        reply.headers({ ...PROTECTION_FROM_PAGES, 'x-request-id': id });
        // On a connection that was open already.
        if (stopping.signal.aborted && url.startsWith('/v1/')) throw new Refusal('stopping');
      });
      server.addHook('onSend', async ({ access }, { statusCode }) => {
        if (statusCode !== 404 || access?.startedAt === undefined || reachesAll(access.permission as ApiCaller)) return;
        await waitUntilNextStep({ startedAt: access.startedAt });
      });
    },
  });
  const services = createServices(options);
  addPage(app, options.pageDirectory, options.signInPath);
  if (cookie) addSignIn(app, cookie, verify, audit);
  addDocuments(app, createReadiness(services, stopping.signal));
  for (const operation of OPERATIONS) addRoute(app, operation, { audit, services, stopping: stopping.signal });
  return {
    ...(await listen()),
    /** Takes no more requests, answers those that it has, and closes the audit log. */
    async close() {
      stopping.abort();
      const timer = setTimeout(() => app.server.closeAllConnections(), limits.drainMs);
      await app.close();
      clearTimeout(timer);
      audit.close();
    },
  };
}

/** Builds the readiness checks. Their texts name no address and no credential. */
function createReadiness({ client, openLedger }: ApiServices, stopping: AbortSignal): Readiness {
  return new Readiness(PROBE_MS, {
    stopping: () => (stopping.aborted ? 'is stopping' : null),
    temporal: async () => {
      await client.withDeadline(Date.now() + PROBE_MS, () => client.workflowService.getSystemInfo({}));
      return null;
    },
    ledger: async () => {
      await (await openLedger()).pauses.list();
      return null;
    },
  });
}

type RouteParts = Pick<Call, 'services' | 'stopping'> & { audit: AuditLog };

function addRoute(app: FastifyInstance, operation: Operation, { audit, services, stopping }: RouteParts): void {
  const { method, path, scope, headers, answers } = operation;
  const pathSchema = createPathSchema(path);
  app.route({
    method,
    // Fastify's form of a path: `/v1/journeys/:journeyId`.
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      route: `${method} ${path}`,
      needs: scope,
      lane: isMessage(operation) ? 'message' : headers ? 'status' : 'ledger',
    },
    async handler(request, reply) {
      const access = requireAccess<ApiCaller>(request);
      const { permission: caller, record, note, giveUpSlot } = access;
      // Not before: the caller decides how long its body takes.
      access.startedAt = performance.now();
      const params = request.params as Record<string, string>;
      const problems = findSchemaProblems(pathSchema, params);
      // There is nothing of a name that breaks its rule, and it does not matter why. A product is a word of a list.
      const unlisted = problems.filter(({ path }) => path === '/productCode');
      if (unlisted.length < problems.length) throw new Refusal('notFound');
      const about = findRun(operation, params);
      if (about !== undefined) {
        note({ journeyId: about });
        await requireReach({ caller, services }, about);
      }
      if (unlisted.length > 0) throw new InvalidInputError(unlisted);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const answer = await operation.handle({
        services,
        caller,
        params,
        query: readQuery(operation, request),
        body: readBody(operation, request),
        by: () => requireActingName(caller),
        note,
        giveUpSlot,
        stopping,
        sending: { signal: gone.signal, timeoutMs: LONGEST_CALL_MS },
        headers: request.headers,
      });
      const { status, body, stream } = answer;
      if (!Object.hasOwn(answers, status)) throw new Error(`${operation.operationId} declares no answer ${status}`);
      // Writes the audit line before the answer is sent. Without an audit line the caller gets no answer.
      audit.record({ ...record, status });
      reply.code(status).headers(answer.headers);
      if (stream) return reply.type(stream.type).send(stream.content);
      if (body === undefined) return reply.send();
      return reply.type('application/json; charset=utf-8').send(typeof body === 'string' ? body : JSON.stringify(body));
    },
  });
}

/** The deepest message has six levels. */
const MAX_BODY_DEPTH = 16;

/** PostgreSQL cannot hold it, and SQLite finds nothing by it. */
const NO_NUL = 'must not hold the character NUL';

/** A name that cannot hold a number of a person. Others are not repeated in the answer. */
const PLAIN_NAME = /^[A-Za-z_-]{1,40}$/;

/** @throws InvalidInputError: each problem names its parameter */
function readQuery({ query = z.strictObject({}) }: Operation, request: FastifyRequest): unknown {
  const known = Object.keys(query.shape);
  const unknown = known.length > 0 ? `is no parameter; known are ${known.join(', ')}` : 'takes no query';
  const problems = Object.entries(request.query as Record<string, unknown>).flatMap(([name, value]): Problem[] => {
    if (!known.includes(name)) return [{ path: PLAIN_NAME.test(name) ? `/${name}` : '', rule: unknown }];
    if (Array.isArray(value)) return [{ path: `/${name}`, rule: 'must be given once' }];
    return String(value).includes('\0') ? [{ path: `/${name}`, rule: NO_NUL }] : [];
  });
  if (problems.length === 0) problems.push(...findSchemaProblems(query, request.query));
  if (problems.length === 0) return query.parse(request.query);
  const name = ({ path }: Problem) => (path === '' ? {} : { parameter: path.slice(1) });
  throw new InvalidInputError(problems.map((problem) => ({ ...problem, ...name(problem) })));
}

/** @throws Refusal 400 for what is no JSON object; InvalidInputError for members that are given elsewhere */
function readBody({ path, body: schema }: Operation, { body: text }: FastifyRequest): JsonObject {
  if (!schema) {
    if (text === undefined || text === null || text === '') return {};
    throw new Refusal('bodyNotTaken');
  }
  const body = readJsonBody(text, MAX_BODY_DEPTH);
  if (!isRecord(body)) throw new InvalidInputError([{ path: '', rule: 'must be an object' }]);
  const known = new Set(listForms(schema).flatMap(({ shape }) => Object.keys(shape)));
  const inPath: readonly string[] = listPathParameters(path);
  const problems = Object.entries(body).flatMap((member): Problem[] => {
    const [name] = member;
    if (name === 'by') return [{ path: '/by', rule: 'must not be given: the token says who acts' }];
    if (inPath.includes(name)) return [{ path: `/${name}`, rule: 'must not be given: it is in the address' }];
    // A member that the operation does not know is not named: its name is the caller's text.
    return holdsNul(member) ? [{ path: known.has(name) ? `/${name}` : '', rule: NO_NUL }] : [];
  });
  if (problems.length > 0) throw new InvalidInputError(problems);
  return body as JsonObject;
}

/** Some bodies have several forms. */
function listForms(schema: z.ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(listForms);
  return schema instanceof z.ZodObject ? [schema] : [];
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul);
}
