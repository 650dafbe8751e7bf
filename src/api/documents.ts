/** Public documents: the OpenAPI document, an HTML page of it, and whether the API is up and ready. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from '../health/readiness.ts';
import { PROBLEM_CODES, PROBLEMS } from '../http/refusal.ts';
import { COMMON_PROBLEMS, type Json, openApiDocument } from './openapi.ts';

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e6e8eb);--faint:light-dark(#57606a,#a3abb5);--line:light-dark(#d8dee4,#3a4149);--box:light-dark(#f2f4f7,#22272d);--link:light-dark(#0a4fb3,#8ab8ff)}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:light-dark(#fff,#14171a)}
a{color:var(--link)}code{font:13px ui-monospace,monospace;background:var(--box);padding:1px 4px;border-radius:3px;overflow-wrap:anywhere}
pre{overflow-x:auto;background:var(--box);padding:.5rem}pre code{padding:0;overflow-wrap:normal}
table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{border-top:1px solid var(--line);padding:4px 8px;text-align:left;vertical-align:top;font-weight:normal}
th{width:11rem}h2{border-top:2px solid var(--ink);padding-top:1rem}h3{margin:2rem 0 .25rem}details{margin:.5rem 0}.faint{color:var(--faint)}
@media(max-width:40rem){table,tbody,tr,th,td{display:block;width:auto}th{padding-bottom:0}td{border:0;padding-top:0}}`;

/** No script, nothing from elsewhere, in no frame. */
export const REFERENCE_PAGE_CSP = [
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
    reply.header('content-security-policy', REFERENCE_PAGE_CSP).type('text/html; charset=utf-8').send(page),
  );
  app.get('/healthz', { config: { route: 'GET /healthz' } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { route: 'GET /readyz' } }, async (_request, reply) => {
    const report = await readiness.report();
    return reply.code(report.ready ? 200 : 503).send(report);
  });
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  description?: string;
  'x-scope': string;
  parameters?: { name: string; in: string; required: boolean; description?: string }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
}

interface Listed extends Operation {
  path: string;
  method: string;
}

export function referencePage(document: Json): string {
  const { info, paths, components, tags } = document as {
    info: { title: string; description: string };
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Json>; securitySchemes: { token: { description: string } } };
    tags: { name: string; description: string }[];
  };
  const operations: Listed[] = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  );
  const resources = tags.map(({ name, description }) => {
    const own = operations.filter((operation) => operation.tags.includes(name));
    const links = own.map(
      ({ operationId, summary }) => `<li><a href="#${text(operationId)}">${text(summary)}</a></li>`,
    );
    const parts = own.map(operationHtml);
    return {
      contents: `<li>${text(name)}<ul>${links.join('')}</ul></li>`,
      part: `<h2 id="of-${text(name)}">${text(name)}</h2>\n<p>${prose(description)}</p>\n${parts.join('\n')}`,
    };
  });
  const schemas = Object.entries(components.schemas).map(([name, schema]) => schemaHtml(name, schema));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(info.title)}: HTTP API</title><style>${STYLE}</style></head><body>
<header><h1>${text(info.title)}: HTTP API</h1></header>
<main>
<p>${prose(info.description)} The same for programs: <a href="openapi.json">openapi.json</a>.</p>
<p>${prose(components.securitySchemes.token.description)}</p>
<nav aria-label="Operations"><ul>${resources.map(({ contents }) => contents).join('\n')}</ul></nav>
<h2 id="always">What every operation may answer</h2>
${table(Object.entries(COMMON_PROBLEMS).map(([status, words]) => [`<code>${status}</code>`, prose(words)]))}
${resources.map(({ part }) => part).join('\n')}
<h2 id="problems">Problems</h2>
<p>Each refusal has one of these as its <code>code</code>; its <code>type</code> leads here.</p>
${problemRows()}
<h2 id="forms">Forms</h2>
${schemas.join('\n')}
</main></body></html>
`;
}

/** Each problem, at the anchor that its `type` names. */
function problemRows(): string {
  const rows = PROBLEM_CODES.map((code) => {
    const { title, about = '' }: { title: string; about?: string } = PROBLEMS[code];
    return `<tr id="problem-${code}"><th scope="row"><code>${code}</code></th><td>${prose(`${title}. ${about}`)}</td></tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

function operationHtml(operation: Listed): string {
  const { operationId, method, path, summary, description = '', parameters = [], requestBody, responses } = operation;
  const body = requestBody ? `<p>Body: ${linkSchema(Object.values(requestBody.content)[0]?.schema)}</p>` : '';
  const taken = parameters.map((parameter) => [
    `<code>${text(parameter.name)}</code> <span class="faint">${text(parameter.in)}${parameter.required ? ', required' : ''}</span>`,
    prose(parameter.description ?? ''),
  ]);
  const answers = Object.entries(responses)
    .filter(([status, { description: words }]) => COMMON_PROBLEMS[Number(status)] !== words)
    .map(([status, { description: words, content }]) => [
      `<code>${text(status)}</code> ${content ? linkSchema(Object.values(content)[0]?.schema) : ''}`,
      prose(words),
    ]);
  return `<h3 id="${text(operationId)}">${text(summary)}</h3>
<p><code>${text(method.toUpperCase())} ${text(path)}</code> <span class="faint">scope <code>${text(operation['x-scope'])}</code></span></p>
<p>${prose(description)}</p>${table(taken)}${body}${table(answers)}`;
}

function schemaHtml(name: string, schema: Json): string {
  return `<details id="schema-${text(name)}"><summary><code>${text(name)}</code></summary><pre tabindex="0"><code>${text(
    JSON.stringify(schema, null, 2),
  )}</code></pre></details>`;
}

function linkSchema(schema: Json | undefined): string {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema?.$ref ?? ''))?.[1] ?? '';
  return name === '' ? '' : `<a href="#schema-${text(name)}"><code>${text(name)}</code></a>`;
}

function table(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map((cells) => {
    const [name = '', ...others] = cells;
    return `<tr><th scope="row">${name}</th>${others.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<table>${lines.join('')}</table>`;
}

/** Escapes the words for HTML, and shows as code each part between backticks. */
function prose(words: string): string {
  return text(words).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function text(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
