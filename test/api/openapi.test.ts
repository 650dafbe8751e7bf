import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { incompatibilities } from '../../scripts/openapi-compatibility.ts';
import { openApiDocument } from '../../src/api/openapi.ts';
import { ROUTES } from '../../src/api/route-table.ts';
import { isScope } from '../../src/operations/scopes.ts';

const committed = JSON.parse(readFileSync(new URL('../../schemas/api.openapi.json', import.meta.url), 'utf8'));
const document = openApiDocument();

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Change = (changed: any) => void;

describe('the API’s document', () => {
  test('is the one that lies in schemas/ (else: npm run schemas), and breaks no caller of it', () => {
    assert.deepEqual(incompatibilities(committed, document), []);
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

  const status = '/v1/journeys/{journeyId}';
  const broken: [what: string, change: Change, told: RegExp][] = [
    ['an operation that is gone', (one) => delete one.paths[status].get, /GET \/v1\/journeys\/\{journeyId\} is gone/],
    ['another operationId', (one) => Object.assign(one.paths[status].get, { operationId: 'x' }), /another operationId/],
    ['another scope', (one) => Object.assign(one.paths[status].get, { 'x-scope': 'holds:read' }), /another scope/],
    [
      'a parameter that is gone',
      (one) => Object.assign(one.paths['/v1/journeys'].get, { parameters: [] }),
      /the parameter query limit is gone/,
    ],
    [
      'a parameter that is required now',
      (one) => one.paths['/v1/journeys'].get.parameters.push({ name: 'x', in: 'query', required: true, schema: {} }),
      /query x is required now/,
    ],
    [
      'a member of a request that is required now',
      (one) => one.components.schemas.withdrawJourney.required.push('x'),
      /the body\/x is required now/,
    ],
    [
      'a member of a request that is not taken any more',
      (one) => delete one.components.schemas.startJourney.properties.gates,
      /the body\/gates is not taken any more/,
    ],
    [
      'a value that is not taken any more',
      (one) => one.components.schemas.startJourney.properties.onNoRecord.enum.pop(),
      /onNoRecord does not take/,
    ],
    [
      'a member of an answer that is gone',
      (one) => delete one.components.schemas.stageStatus.properties.state,
      /200\/stages\/\*\/state is gone/,
    ],
    [
      'a member of an answer that may be absent now',
      (one) => one.components.schemas.journeyStatus.required.shift(),
      /may be absent now/,
    ],
    [
      'a member of another type',
      (one) => Object.assign(one.components.schemas.journeyStatus.properties.journeyId, { type: 'integer' }),
      /of another type/,
    ],
    ['an answer that is gone', (one) => delete one.paths[status].get.responses[304], /does not answer 304/],
  ];
  for (const [what, change, told] of broken) {
    test(`is reported as breaking callers: ${what}`, () => {
      const changed = structuredClone(committed);
      change(changed);
      assert.match(incompatibilities(committed, changed).join('\n'), told);
    });
  }

  test('may grow: an operation, a parameter, a member', () => {
    const changed = structuredClone(committed);
    changed.paths['/v1/more'] = changed.paths['/v1/journeys'];
    changed.paths['/v1/journeys'].get.parameters.push({ name: 'x', in: 'query', required: false, schema: {} });
    changed.components.schemas.journeyStatus.properties.x = { type: 'string' };
    changed.components.schemas.startJourney.properties.x = { type: 'string' };
    assert.deepEqual(incompatibilities(committed, changed), []);
  });
});
