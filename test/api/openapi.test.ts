import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createOpenApiDocument } from '../../src/api/documents.ts';
import { OPERATIONS } from '../../src/operations/all-operations.ts';
import { isScope } from '../../src/operations/scopes.ts';

const committed = JSON.parse(readFileSync(new URL('../../schemas/api.openapi.json', import.meta.url), 'utf8'));
const document = createOpenApiDocument();

describe('the OpenAPI document', () => {
  test('equals the committed file in schemas/ (if not, run npm run schemas)', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(document)), committed);
  });

  test('has every operation once, each with a scope and a unique id', () => {
    const ids = OPERATIONS.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    const addresses = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    assert.equal(new Set(addresses).size, addresses.length);
    for (const { operationId, scope } of OPERATIONS) assert.ok(isScope(scope), operationId);
  });

  test('has a row in docs/idempotency.md for each operation that writes', () => {
    const page = readFileSync(new URL('../../docs/idempotency.md', import.meta.url), 'utf8');
    const described = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, operationId]) => operationId);
    const writing = OPERATIONS.filter(({ method }) => method !== 'GET').map(({ operationId }) => operationId);
    assert.deepEqual(described.toSorted(), writing.toSorted());
  });

  test('says that a query that the operation does not take is refused, and a consent for a run out of reach', () => {
    const paths = document.paths as Record<string, Record<string, { responses: object }>>;
    for (const { method, path } of OPERATIONS) {
      assert.ok(Object.hasOwn(paths[path]?.[method.toLowerCase()]?.responses ?? {}, 422), path);
    }
    assert.ok(Object.hasOwn(paths['/v1/consents']?.post?.responses ?? {}, 404));
  });

  test('has a constant only as the last of a choice', () => {
    // openapi-python-client tries the others in turn, but an earlier constant that does not fit ends its reading.
    const choices = JSON.stringify(committed).match(/"anyOf":\[\{[^[\]]*/g) ?? [];
    assert.ok(choices.length > 5);
    for (const choice of choices) assert.doesNotMatch(choice, /"anyOf":\[\{"type":"\w+","const":/);
  });

  test('contains every schema that it refers to', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    assert.ok(references.length > 20);
    const { schemas } = document.components as { schemas: object };
    for (const [, name = ''] of references) assert.ok(Object.hasOwn(schemas, name), name);
    assert.ok(!JSON.stringify(document).includes('$defs'));
  });
});
