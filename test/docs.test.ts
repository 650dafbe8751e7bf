/** The documents: each page has one reader, each link leads somewhere, and the claim table is the code's. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { CLAIM_RULES } from '../src/ledger/claim.ts';
import { FAILURE_TYPES } from '../src/model/failure-types.ts';

const root = join(import.meta.dirname, '..');
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const PAGES = globSync('{docs/**/*.md,*.md}', { cwd: root });

/** The links of a page outside its code, as paths from the root. */
function linksOf(page: string): { path: string; anchor: string | undefined }[] {
  const prose = read(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, 'code');
  const links = [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links.map(([, to = '', anchor]) => ({ path: to === '' ? page : join(dirname(page), to), anchor }));
}

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): string[] {
  const headings = [
    ...read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ];
  return headings.map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

test('every page is listed under exactly one reader, or on the page of its folder', () => {
  const listed = [...read('docs/README.md').matchAll(/^\| \[.+?\]\((.+?\.md)\) \|/gm)].map(([, to = '']) => to);
  const pages = PAGES.flatMap((page) => (page.startsWith('docs/') ? [relative('docs', page)] : []));
  const own = pages.filter((page) => page !== 'README.md' && (!page.includes('/') || page.endsWith('/README.md')));
  assert.deepEqual(listed.sort(), own.sort());
  for (const page of pages.filter((one) => !own.includes(one) && one !== 'README.md')) {
    const index = join('docs', dirname(page), 'README.md');
    assert.ok(
      linksOf(index).some(({ path }) => path === join('docs', page)),
      `${index} does not list ${page}`,
    );
  }
});

test('every link leads to a file, and to a heading in it', () => {
  const broken = PAGES.flatMap((page) =>
    linksOf(page).flatMap(({ path, anchor }) => {
      const leads = existsSync(join(root, path)) && (anchor === undefined || anchorsOf(path).includes(anchor));
      return leads ? [] : [`${page}: ${path}${anchor === undefined ? '' : `#${anchor}`}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test('the claim table has the rules in their order, and the failure table has every failure type', () => {
  const [, claims = '', failures = ''] =
    /^## The claim table\n([\s\S]*?)^## What happened, and what follows\n([\s\S]*?)^## /m.exec(
      read('docs/protocol.md'),
    ) ?? [];
  const rules = [...claims.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    rules,
    CLAIM_RULES.map(({ name }) => name),
  );
  const types = [...failures.matchAll(/^\| .+? \| `(\w+)` \|/gm)].map(([, type]) => type);
  assert.deepEqual([...new Set(types)].sort(), [...FAILURE_TYPES].sort());
});

test('every file of the code that a page names exists', () => {
  const missing = PAGES.flatMap((page) =>
    [...read(page).matchAll(/`((?:src|test|scripts|page|sandbox|bench|lint|examples)\/[^`\s<>*{}]+)`/g)].flatMap(
      ([, path = '']) => (existsSync(join(root, path)) ? [] : [`${page}: ${path}`]),
    ),
  );
  assert.deepEqual(missing, []);
});
