/** The work queue page in a real browser, with everything behind it: API, Temporal server, worker, sandbox, ledger. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { buildPage } from '../../scripts/build-page.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { ApiOptions } from '../../src/operations/services.ts';
import { startTestApi, type TestApi, type TokenParts, token } from '../api/fixtures.ts';
import { until } from '../api/until.ts';
import { chromiumPath } from '../browser/ui-world.ts';
import { temporaryDirectory } from '../local/fake-programs.ts';
import { applicant, type Harness, journeyInput, newSsn, startHarness } from '../support/journey-harness.ts';

export const WIDTHS = [360, 768, 1280, 1920] as const;
export const SCHEMES = ['light', 'dark'] as const;
const HEIGHTS: Readonly<Record<number, number>> = { 360: 800, 768: 1000, 1280: 800, 1920: 1080 };
const LONGEST_MS = 20_000;

// biome-ignore lint/suspicious/noExplicitAny: as an HTTP client sees it
export type Json = any;

/** An open page, and its complaints: failed scripts, and violations of the server's policy. */
export interface OpenPage {
  page: Page;
  complaints: string[];
}

export interface PageWorld {
  harness: Harness;
  api: TestApi;
  /** Opens the page in a browser of its own, signed in with the given token. */
  open(
    parts?: TokenParts,
    options?: { address?: string; width?: number; scheme?: (typeof SCHEMES)[number] },
  ): Promise<OpenPage>;
  /** Opens a browser of its own without a sign-in. */
  browse(): Promise<BrowserContext>;
  /** The directory of the built page. */
  pageDirectory: string;
  /** Stops the API; `startApi` starts it again at the same address. */
  stopApi(): Promise<void>;
  startApi(): Promise<void>;
  /** Starts a journey whose answer never comes, and returns its hold once the run waits for a decision. */
  hold(journeyId?: string, digits?: string, stages?: LendingJourneyInput['stages']): Promise<Json>;
}

/** Starts everything behind the page, and stops it with the test. */
export async function startPageWorld(t: TestContext): Promise<PageWorld> {
  const [harness, pageDirectory] = await Promise.all([startHarness(), temporaryDirectory(t)]);
  t.after(() => harness.close());
  const [browser] = await Promise.all([launch(t), buildPage(pageDirectory)]);
  const options: Partial<ApiOptions> = { pageDirectory, signIn: 'token', temporalUi: 'http://127.0.0.1:9' };
  options.runbookUrl = 'https://wiki.example.com/runbook';
  let api = await startTestApi(harness, options);
  t.after(() => api.close());
  const { port } = api;
  return {
    harness,
    get api() {
      return api;
    },
    async open(parts = {}, { address = '', width = 1280, scheme = 'light' } = {}) {
      const context = await newContext(browser, width, scheme);
      t.after(() => context.close());
      return signedIn(context, `${api.url}/`, await token(parts), address);
    },
    async browse() {
      const context = await newContext(browser, 1280, 'light');
      t.after(() => context.close());
      return context;
    },
    pageDirectory,
    stopApi: () => api.close(),
    startApi: async () => {
      api = await startTestApi(harness, { ...options, port });
    },
    async hold(journeyId = `LOAN-${randomUUID().slice(0, 8)}`, digits = '4002', stages = ['PREQUAL']) {
      const input = journeyInput({ journeyId, stages, applicants: [applicant('1A', newSsn(digits))] });
      const started = await api.call('/v1/journeys', { body: input });
      if (started.status !== 201) throw new Error(started.text);
      await until(async () => {
        const { json } = await api.call(`/v1/journeys/${journeyId}`);
        return json.state === 'held' ? json : undefined;
      });
      return until(async () => (await api.call(`/v1/holds?runKey=${journeyId}`)).json.data[0]);
    },
  };
}

async function launch(t: TestContext): Promise<Browser> {
  // Chromium has no sandbox for root, and builds often run as root.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-lcd-text'];
  const browser = await chromium.launch({ executablePath: chromiumPath(), args });
  t.after(() => browser.close());
  return browser;
}

async function newContext(browser: Browser, width: number, colorScheme: 'light' | 'dark'): Promise<BrowserContext> {
  const viewport = { width, height: HEIGHTS[width] ?? 800 };
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(LONGEST_MS);
  const told =
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))";
  await context.addInitScript(told);
  return context;
}

/** Opens the page as `dev` does: with the token in the fragment. */
async function signedIn(context: BrowserContext, url: string, given: string, address: string): Promise<OpenPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  hear(page, complaints);
  await page.goto(`${url}#token=${given}`);
  await page.getByRole('searchbox').waitFor();
  if (address !== '') await goTo(page, address);
  return { page, complaints };
}

export function hear(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // The browser itself reports each error answer and each refused connection.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
}

export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
}

/** Returns the findings of axe, as `rule: where`. */
export async function axeFindings(page: Page): Promise<string[]> {
  // The source is evaluated like a script of the developer tools, since the page's policy permits no other script.
  await page.evaluate(axe.source);
  const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const run = `axe.run(document, { runOnly: ${JSON.stringify(rules)} })`;
  const { violations } = await page.evaluate<AxeResults>(run);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Returns each width at which the view is wider than the window, and by how much. */
export async function overflows(page: Page): Promise<string[]> {
  const before = page.viewportSize();
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHTS[width] ?? 800 });
    const over = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (over > 0) found.push(`${width}: ${over}`);
  }
  if (before) await page.setViewportSize(before);
  return found;
}

/** Keeps pictures at all widths if `SCREENSHOT_DIR` names a directory. */
export async function keepPictures(page: Page, name: string): Promise<void> {
  const directory = process.env.SCREENSHOT_DIR;
  if (!directory) return;
  await mkdir(directory, { recursive: true });
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHTS[width] ?? 800 });
    await page.screenshot({ path: join(directory, `${name}-${width}.png`) });
  }
  if (before) await page.setViewportSize(before);
}
