/** Answers with an ETag: a caller that has the same already gets 304. */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Reply } from '../route.ts';

/** Of the answer's JSON. */
export function etagOf(body: object): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` has it. A weak tag matches, too (RFC 9110, 13.1.2). */
export function hasAlready({ headers }: Pick<FastifyRequest, 'headers'>, etag: string): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  return given.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}

export function taggedReply(request: Pick<FastifyRequest, 'headers'>, body: object): Reply<200 | 304> {
  const etag = etagOf(body);
  return hasAlready(request, etag) ? { status: 304, headers: { etag } } : { status: 200, body, headers: { etag } };
}
