import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workflowBundle } from '../support/temporal.ts';

test('the workflow bundle holds workflow code alone: no activity, HTTP, database or schema module', async (t) => {
  const { code } = await workflowBundle();
  const [program = ''] = code.split('//# sourceMappingURL=');
  const modules = new Set(
    [...program.matchAll(/^\/\*\*\*\/ "\.\/((?:src|node_modules)\/[^"]+)"$/gm)].map(([, path]) => path as string),
  );
  assert.ok(modules.has('src/workflows/journey/lending-journey.ts'));
  // Runs in the workflow's sandbox by design: it has no key and opens nothing.
  modules.delete('src/protection/payloads/failure-converter.ts');
  for (const path of modules) {
    assert.doesNotMatch(path, /^src\/(activities|gateway|ledger|protection|validation|local|cli|client)\//);
    assert.doesNotMatch(
      path,
      /^node_modules\/(zod|undici|pg|pino|fastify|commander|@temporalio\/(client|worker|activity))\//,
    );
  }
  t.diagnostic(`${Math.round(program.length / 1000)} kB without its source map, ${modules.size} modules`);
});
