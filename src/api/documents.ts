/** Public documents: the OpenAPI document, a page that lists operations and problems, and whether the API is up and ready. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { addProbes, type Readiness } from '../health/readiness.ts';
import { PROBLEM_CODES, PROBLEMS } from '../http/refusal.ts';
import { createOpenApiDocument } from './openapi.ts';
import { ROUTES } from './route-table.ts';

const STYLE = `:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:light-dark(#1b1f24,#e6e8eb);background:light-dark(#fff,#14171a)}
a{color:light-dark(#0a4fb3,#8ab8ff)}code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
td,th{border-top:1px solid light-dark(#d8dee4,#3a4149);padding:4px 8px;text-align:left;vertical-align:top;font-weight:normal}`;

/** Allows no script, no resource of another origin and no frame. */
export const REFERENCE_PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function addDocuments(app: FastifyInstance, readiness: Readiness): void {
  const json = JSON.stringify(createOpenApiDocument());
  const page = writeReferencePage();
  app.get('/v1/openapi.json', { config: { route: 'GET /v1/openapi.json' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(json),
  );
  app.get('/v1/reference', { config: { route: 'GET /v1/reference' } }, async (_request, reply) =>
    reply.header('content-security-policy', REFERENCE_PAGE_CSP).type('text/html; charset=utf-8').send(page),
  );
  addProbes(app, readiness);
}

/** Lists each operation, and each problem at the anchor that its `type` names. */
export function writeReferencePage(): string {
  const operations = ROUTES.map(({ operationId, method, path, summary, scope }) =>
    formatTableRow(operationId, `<code>${method} ${path}</code>`, `${toHtml(summary)}. Scope <code>${scope}</code>`),
  );
  const problems = PROBLEM_CODES.map((code) => {
    const { status, title, about = '' }: { status: number; title: string; about?: string } = PROBLEMS[code];
    return formatTableRow(`problem-${code}`, `<code>${code}</code>`, `${status}. ${toHtml(`${title}. ${about}`)}`);
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>credit-journey: HTTP API</title><style>${STYLE}</style></head><body><main>
<h1>credit-journey: HTTP API</h1>
<p>Parameters, bodies and answers of each operation: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<h2>Operations</h2>
<table>${operations.join('\n')}</table>
<h2>Problems</h2>
<p>Each refusal has one of these as its <code>code</code>; its <code>type</code> leads here.</p>
<table>${problems.join('\n')}</table>
</main></body></html>
`;
}

function formatTableRow(id: string, name: string, words: string): string {
  return `<tr id="${id}"><th scope="row">${name}</th><td>${words}</td></tr>`;
}

/** Escapes the words, and shows as code each part between backticks. */
function toHtml(words: string): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
