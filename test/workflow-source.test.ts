/** A worker runs only a bundle that matches its configuration. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FAILURE_CONVERTER_MARK } from '../src/protection/payloads/failure-converter.ts';
import { resolveWorkflowSource } from '../src/worker/workflow-source.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-bundles-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function bundle(name: string, ...marks: string[]): string {
  const path = join(directory, name);
  writeFileSync(path, marks.map((mark) => `const a = '${mark}';`).join('\n'));
  return path;
}

test('a bundle that does not encode failures is refused with payload encryption; a bundle that does is accepted', () => {
  const plain = bundle('plain.js', FAILURE_CONVERTER_MARK);
  const bare = bundle('bare.js');
  assert.deepEqual(resolveWorkflowSource({ bundlePath: plain, isEncrypting: true }), {
    workflowBundle: { codePath: plain },
  });
  assert.throws(() => resolveWorkflowSource({ bundlePath: bare, isEncrypting: true }), /does not encode failures/);
});

test('workflow code from the sources has the flood interceptors, and preloads them', () => {
  const floods = /src\/workflows\/run\/promise-stacks\.ts$/;
  const { workflowsPath, interceptors, bundlerOptions } = resolveWorkflowSource({ isEncrypting: true });
  assert.match(String(workflowsPath), /src\/workflows\/index\.ts$/);
  assert.match(interceptors?.workflowModules?.[0] ?? '', floods);
  assert.match(bundlerOptions?.preloadModules?.[0] ?? '', floods);
});
