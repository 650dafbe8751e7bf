/** The tree matches ARCHITECTURE.md. Checks every import of `src` and `sandbox`, types included. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { circles, type ImportGraph, layerOf, readImports, upwardImports } from '../scripts/import-graph.ts';
import { SANDBOX_STARTERS } from '../scripts/layers.ts';
import { ARCHITECTURE, drawn, walkOf } from '../scripts/write-architecture.ts';

const WALK = { files: 12, lines: 3_500 };
const PROGRAMS = ['src/cli.ts', 'src/client.ts', 'src/worker.ts'];

const graph = readImports();
const files = [...graph.keys()];

function linesOf(file: string): number {
  return readFileSync(join(import.meta.dirname, '..', file), 'utf8').split('\n').length - 1;
}

test('every file of src belongs to a layer, and only the three programs are outside the folders', () => {
  const sources = files.filter((file) => file.startsWith('src/'));
  assert.deepEqual(
    sources.filter((file) => layerOf(file) === undefined),
    [],
  );
  assert.deepEqual(
    sources.filter((file) => dirname(file) === 'src'),
    PROGRAMS,
  );
});

test('each file imports from its own layer and those below it', () => {
  assert.deepEqual(upwardImports(graph), []);
});

/** Files of other layers whose values the client imports: environment, codec protocol, connections, refusal texts, histories. */
const CLIENT_NEEDS = [
  'src/client/connection/codec-server.ts → src/gateway/connections.ts',
  'src/client/connection/codec-server.ts → src/http/payload-json.ts',
  'src/client/connection/connect.ts → src/config/client.ts',
  'src/client/connection/errors.ts → src/http/refusal.ts',
  'src/client/runs/run-handle.ts → src/temporal/histories.ts',
  'src/client/runs/start-run.ts → src/temporal/histories.ts',
];
const CLIENT_MAY = /^src\/(client|model|base|messages|fields|protection)\//;
const VALUE_IMPORT = /^(?:import (?!type )[^;]*?from '(\.[^']+)'|.*\bimport\('(\.[^']+)'\))/gm;

test('the client imports values only from the pure layers, with six exceptions', () => {
  const found = files
    .filter((file) => file.startsWith('src/client/'))
    .flatMap((file) => {
      const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
      const targets = [...text.matchAll(VALUE_IMPORT)].map(([, from, lazy]) => join(dirname(file), from ?? lazy ?? ''));
      return targets.filter((target) => !CLIENT_MAY.test(target)).map((target) => `${file} → ${target}`);
    });
  assert.deepEqual(found.sort(), CLIENT_NEEDS);
});

test('no files import one another in a circle', () => {
  assert.deepEqual(circles(graph), []);
});

test('the sandbox imports nothing of src, and only two files of src start the sandbox', () => {
  const crossing = [...graph].filter(([file, targets]) =>
    targets.some((target) => target.split('/')[0] !== file.split('/')[0]),
  );
  assert.deepEqual(
    crossing.map(([file]) => file),
    SANDBOX_STARTERS,
  );
});

test(`a reader follows one request through at most ${WALK.files} files and ${WALK.lines} lines`, () => {
  const walk = walkOf(readFileSync(ARCHITECTURE, 'utf8'));
  assert.deepEqual(
    walk.filter((file) => !files.includes(file)),
    [],
  );
  assert.ok(walk.includes('src/activities/submit-inquiry.ts'));
  assert.ok(walk.length <= WALK.files, `${walk.length} files`);
  const lines = walk.reduce((sum, file) => sum + linesOf(file), 0);
  assert.ok(lines <= WALK.lines, `${lines} lines`);
});

test('ARCHITECTURE.md draws the current imports (`npm run architecture` updates it)', () => {
  const page = readFileSync(ARCHITECTURE, 'utf8');
  assert.equal(drawn(page), page);
  assert.match(page, /workflows --> ledger/);
  assert.ok(page.split('\n').length < 170, 'a page that is longer is not read');
});

test('only the comparison of a run reads a sealed report without recording its reader', () => {
  const reads = /\.reportsToCompare\(/;
  const readers = files.filter((file) => reads.test(readFileSync(join(import.meta.dirname, '..', file), 'utf8')));
  assert.deepEqual(readers, ['src/activities/compare-reports.ts']);
});

test('an import from a higher layer and a circle of imports are found', () => {
  const wrong: ImportGraph = new Map([
    ['src/base/instants.ts', ['src/model/products.ts']],
    ['src/model/products.ts', ['src/model/inquiry.ts']],
    ['src/model/inquiry.ts', ['src/model/products.ts']],
  ]);
  assert.deepEqual(upwardImports(wrong), ['src/base/instants.ts → src/model/products.ts']);
  assert.deepEqual(circles(wrong), [['src/model/inquiry.ts', 'src/model/products.ts']]);
});
