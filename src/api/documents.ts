/** What anybody may read: the OpenAPI document, a page of the same for people, and whether the API is up and ready. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from '../health/readiness.ts';
import { openApiDocument } from './openapi.ts';
import { referencePage, STYLE } from './reference-page.ts';

/** No script, nothing from elsewhere, in no frame. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function addDocuments(app: FastifyInstance, readiness: Readiness): void {
  const document = openApiDocument();
  const json = JSON.stringify(document);
  const page = referencePage(document);
  app.get('/v1/openapi.json', { config: { route: 'GET /v1/openapi.json' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(json),
  );
  app.get('/v1/reference', { config: { route: 'GET /v1/reference' } }, async (_request, reply) =>
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page),
  );
  app.get('/healthz', { config: { route: 'GET /healthz' } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { route: 'GET /readyz' } }, async (_request, reply) => {
    const report = await readiness.report();
    return reply.code(report.ready ? 200 : 503).send(report);
  });
}
