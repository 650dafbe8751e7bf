/** The routes. `request-guard.ts` has authenticated the caller before; `answer-refusals.ts` answers errors. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AccessRecord, AuditLog } from '../http/audit.ts';
import type { Granted as GrantedAccess } from '../http/request-guard.ts';
import type { CodecGuard } from './access.ts';
import type { CodecWork } from './codec-work.ts';
import {
  checkedAttempt,
  checkedJourneyId,
  checkedProductCode,
  checkedReader,
  checkedTraceNumber,
  type ReportWork,
} from './report-work.ts';
import type { Permission } from './roles.ts';

interface Routes {
  guard: CodecGuard;
  audit: AuditLog;
  codec: CodecWork;
  reports: ReportWork;
  /** `/:segment` where an unguessable path authenticates, else nothing. */
  prefix: string;
}

interface JourneyParams {
  journeyId: string;
  productCode: string;
}

/** An access that was let in. */
interface Granted extends GrantedAccess<Permission> {
  /** Writes the line, before anything is given out; throws where it cannot be written. */
  given(outcome: Partial<AccessRecord>): void;
}

export function addRoutes(app: FastifyInstance, routes: Routes): void {
  app.get('/healthz', { config: { route: '/healthz' } }, async () => ({ status: 'ok' }));
  for (const asksReveal of [false, true]) {
    addCodecRoutes(app, routes, asksReveal);
    addReportRoutes(app, routes, asksReveal);
  }
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

function addReportRoutes(app: FastifyInstance, routes: Routes, asksReveal: boolean): void {
  const base = baseOf(routes, asksReveal);
  const report = {
    route: '/journeys/{journeyId}/reports/{productCode}',
    needs: { action: 'report', asksReveal },
  } as const;
  app.get<{ Params: JourneyParams }>(
    `${base}/journeys/:journeyId/reports/:productCode`,
    { config: report },
    async (request, reply) => {
      const { permission, record, noted, given } = granted(routes, request);
      const journeyId = checkedJourneyId(request.params.journeyId);
      const productCode = checkedProductCode(request.params.productCode);
      const ofInquiry = checkedTraceNumber(request.query);
      noted({ journeyId, productCode });
      const reader = checkedReader(request.query, record);
      const wanted = { reader, ofInquiry };
      const { text, customerTraceNumber } = await routes.reports.report(journeyId, productCode, permission, wanted);
      const reissued = reader.purpose === undefined ? {} : { reissued: true as const };
      given({ customerTraceNumber, count: 1, ...reissued, ...revealed(permission) });
      return reply.type('application/json; charset=utf-8').send(text);
    },
  );
  const refusalRoute = '/inquiries/{customerTraceNumber}/attempts/{attempt}/refusal';
  const refusal = { route: refusalRoute, needs: { action: 'report', asksReveal } } as const;
  app.get<{ Params: { customerTraceNumber: string; attempt: string } }>(
    `${base}/inquiries/:customerTraceNumber/attempts/:attempt/refusal`,
    { config: refusal },
    async (request) => {
      const { permission, record, given } = granted(routes, request);
      const of = checkedAttempt(request.params.customerTraceNumber, request.params.attempt);
      const answer = await routes.reports.refusal(of, permission, checkedReader(request.query, record));
      given({ customerTraceNumber: of.customerTraceNumber, count: 1, ...revealed(permission) });
      return answer;
    },
  );
  const changes = { route: '/journeys/{journeyId}/changes', needs: { action: 'report', asksReveal } } as const;
  app.get<{ Params: JourneyParams }>(`${base}/journeys/:journeyId/changes`, { config: changes }, async (request) => {
    const { permission, record, noted, given } = granted(routes, request);
    const journeyId = checkedJourneyId(request.params.journeyId);
    noted({ journeyId });
    const answer = await routes.reports.changes(journeyId, permission, checkedReader(request.query, record));
    given({ customerTraceNumber: answer.customerTraceNumber, count: 1, ...revealed(permission) });
    return answer;
  });
  const references = { route: '/journeys/{journeyId}/references', needs: { action: 'report', asksReveal } } as const;
  app.get<{ Params: JourneyParams }>(
    `${base}/journeys/:journeyId/references`,
    { config: references },
    async (request) => {
      const { permission, noted, given } = granted(routes, request);
      const journeyId = checkedJourneyId(request.params.journeyId);
      noted({ journeyId });
      const { answer, count } = await routes.reports.references(journeyId, permission);
      given({ count, ...revealed(permission) });
      return answer;
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
