/**
 * `npm run schemas`: writes `schemas/*.json`, the JSON Schemas of every input, message and answer, and the API's OpenAPI
 * document and its types for the page; Biome then formats them. A change that breaks the API's callers takes `INCOMPATIBLE=yes` before it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../src/api/openapi.ts';
import { incompatibilities } from './openapi-compatibility.ts';
import { pageSchemas } from './page-schemas.ts';
import { publishedSchemas } from './published-schemas.ts';

const directory = join(import.meta.dirname, '..', 'schemas');

for (const [name, schema] of publishedSchemas()) {
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
}

const file = join(directory, 'api.openapi.json');
const document = openApiDocument();
const broken = existsSync(file) ? incompatibilities(JSON.parse(readFileSync(file, 'utf8')), document) : [];
if (broken.length > 0 && process.env.INCOMPATIBLE !== 'yes') {
  process.stderr.write(`schemas/api.openapi.json is not written, since callers would miss something:\n`);
  for (const line of broken) process.stderr.write(`  ${line}\n`);
  process.exitCode = 1;
} else {
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(join(directory, '..', 'page/api/schemas.ts'), pageSchemas(document));
}
