/** `npm run schemas`: writes `schemas/*.json`, the JSON Schemas of every input, message and answer; Biome then formats them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedSchemas } from './published-schemas.ts';

const directory = join(import.meta.dirname, '..', 'schemas');

for (const [name, schema] of publishedSchemas()) {
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
}
