/** The one place where an error becomes an answer: a code, a reason, never a value. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditLog } from './audit.ts';
import { notFound, Refusal, unavailable } from './refusal.ts';
import type { AnyGuard } from './request-guard.ts';

interface RefusalAnswers {
  guard: AnyGuard;
  audit: AuditLog;
  /** The service's own form of an error. */
  write(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void;
  /** A refusal for an error of what the service works with; `undefined` for any other. */
  translate?(error: unknown): Refusal | undefined;
  onUnexpected(error: unknown): void;
}

/** Tells the caller what is wrong, and the audit log who was refused what. */
export function answerRefusals(app: FastifyInstance, answers: RefusalAnswers): void {
  const { guard, audit, write, translate, onUnexpected } = answers;
  app.setNotFoundHandler((request, reply) => {
    reply.code(404);
    write(notFound(), request, reply);
  });
  app.setErrorHandler((error, request, reply) => {
    let refusal = translate?.(error) ?? refusalOf(error);
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
    reply.headers(refusal.headers);
    if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
    if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds));
    // Does not wait for the rest of the body.
    if (refusal.status === 413 || refusal.status === 408) reply.header('connection', 'close');
    reply.code(refusal.status);
    write(refusal, request, reply);
  });
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { statusCode } = error as { statusCode?: unknown };
  if (statusCode === 413) return new Refusal(413, 'TooLarge', 'bodyTooLarge', 'the body is too large');
  if (statusCode === 415) {
    return new Refusal(415, 'UnsupportedMediaType', 'contentType', 'the body must be application/json');
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Refusal(400, 'BadRequest', 'malformed', 'the request is malformed');
  }
  return new Refusal(500, 'Failed', 'failed', 'the request could not be answered');
}
