/** Starts the codec server: lets the Temporal UI, the Temporal CLI and other languages decode and encode. */
import { WITH_HEAD } from '../health/readiness.ts';
import { requireAccess } from '../http/request-guard.ts';
import { type HttpService, openService } from '../http/service.ts';
import { type CodecNeeds, createAccess, type Permission } from './access.ts';
import { CodecWork } from './codec-work.ts';
import { type CodecServerOptions, DEFAULT_LIMITS } from './settings.ts';

export type RunningCodecServer = Awaited<ReturnType<typeof startCodecServer>>;

/**
 * Listens when it resolves. `ConfigError` where the options may not be: an unguessable path in production or beyond
 * this machine. The system's error where the port is taken or the audit file cannot be opened.
 */
export async function startCodecServer(options: CodecServerOptions) {
  const { environment, authentication, host = '127.0.0.1', keys, namespaces, originNamespaces = [] } = options;
  const { policy, segment } = createAccess(authentication, { environment, host, namespaces });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const service = openService(options, {
    limits,
    policy,
    uiOrigins: options.uiOrigins,
    write({ reason: code, message, problems }, _request, reply) {
      reply.send({ error: { code, message, problems: problems.length > 0 ? problems : undefined } });
    },
    server: {
      forceCloseConnections: true,
      // The UI and the Temporal CLI put `/decode` behind the address that they were given, with a slash at its end or
      // not.
      routerOptions: { ignoreDuplicateSlashes: true },
    },
  });
  const { app, audit } = service;
  const { onUnknownKey = () => {} } = options;
  const work = new CodecWork({ keys, originNamespaces, limits, onUnknownKey });
  addRoutes(service, work, segment === undefined ? '' : '/:segment');
  const { url, port } = await service.listen();
  return {
    /** Without a slash at its end, and without the unguessable path. */
    url,
    port,
    /** The address for the Temporal UI and CLI. A secret, where its path is what authenticates. */
    endpoint: segment === undefined ? url : `${url}/${segment}`,
    /** Ends open connections, and closes the audit log. */
    async close() {
      app.server.closeAllConnections();
      await app.close();
      audit.close();
    },
  };
}

/** The routes. The guard has authenticated the caller before. The UI can put nothing behind a path: `/reveal` is before. */
function addRoutes({ app, audit }: HttpService, work: CodecWork, prefix: string): void {
  app.get('/healthz', { config: { route: '/healthz' }, ...WITH_HEAD }, async () => ({ status: 'ok' }));
  for (const action of ['encode', 'decode'] as const) {
    for (const asksReveal of [false, true]) {
      const needs: CodecNeeds = { action, asksReveal };
      const url = `${prefix}${asksReveal ? '/reveal' : ''}/${action}`;
      app.post(url, { config: { route: `/${action}`, needs } }, async (request) => {
        const { permission, record } = requireAccess<Permission>(request);
        const { payloads, ...noted } = await work[action](request.body, permission);
        // Before anything is given out; it throws where the line cannot be written.
        audit.record({ ...record, count: payloads.length, ...noted, status: 200 });
        return { payloads };
      });
    }
  }
}
