/** The one place where an error becomes an answer: a code, a reason, never a value. */
import type { FastifyInstance } from 'fastify';
import type { AuditLog } from './audit.ts';
import { Refusal, unavailable } from './refusal.ts';
import type { RequestGuard } from './request-guard.ts';

/** Tells the caller what is wrong, and the audit log who was refused what. */
export function answerRefusals(
  app: FastifyInstance,
  guard: RequestGuard,
  audit: AuditLog,
  onUnexpected: (error: unknown) => void,
): void {
  app.setNotFoundHandler((_request, reply) => {
    reply
      .code(404)
      .send({ error: { code: 'NotFound', reason: 'notFound', message: 'there is nothing at this address' } });
  });
  app.setErrorHandler((error, request, reply) => {
    let refusal = refusalOf(error);
    if (refusal.code === 'Failed') onUnexpected(error);
    const access = guard.accessOf(request);
    // Refused by the thousand, they would fill the disk.
    if (access && refusal.status !== 429) {
      try {
        audit.record({ ...access.record, status: refusal.status, refused: refusal.reason });
      } catch (auditError) {
        onUnexpected(auditError);
        refusal = unavailable('audit', 'the audit log cannot be written');
      }
    }
    if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
    if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds));
    // Does not wait for the rest of the body.
    if (refusal.status === 413) reply.header('connection', 'close');
    reply.code(refusal.status).send(refusal.body);
  });
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { statusCode } = error as { statusCode?: unknown };
  if (statusCode === 413) return new Refusal(413, 'TooLarge', 'body', 'the body is too large');
  if (statusCode === 415) {
    return new Refusal(415, 'UnsupportedMediaType', 'contentType', 'the body must be application/json');
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Refusal(400, 'BadRequest', 'malformed', 'the request is malformed');
  }
  return new Refusal(500, 'Failed', 'failed', 'the request could not be answered');
}
