/**
 * `npm run schemas`: writes `schemas/*.json`, the JSON Schemas of every input, message and answer, and the API's OpenAPI
 * document and its types for the page; Biome then formats them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiDocument } from '../src/api/documents.ts';
import { pageSchemas } from './api-types.ts';
import { publishedSchemas } from './published-schemas.ts';

const directory = join(import.meta.dirname, '..', 'schemas');

for (const [name, schema] of publishedSchemas()) {
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
}

const document = createOpenApiDocument();
writeFileSync(join(directory, 'api.openapi.json'), `${JSON.stringify(document, null, 2)}\n`);
writeFileSync(join(directory, '..', 'page/api/schemas.ts'), pageSchemas(document));
