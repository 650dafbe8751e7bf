/** Pages that may call (CORS): those of the configured UIs and no others, even with good credentials. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { forbidden } from './refusal.ts';

/** What the Temporal UI sends; `authorization-extras` is its id token, which is let through and not read. */
const ALLOWED_HEADERS = 'authorization, authorization-extras, content-type, x-namespace';

/** How long a browser may remember the answer; Chromium's own maximum is two hours. */
const MAX_AGE_SECONDS = 600;

/**
 * Says on the answer whether the page may read it.
 *
 * @param hasPage the service serves a page of its own, which may call: the browser says that it is that one
 * @returns whether this was the browser's question alone, and has been answered
 * @throws Refusal 403 for a page of another origin: nothing is done for it
 */
export function crossOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  { uiOrigins, hasPage = false }: { uiOrigins: ReadonlySet<string>; hasPage?: boolean },
): boolean {
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  // No browser: a browser names the origin with each of these requests.
  if (origin === undefined) return false;
  if (hasPage && request.headers['sec-fetch-site'] === 'same-origin') return false;
  if (!uiOrigins.has(origin)) throw forbidden('origin', 'pages of this origin may not call');
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' });
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  reply.headers({
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(MAX_AGE_SECONDS),
    // A UI on the internet, a codec server in the office: Chromium asks before it lets the one call the other.
    ...(request.headers['access-control-request-private-network'] === 'true'
      ? { 'access-control-allow-private-network': 'true' }
      : {}),
  });
  return true;
}
