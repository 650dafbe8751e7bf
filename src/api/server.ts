/** Starts the HTTP API: a front of the client and the ledger, without a state of its own. docs/http-api.md */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readiness } from '../health/readiness.ts';
import { createUnreadableHandler, refuseOtherMethods, trackRequests } from '../http/answer-refusals.ts';
import type { AuditLog } from '../http/audit.ts';
import { Refusal } from '../http/refusal.ts';
import type { RequestGuard } from '../http/request-guard.ts';
import { openService } from '../http/service.ts';
import { checkOpaqueId, MAX_ID_LENGTH } from '../model/opaque-id.ts';
import { ConfigError } from '../model/problems.ts';
import type { Scope } from '../operations/scopes.ts';
import {
  createApiTokenVerifier,
  listSignInProblems,
  readCredential,
  requireActingName,
  requireOwnPage,
  requireScope,
  type SignedInCaller,
} from './caller.ts';
import { addDocuments } from './documents.ts';
import { addSignIn, createSessionCookie } from './page/sign-in.ts';
import { addPage, protectFromPages } from './page/static-page.ts';
import { toProblemForm, translateToRefusal, writeProblem } from './problem.ts';
import { reachesAll, requireReach, waitUntilNextStep } from './reach.ts';
import { readBody, readParams, readQuery } from './read-request.ts';
import { type Call, createPathSchema, findRun, isMessage, type Route } from './route.ts';
import { ROUTES } from './route-table.ts';
import { type ApiOptions, type ApiServices, createServices, DEFAULT_LIMITS } from './services.ts';

export type { ApiOptions } from './services.ts';

export interface RunningApi {
  /** Without a slash at its end. */
  url: string;
  port: number;
  /** Takes no more requests, answers those that it has, and closes the audit log. */
  close(): Promise<void>;
}

interface ApiNeeds {
  scope: Scope;
}

type ApiGuard = RequestGuard<ApiNeeds, SignedInCaller, SignedInCaller>;

/** The longest id has 150 characters. Each may come as three, percent-encoded. Fastify's own limit is 100. */
const MAX_PARAMETER_CHARACTERS = 450;

const PROBE_MS = 1_500;

/** A worker may replay a long history first. Callers and proxies give up after 30 s or more. */
const LONGEST_CALL_MS = 15_000;

/** Listens when it resolves. The system's error where the port is taken or the audit file cannot be opened. */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { host = '127.0.0.1', tls, tokenHeader } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const problems = listSignInProblems({ ...options, host, trustedProxies: options.trustedProxies ?? [] });
  if (problems.length > 0) throw new ConfigError(problems);
  const cookie = options.signIn === 'token' ? createSessionCookie(tls !== undefined) : undefined;
  const verify = createApiTokenVerifier(options.tokens, options.byClaim ?? 'sub');
  const stopping = new AbortController();
  const { app, guard, audit, listen } = openService<ApiNeeds, SignedInCaller, SignedInCaller>(options, {
    limits,
    hasPage: true,
    write: writeProblem,
    translate: (error) => (error instanceof Refusal ? undefined : translateToRefusal(error)),
    server: {
      routerOptions: { maxParamLength: MAX_PARAMETER_CHARACTERS },
      genReqId: ({ headers }) => toRequestId(headers['x-request-id']),
      // Fastify's own answers would be no problem documents.
      clientErrorHandler: createUnreadableHandler(toProblemForm),
      return503OnClosing: false,
    },
    policy: (isTrustedProxy) => ({
      describe: ({ id }) => ({ requestId: id }),
      async verifyCaller(request) {
        const sources = { tokenHeader, isTrustedProxy, cookieName: cookie?.name };
        const { authorization, signedInBy } = readCredential(request, sources);
        if (signedInBy !== 'authorization') requireOwnPage(request);
        return { ...(await verify(authorization)), signedInBy };
      },
      permit({ scope }, { caller }) {
        requireScope(caller, scope);
        return caller;
      },
    }),
    prepare(server) {
      trackRequests(server.server);
      refuseOtherMethods(server);
      protectFromPages(server);
      server.addHook('onRequest', async (request, reply) => {
        reply.header('x-request-id', request.id);
      });
      server.addHook('onRequest', async ({ url }) => {
        // On a connection that was open already.
        if (stopping.signal.aborted && url.startsWith('/v1/')) throw new Refusal('stopping');
      });
    },
  });
  const services = createServices(options);
  addPage(app, { directory: options.pageDirectory, signInPath: options.signInPath });
  if (cookie) addSignIn(app, { cookie, verify, audit });
  addDocuments(app, createReadiness(services, stopping.signal));
  addRoutes(app, { guard, audit, services, stopping: stopping.signal });
  return {
    ...(await listen()),
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

/**
 * Accepts the caller's request id for the logs if it is short, of harmless characters and no social security number.
 */
function toRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && checkOpaqueId(given, MAX_ID_LENGTH) === null ? given : randomUUID();
}

interface Frame {
  guard: ApiGuard;
  audit: AuditLog;
  services: ApiServices;
  stopping: AbortSignal;
  /** Checks the parameters of the route's path. */
  pathSchema: ReturnType<typeof createPathSchema>;
}

function addRoutes(app: FastifyInstance, parts: Omit<Frame, 'pathSchema'>): void {
  for (const route of ROUTES) {
    const frame = { ...parts, pathSchema: createPathSchema(route.path) };
    app.route({
      method: route.method,
      url: toUrl(route),
      config: {
        route: `${route.method} ${route.path}`,
        needs: { scope: route.scope } satisfies ApiNeeds,
        lane: isMessage(route) ? 'message' : route.headers ? 'status' : 'ledger',
      },
      handler: (request, reply) => answer(frame, route, request, reply),
    });
  }
}

/** Returns the path in Fastify's form: `/v1/journeys/:journeyId`. */
function toUrl({ path }: Route): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

async function answer(frame: Frame, route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const startedAt = performance.now();
  try {
    return await answerCaller(frame, route, request, reply);
  } catch (error) {
    const refusal = error instanceof Refusal ? error : translateToRefusal(error);
    const { permission: caller } = frame.guard.requireGranted(request);
    if (refusal?.status === 404 && !reachesAll(caller)) await waitUntilNextStep({ startedAt });
    throw error;
  }
}

async function answerCaller(
  { guard, audit, services, stopping, pathSchema }: Frame,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { permission: caller, note } = guard.requireGranted(request);
  const params = readParams(pathSchema, request);
  if (!params) throw new Refusal('notFound');
  const about = findRun(route, params);
  if (about !== undefined) {
    note({ journeyId: about });
    await requireReach({ caller, services }, about);
  }
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const call: Call = {
    services,
    caller,
    params,
    query: readQuery(route, request),
    body: readBody(route, request),
    by: () => requireActingName(caller),
    note,
    giveUpSlot: () => guard.findAccess(request)?.giveUpSlot(),
    stopping,
    sending: { signal: gone.signal, timeoutMs: LONGEST_CALL_MS },
    headers: request.headers,
  };
  const { status, body, stream, headers = {} } = await route.handle(call);
  if (!Object.hasOwn(route.answers, status)) throw new Error(`${route.operationId} declares no answer ${status}`);
  // Writes the audit line before the answer is sent. Without an audit line the caller gets no answer.
  audit.record({ ...(guard.findAccess(request)?.record ?? { address: request.ip, route: route.path }), status });
  reply.code(status).headers(headers);
  if (stream) return reply.type(stream.type).send(stream.content);
  if (body === undefined) return reply.send();
  return reply.type('application/json; charset=utf-8').send(typeof body === 'string' ? body : JSON.stringify(body));
}
