/** The built page without a browser: what it loads, its size, and its parts that need no browser. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Hold } from '../../page/api/schemas.ts';
import { groupsOf, mergeRows } from '../../page/queue/rows.ts';
import { readAnswers } from '../../page/together/provider-file.ts';
import { pageSchemas } from '../../scripts/api-types.ts';
import { buildPage } from '../../scripts/build-page.ts';
import { DEFAULT_PAGE_DIRECTORY } from '../../src/api/page.ts';
import { temporaryDirectory } from '../local/fake-programs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MOST_BYTES = 60_000;

test('the built page is one script, one style sheet and an icon from its own server, in less than 60 kB', async (t) => {
  const directory = await temporaryDirectory(t);
  const { gzippedBytes } = await buildPage(directory);
  assert.ok(gzippedBytes < MOST_BYTES, `${gzippedBytes} bytes`);
  const index = readFileSync(join(directory, 'index.html'), 'utf8');
  const loaded = [...index.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  const written = globSync('assets/*', { cwd: directory }).map((name) => `/${name}`);
  assert.deepEqual(loaded.sort(), written.sort());
  for (const name of written) assert.match(name, /^\/assets\/(?:page|style|icon)-\w{8}\.(?:js|css|svg)$/);
  // The server's policy permits none of these.
  assert.doesNotMatch(index, /<style|\sstyle=|\son\w+=|<script(?![^>]*src=)/);
});

test('an API that runs from its sources finds the built page in the folder of the build', () => {
  assert.equal(DEFAULT_PAGE_DIRECTORY, join(ROOT, 'dist', 'page'));
});

test('the page’s API types match the committed OpenAPI document', () => {
  const document = JSON.parse(readFileSync(join(ROOT, 'schemas/api.openapi.json'), 'utf8'));
  const withoutLayout = (text: string) => text.replaceAll(/[\s()|;,]+/g, '');
  const committed = readFileSync(join(ROOT, 'page/api/schemas.ts'), 'utf8');
  assert.equal(withoutLayout(committed), withoutLayout(pageSchemas(document)), 'run `npm run schemas`');
});

test('the page imports no server code, stores nothing in the browser, and makes no markup from text', () => {
  const files = globSync('page/**/*.{ts,tsx}', { cwd: ROOT });
  assert.ok(files.length > 30);
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    assert.doesNotMatch(text, /from '[^']*\/src\//, file);
    assert.doesNotMatch(text, /localStorage|sessionStorage|indexedDB|document\.cookie/, file);
    assert.doesNotMatch(text, /innerHTML|\beval\(|new Function/i, file);
  }
});

test('a line of the provider’s file is read as a trace number and whether it was posted', () => {
  const { answers, problems } = readAnswers(
    '# today\nPQ1 posted\r\nPQ2,not posted\n"PQ3";"notPosted"\n\nPQ 4\tNOT_POSTED\n',
  );
  assert.deepEqual(
    [...answers],
    [
      ['PQ1', 'posted'],
      ['PQ2', 'notPosted'],
      ['PQ3', 'notPosted'],
      ['PQ 4', 'notPosted'],
    ],
  );
  assert.deepEqual(problems, []);
});

test('a line without an answer, or one that contradicts another line, is reported as a problem', () => {
  const { problems } = readAnswers('PQ1\nPQ2 perhaps\nPQ3 posted\nPQ3 not posted\nnot posted\nPQ4 unposted');
  assert.deepEqual(
    problems.map(({ line }) => line),
    [1, 2, 4, 5, 6],
  );
});

function hold(holdId: string, since: string, failureType = 'OutcomeUnknown', kind: Hold['kind'] = 'held'): Hold {
  const guide = { meaning: '', providerWords: {}, actions: [] };
  return { holdId, since, failureType, kind, guide, runKey: holdId, profile: 'default', allowedActions: [] };
}

test('a refresh moves no row: a closed row keeps its place, and a new row is inserted by its age', () => {
  const shown = mergeRows([], [hold('a', '1'), hold('b', '2'), hold('d', '4')], true);
  const merged = mergeRows(shown, [hold('b', '2'), hold('c', '3'), hold('d', '4'), hold('e', '5')], true);
  assert.deepEqual(
    merged.map(({ hold: { holdId }, isGone }) => [holdId, isGone]),
    [
      ['a', true],
      ['b', false],
      ['c', false],
      ['d', false],
      ['e', false],
    ],
  );
});

test('a refresh does not mark rows after the last row that was read as gone', () => {
  const shown = mergeRows([], [hold('b', '2'), hold('c', '3')], true);
  const merged = mergeRows(shown, [hold('a', '1'), hold('b', '2')], false);
  assert.deepEqual(
    merged.filter(({ isGone }) => isGone),
    [],
  );
});

test('held rows are listed before flagged rows, the oldest reason first', () => {
  const rows = mergeRows(
    [],
    [hold('a', '1', 'lateAnswer', 'flagged'), hold('b', '2', 'NotEntitled'), hold('c', '3')],
    true,
  );
  assert.deepEqual(
    groupsOf(rows).map(({ failureType }) => failureType),
    ['NotEntitled', 'OutcomeUnknown', 'lateAnswer'],
  );
});
