import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createOpenApiDocument } from '../../src/api/openapi.ts';
import { ROUTES } from '../../src/api/route-table.ts';
import { isScope } from '../../src/operations/scopes.ts';

const committed = JSON.parse(readFileSync(new URL('../../schemas/api.openapi.json', import.meta.url), 'utf8'));
const document = createOpenApiDocument();

describe('the API’s document', () => {
  test('is the one that lies in schemas/ (else: npm run schemas)', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(document)), committed);
  });

  test('has every operation once, with a scope and an id of its own', () => {
    const ids = ROUTES.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    const addresses = ROUTES.map(({ method, path }) => `${method} ${path}`);
    assert.equal(new Set(addresses).size, addresses.length);
    for (const { operationId, scope } of ROUTES) assert.ok(isScope(scope), operationId);
  });

  test('says of each operation that writes what comes of the same again (docs/idempotency.md)', () => {
    const page = readFileSync(new URL('../../docs/idempotency.md', import.meta.url), 'utf8');
    const described = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, operationId]) => operationId);
    const writing = ROUTES.filter(({ method }) => method !== 'GET').map(({ operationId }) => operationId);
    assert.deepEqual(described.toSorted(), writing.toSorted());
  });

  test('refers to nothing that it does not have', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    assert.ok(references.length > 20);
    const { schemas } = document.components as { schemas: object };
    for (const [, name = ''] of references) assert.ok(Object.hasOwn(schemas, name), name);
    assert.ok(!JSON.stringify(document).includes('$defs'));
  });
});
