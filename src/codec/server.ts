/** Starts the codec server: lets the Temporal UI, the Temporal CLI and other languages decode and encode. */
import { randomBytes } from 'node:crypto';
import { omitUndefined } from '../base/defined.ts';
import type { Refusal } from '../http/refusal.ts';
import { type HttpService, openService } from '../http/service.ts';
import { ConfigError } from '../model/problems.ts';
import {
  type Caller,
  type CodecNeeds,
  codecPolicy,
  codecTokenVerifier,
  type Gate,
  PATH_CALLER,
  type Permission,
  type Role,
} from './access.ts';
import { CodecWork } from './codec-work.ts';
import { type CodecServerOptions, DEFAULT_LIMITS, pathProblems } from './settings.ts';

export interface RunningCodecServer {
  /** Without a slash at its end, and without the unguessable path. */
  url: string;
  port: number;
  /** `/<segment>`, where that is what authenticates. A secret. */
  path?: string;
  /** The address for the Temporal UI and CLI: `url` and `path`. */
  endpoint: string;
  /** Ends open connections, and closes the audit log. */
  close(): Promise<void>;
}

type CodecService = HttpService<CodecNeeds, Caller, Permission>;

/** Default roles of a caller that knows the path. */
const PATH_ROLES: readonly Role[] = ['encode', 'decode-redacted'];

/**
 * Listens when it resolves. `ConfigError` where the options may not be: an unguessable path in production or beyond
 * this machine. The system's error where the port is taken or the audit file cannot be opened.
 */
export async function startCodecServer(options: CodecServerOptions): Promise<RunningCodecServer> {
  const { keys, namespaces, originNamespaces = [], uiOrigins, onUnknownKey = () => {} } = options;
  const gate = createGate(options);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const service: CodecService = openService(options, {
    limits,
    policy: () => codecPolicy(gate, namespaces),
    uiOrigins,
    write: (refusal, _request, reply) => {
      reply.send(toErrorBody(refusal));
    },
    server: {
      forceCloseConnections: true,
      // The UI and the Temporal CLI put `/decode` behind the address that they were given, with a slash at its end or
      // not.
      routerOptions: { ignoreDuplicateSlashes: true },
    },
  });
  const { app, audit } = service;
  addRoutes(service, new CodecWork({ keys, originNamespaces, limits, onUnknownKey }), gate);
  const { url, port } = await service.listen();
  const path = gate.kind === 'path' ? `/${gate.segment}` : undefined;
  return {
    url,
    port,
    ...omitUndefined({ path }),
    endpoint: `${url}${path ?? ''}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      audit.close();
    },
  };
}

/** The routes. `request-guard.ts` has authenticated the caller before. */
function addRoutes({ app, guard, audit }: CodecService, codec: CodecWork, gate: Gate): void {
  app.get('/healthz', { config: { route: '/healthz' } }, async () => ({ status: 'ok' }));
  const work = {
    encode: async (body: unknown, permission: Permission) => {
      const payloads = await codec.encode(body, permission);
      return { payloads, noted: { count: payloads.length } };
    },
    decode: async (body: unknown, permission: Permission) => {
      const { payloads, undecodable } = await codec.decode(body, permission);
      return { payloads, noted: { count: payloads.length, undecodable, revealed: permission.view === 'whole' } };
    },
  };
  for (const action of ['encode', 'decode'] as const) {
    for (const asksReveal of [false, true]) {
      const url = `${gate.kind === 'path' ? '/:segment' : ''}${asksReveal ? '/reveal' : ''}/${action}`;
      const needs: CodecNeeds = { action, asksReveal };
      app.post(url, { config: { route: `/${action}`, needs } }, async (request) => {
        const { permission } = guard.requireGranted(request);
        const { payloads, noted } = await work[action](request.body, permission);
        // Before anything is given out; it throws where the line cannot be written.
        const about = { address: request.ip, route: url, ...guard.findAccess(request)?.record };
        audit.record({ ...about, ...noted, status: 200 });
        return { payloads };
      });
    }
  }
}

function createGate({ authentication, environment, namespaces, host = '127.0.0.1' }: CodecServerOptions): Gate {
  if (authentication.kind === 'jwt') return { kind: 'jwt', verify: codecTokenVerifier(authentication) };
  const problems = pathProblems(environment, host);
  if (problems.length > 0) throw new ConfigError(problems);
  const { segment = randomBytes(32).toString('base64url'), roles = PATH_ROLES } = authentication;
  if (!/^[\w-]{43,}$/.test(segment)) throw new TypeError('the path must be 32 random bytes in base64url');
  const granted = new Map(namespaces.map((namespace) => [namespace, new Set(roles)] as const));
  return { kind: 'path', segment, caller: { subject: PATH_CALLER, roles: granted } };
}

/** The `code` of each status. */
const CODES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'Slow',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  422: 'NotEncodable',
  429: 'TooManyRequests',
  503: 'Unavailable',
};

function toErrorBody({ status, reason, message, problems }: Refusal): object {
  const code = reason === 'unknownKey' ? 'UnknownKey' : (CODES[status] ?? 'Failed');
  return { error: { code, reason, message, ...(problems.length > 0 ? { problems } : {}) } };
}
