/** The operators' page: its document and assets, which anybody may read, and how a person signs in with a token. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { parseWith } from '../fields/problems.ts';
import type { AuditLog } from '../http/audit.ts';
import { readJsonBody } from '../http/payload-json.ts';
import { Refusal } from '../http/refusal.ts';
import type { TokenVerifier } from '../http/token-verifier.ts';
import { type ApiCaller, requireOwnPage } from '../operations/caller.ts';

/** Beside the compiled program, also where this runs from its sources. */
export const DEFAULT_PAGE_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/page' : '../../page', import.meta.url),
);

/** Writes a content security policy that allows these sources, and no frame. */
export function createPolicy(...sources: readonly string[]): string {
  const nothing = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
  return ["default-src 'none'", ...sources, ...nothing].join('; ');
}

const PAGE_POLICY = createPolicy("script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'");

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Its name changes with its content. */
const ASSET = /^[\w.-]+-[\w-]{6,}\.(?:js|css|svg)$/;

const A_YEAR = 'public, max-age=31536000, immutable';

const NOT_BUILT = 'The page is not built: run `npm run build`, and load this again. The API itself works.';

/** @param signInPath of the proxy; the page needs it before anyone is signed in */
export function addPage(app: FastifyInstance, directory = DEFAULT_PAGE_DIRECTORY, signInPath?: string): void {
  let files = readPage(directory);
  // Without a name in `config`: asked for by anybody, and limited by address.
  app.get('/', async (_request, reply) => {
    files ??= readPage(directory);
    if (!files) return reply.code(503).type('text/plain').send(NOT_BUILT);
    reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8');
    return reply.send(withSignIn(files.index, signInPath));
  });
  app.get('/assets/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const content = files?.assets.get(name);
    const type = TYPES[extname(name)];
    if (content === undefined || type === undefined) throw new Refusal('notFound', 'there is nothing at this address');
    return reply.type(type).header('cache-control', A_YEAR).send(content);
  });
}

/** Adds the path as an element of the document, since a script in it would be forbidden. */
function withSignIn(index: Buffer, path: string | undefined): Buffer | string {
  if (path === undefined) return index;
  const escaped = path.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return index.toString('utf8').replace('</head>', () => `<meta name="sign-in" content="${escaped}"></head>`);
}

/** `undefined` where nothing is built. */
function readPage(directory: string) {
  try {
    const index = readFileSync(join(directory, 'index.html'));
    const names = readdirSync(join(directory, 'assets')).filter((name) => ASSET.test(name));
    return { index, assets: new Map(names.map((name) => [name, readFileSync(join(directory, 'assets', name))])) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Headers of every answer, also of problems: no other page may use it, or show it in a frame. */
export const PROTECTION_FROM_PAGES = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The browser forgets it then, however long the token is good. */
const LONGEST_SECONDS = 12 * 60 * 60;

/** Browsers drop a longer cookie without a word. */
const MOST_CHARACTERS = 3_800;

export function createSessionCookie(isSecure: boolean) {
  // The prefix binds it to this host and to TLS.
  return { name: isSecure ? '__Host-credit-journey' : 'credit-journey-session', isSecure };
}

type SessionCookie = ReturnType<typeof createSessionCookie>;

const MAX_BODY_DEPTH = 4;

const body = z.strictObject({ token: z.string().min(1).max(MOST_CHARACTERS) });

/** Limited by address, as each route without a name is; who the caller is, the token in the body says. */
export function addSignIn(
  app: FastifyInstance,
  cookie: SessionCookie,
  verify: TokenVerifier<ApiCaller>,
  audit: AuditLog,
) {
  app.post('/session', async (request, reply) => {
    requireOwnPage(request);
    const { token } = parseWith(body, readJsonBody(request.body, MAX_BODY_DEPTH));
    const access = { address: request.ip, route: 'POST /session', requestId: request.id };
    const { subject } = await verify(`Bearer ${token}`).catch((error: unknown) => {
      if (error instanceof Refusal) audit.record({ ...access, status: error.status, refused: error.reason });
      throw error;
    });
    audit.record({ ...access, subject, status: 204 });
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
