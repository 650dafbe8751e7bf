/** The routes. `request-guard.ts` has authenticated the caller before; `answer-refusals.ts` answers errors. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AccessRecord, AuditLog } from '../http/audit.ts';
import type { Granted as GrantedAccess } from '../http/request-guard.ts';
import type { CodecGuard } from './access.ts';
import type { CodecWork } from './codec-work.ts';
import type { Permission } from './roles.ts';

interface Routes {
  guard: CodecGuard;
  audit: AuditLog;
  codec: CodecWork;
  /** `/:segment` where an unguessable path authenticates, else nothing. */
  prefix: string;
}

/** An access that was let in. */
interface Granted extends GrantedAccess<Permission> {
  /** Writes the line, before anything is given out; throws where it cannot be written. */
  given(outcome: Partial<AccessRecord>): void;
}

export function addRoutes(app: FastifyInstance, routes: Routes): void {
  app.get('/healthz', { config: { route: '/healthz' } }, async () => ({ status: 'ok' }));
  for (const asksReveal of [false, true]) addCodecRoutes(app, routes, asksReveal);
}

function addCodecRoutes(app: FastifyInstance, routes: Routes, asksReveal: boolean): void {
  const base = baseOf(routes, asksReveal);
  app.post(
    `${base}/encode`,
    { config: { route: '/encode', needs: { action: 'encode', asksReveal } } },
    async (request) => {
      const { permission, given } = granted(routes, request);
      const payloads = await routes.codec.encode(request.body, permission);
      given({ count: payloads.length });
      return { payloads };
    },
  );
  app.post(
    `${base}/decode`,
    { config: { route: '/decode', needs: { action: 'decode', asksReveal } } },
    async (request) => {
      const { permission, given } = granted(routes, request);
      const { payloads, undecodable } = await routes.codec.decode(request.body, permission);
      given({ count: payloads.length, undecodable, ...revealed(permission) });
      return { payloads };
    },
  );
}

function baseOf({ prefix }: Routes, asksReveal: boolean): string {
  return `${prefix}${asksReveal ? '/reveal' : ''}`;
}

function revealed({ view }: Permission): { revealed: boolean } {
  return { revealed: view === 'whole' };
}

function granted({ guard, audit }: Routes, request: FastifyRequest): Granted {
  const access = guard.granted(request);
  return {
    ...access,
    given: (outcome) => {
      access.noted(outcome);
      audit.record({ address: request.ip, route: 'unknown', ...guard.accessOf(request)?.record, status: 200 });
    },
  };
}
