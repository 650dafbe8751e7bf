/** Signing in to the page with a token, on this machine alone: it goes into a cookie that no script reads. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { parseWith } from '../../fields/problems.ts';
import type { AuditLog } from '../../http/audit.ts';
import { readJsonBody } from '../../http/payload-json.ts';
import { Refusal } from '../../http/refusal.ts';
import type { TokenVerifier } from '../../http/token-verifier.ts';
import type { ApiCaller } from '../caller.ts';
import { requireOwnPage } from '../caller.ts';

interface SessionCookie {
  name: string;
  isSecure: boolean;
}

/** The browser forgets it then, however long the token is good. */
const LONGEST_SECONDS = 12 * 60 * 60;

/** Browsers drop a longer cookie without a word. */
const MOST_CHARACTERS = 3_800;

export function createSessionCookie(isSecure: boolean): SessionCookie {
  // The prefix binds it to this host and to TLS.
  return isSecure ? { name: '__Host-credit-journey', isSecure } : { name: 'credit-journey-session', isSecure };
}

interface SignInParts {
  cookie: SessionCookie;
  verify: TokenVerifier<ApiCaller>;
  audit: AuditLog;
}

const MAX_BODY_DEPTH = 4;

const body = z.strictObject({ token: z.string().min(1).max(MOST_CHARACTERS) });

/** Limited by address, as each route without a name is; who the caller is, the token in the body says. */
export function addSignIn(app: FastifyInstance, { cookie, verify, audit }: SignInParts): void {
  const toAccess = (request: FastifyRequest, subject: string | undefined) => ({
    address: request.ip,
    route: `${request.method} /session`,
    requestId: request.id,
    subject,
  });
  app.post('/session', async (request, reply) => {
    requireOwnPage(request);
    const { token } = parseWith(body, readJsonBody(request.body, MAX_BODY_DEPTH));
    try {
      const { subject } = await verify(`Bearer ${token}`);
      audit.record({ ...toAccess(request, subject), status: 204 });
    } catch (error) {
      if (error instanceof Refusal) {
        audit.record({ ...toAccess(request, undefined), status: error.status, refused: error.reason });
      }
      throw error;
    }
    const { exp = 0 } = decodeJwt(token);
    const left = Math.floor(exp - Date.now() / 1000);
    return setCookie(reply, cookie, token, Math.max(0, Math.min(left, LONGEST_SECONDS)));
  });
  app.delete('/session', async (request, reply) => {
    requireOwnPage(request);
    return setCookie(reply, cookie, '', 0);
  });
}

function setCookie(reply: FastifyReply, { name, isSecure }: SessionCookie, value: string, seconds: number) {
  const rules = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  reply.header('set-cookie', [`${name}=${value}`, ...rules].join('; '));
  return reply.code(204).send();
}
