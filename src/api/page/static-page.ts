/** The operators' page, as `npm run build` has left it: one document and its assets, read once, to anybody. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../http/refusal.ts';

/** Beside the compiled program, also where this runs from its sources. */
const DEFAULT_PAGE_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/page' : '../../../page', import.meta.url),
);

/** Allows scripts, styles and requests of this origin only, and no frame. */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Its name changes with its content. */
const ASSET = /^[\w.-]+-[\w-]{6,}\.(?:js|css|svg)$/;

const A_YEAR = 'public, max-age=31536000, immutable';

const NOT_BUILT = 'The page is not built: run `npm run build`, and load this again. The API itself works.';

interface PageFiles {
  index: Buffer;
  assets: ReadonlyMap<string, Buffer>;
}

interface PageOptions {
  directory?: string | undefined;
  /** The sign-in path of the proxy. The page needs it before anyone is signed in. */
  signInPath?: string | undefined;
}

export function addPage(app: FastifyInstance, options: PageOptions): void {
  const { directory = DEFAULT_PAGE_DIRECTORY, signInPath } = options;
  let files = readPage(directory);
  // Without a name in `config`: asked for by anybody, and limited by address.
  app.get('/', async (_request, reply) => {
    files ??= readPage(directory);
    if (!files) return reply.code(503).type('text/plain').send(NOT_BUILT);
    reply.header('content-security-policy', PAGE_CSP).type('text/html; charset=utf-8');
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
function readPage(directory: string): PageFiles | undefined {
  try {
    const index = readFileSync(join(directory, 'index.html'));
    const names = readdirSync(join(directory, 'assets')).filter((name) => ASSET.test(name));
    return { index, assets: new Map(names.map((name) => [name, readFileSync(join(directory, 'assets', name))])) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Protects every answer, also problems: no other page may use it, or show it in a frame. */
export function protectFromPages(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });
}
