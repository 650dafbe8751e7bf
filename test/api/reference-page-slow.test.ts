/** Checks the HTML reference in Chromium with axe-core's rules: narrow and wide, light and dark. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { REFERENCE_PAGE_CSP, writeReferencePage } from '../../src/api/documents.ts';
import { chromiumPath } from '../browser/ui-world.ts';

const ADDRESS = 'http://127.0.0.1/v1/reference';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test('the reference page fits each screen, and violates no accessibility rule and no content security policy', async (t) => {
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu'] });
  t.after(() => browser.close());
  const body = writeReferencePage();
  for (const width of [360, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': REFERENCE_PAGE_CSP };
      await page.route(ADDRESS, (route) => route.fulfill({ status: 200, headers, body }));
      await page.goto(ADDRESS);
      const shown = await page.evaluate(`(() => {
        const { backgroundColor } = getComputedStyle(document.body);
        return { width: document.documentElement.scrollWidth, backgroundColor };
      })()`);
      const backgroundColor = colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 26)';
      assert.deepEqual(shown, { width, backgroundColor });
      await page.evaluate(axe);
      const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      assert.deepEqual(
        found.violations.map(({ id, nodes }) => [id, nodes[0]?.html]),
        [],
      );
      assert.deepEqual(complaints, []);
      await context.close();
    }
  }
});
