/** A worker runs a bundle only that does what its configuration says. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FAILURE_CONVERTER_MARK } from '../src/protection/payloads/failure-converter.ts';
import { WORKFLOW_TRACING_MARK } from '../src/telemetry/bundle-mark.ts';
import { workflowSource } from '../src/worker/workflow-source.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-bundles-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function bundle(name: string, ...marks: string[]): string {
  const path = join(directory, name);
  writeFileSync(path, marks.map((mark) => `const a = '${mark}';`).join('\n'));
  return path;
}

test('a bundle that encodes failures, and traces or does not as is asked', () => {
  const plain = bundle('plain.js', FAILURE_CONVERTER_MARK);
  const tracing = bundle('tracing.js', FAILURE_CONVERTER_MARK, WORKFLOW_TRACING_MARK);
  const bare = bundle('bare.js');
  const isEncrypting = true;
  assert.deepEqual(workflowSource({ bundlePath: plain, isEncrypting, isTracing: false }), {
    workflowBundle: { codePath: plain },
  });
  assert.deepEqual(workflowSource({ bundlePath: tracing, isEncrypting, isTracing: true }), {
    workflowBundle: { codePath: tracing },
  });
  assert.throws(() => workflowSource({ bundlePath: bare, isEncrypting, isTracing: false }), /does not encode failures/);
  assert.throws(() => workflowSource({ bundlePath: plain, isEncrypting, isTracing: true }), /does not trace/);
  assert.throws(() => workflowSource({ bundlePath: tracing, isEncrypting, isTracing: false }), /OTLP_ENDPOINT/);
});

test('from the sources, floods have their interceptors, preloaded too, and traces theirs besides', () => {
  const floods = /src\/workflows\/run\/promise-stacks\.ts$/;
  const plain = workflowSource({ isEncrypting: true, isTracing: false });
  assert.equal(plain.interceptors?.workflowModules?.length, 2);
  assert.match(plain.interceptors?.workflowModules?.[0] ?? '', floods);
  assert.match(plain.bundlerOptions?.preloadModules?.[0] ?? '', floods);
  const { workflowsPath, interceptors } = workflowSource({ isEncrypting: true, isTracing: true });
  assert.match(String(workflowsPath), /src\/workflows\/index\.ts$/);
  assert.match(interceptors?.workflowModules?.[0] ?? '', floods);
  assert.match(interceptors?.workflowModules?.[2] ?? '', /src\/telemetry\/workflow-tracing\.ts$/);
});
