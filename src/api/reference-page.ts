/** The reference for people: one static page, made of the OpenAPI document. No script, nothing from elsewhere. */
import type { Json } from './openapi.ts';

export const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
code{font:13px ui-monospace,monospace;background:#f2f4f7;padding:1px 4px;border-radius:3px}
table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{border-top:1px solid #d8dee4;padding:4px 8px;text-align:left;vertical-align:top}
h2{border-top:2px solid #1b1f24;padding-top:1rem}details{margin:.5rem 0}.scope{color:#57606a}`;

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  'x-scope': string;
  deprecated?: boolean;
  parameters?: { name: string; in: string; required: boolean; description?: string }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
}

export function referencePage(document: Json): string {
  const { info, paths, components } = document as {
    info: { title: string; description: string };
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Json>; securitySchemes: { token: { description: string } } };
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationHtml(method, path, operation)),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) => schemaHtml(name, schema));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${text(info.title)}: HTTP API</title><style>${STYLE}</style></head><body>
<h1>${text(info.title)}: HTTP API</h1>
<p>${prose(info.description)} The same for programs: <a href="openapi.json">openapi.json</a>.</p>
<p>${prose(components.securitySchemes.token.description)}</p>
${operations.join('\n')}
<h2>Forms</h2>
${schemas.join('\n')}
</body></html>
`;
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
  const body = requestBody ? `<p>Body: ${formOf(Object.values(requestBody.content)[0]?.schema)}</p>` : '';
  const taken = parameters.map((one) => [
    `<code>${text(one.name)}</code>`,
    `${text(one.in)}${one.required ? ', required' : ''}`,
    prose(one.description ?? ''),
  ]);
  const answers = Object.entries(responses).map(([status, { description: what, content }]) => [
    `<code>${text(status)}</code>`,
    content ? formOf(Object.values(content)[0]?.schema) : '',
    prose(what),
  ]);
  return `<h2 id="${text(operationId)}">${text(summary)}</h2>
<p><code>${text(method.toUpperCase())} ${text(path)}</code> <span class="scope">scope <code>${text(operation['x-scope'])}</code>${operation.deprecated ? ', deprecated' : ''}</span></p>
<p>${prose(description)}</p>${table(taken)}${body}${table(answers)}`;
}

function schemaHtml(name: string, schema: Json): string {
  return `<details id="schema-${text(name)}"><summary><code>${text(name)}</code></summary><pre><code>${text(
    JSON.stringify(schema, null, 2),
  )}</code></pre></details>`;
}

function formOf(schema: Json | undefined): string {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema?.$ref ?? ''))?.[1] ?? '';
  return name === '' ? '' : `<a href="#schema-${text(name)}"><code>${text(name)}</code></a>`;
}

function table(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table>${lines.join('')}</table>`;
}

/** With code in backticks. */
function prose(words: string): string {
  return text(words).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function text(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
