/** The real Temporal UI in a real browser, with everything behind it: server, codec servers, worker, sandbox, ledger. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { CreditJourneys } from '../../src/client.ts';
import { startCodecServer } from '../../src/codec/server.ts';
import type { CodecRole } from '../../src/config/variables.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { startTemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { createKeyRing, openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { temporaryDirectory } from '../local/fake-programs.ts';
import { type Harness, startHarness, WAIT_LIMIT_MS } from '../support/journey-harness.ts';
import { chromiumFile } from '../support/needed-programs.ts';

const NAMESPACE = 'default';
export const VIEWPORT = { width: 1400, height: 1000 };
/** The UI's menus say the same on every page. */
const MENU_WIDTH = 256;
const HEAD_HEIGHT = 50;

export interface UiWorld {
  harness: Harness;
  journeys: CreditJourneys;
  /** The codec server's endpoint with `reveal` in its path, which asks for unmasked values. */
  revealEndpoint: string;
  /** `path` is behind the namespace. `codecEndpoint`: another than the server's own, or `null` for none. */
  open(path: string, codecEndpoint?: string | null): Promise<Page>;
  url(path: string): string;
}

/** Ends with the test. */
export async function startUiWorld(t: TestContext): Promise<UiWorld> {
  const executablePath = chromiumPath();
  const dataDir = await temporaryDirectory(t);
  const [temporalPort = 0, uiPort = 0] = await freePorts(2);
  const keyRingFile = join(dataDir, 'keys.json');
  await createKeyRing(keyRingFile);
  const codec = await startCodec(keyRingFile, uiPort, join(dataDir, 'codec-audit.log'));
  t.after(() => codec.close());
  const [server, browser, reveal] = await Promise.all([
    startTemporalServer({ port: temporalPort, uiPort, uiCodecEndpoint: codec.endpoint }),
    // Root, which a build machine often is, gets no sandbox.
    chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-lcd-text'] }),
    startCodec(keyRingFile, uiPort, join(dataDir, 'reveal-audit.log'), ['encode', 'reveal']),
  ]);
  t.after(async () => {
    await Promise.all([browser.close(), reveal.close()]);
    await server.stop();
  });
  const harness = await startHarness({ server, env: { PAYLOAD_ENCRYPTION: 'on', KEY_RING_FILE: keyRingFile } });
  t.after(() => harness.close());
  const [journeys, profile] = await Promise.all([connect(harness), newProfile(browser)]);
  const url = (path: string) => `${server.uiUrl}/namespaces/${NAMESPACE}/${path}`;
  return {
    harness,
    journeys,
    revealEndpoint: `${reveal.endpoint}/reveal`,
    url,
    open: async (path, codecEndpoint) => {
      const page = await profile.newPage();
      if (codecEndpoint !== undefined) await useCodec(page, codecEndpoint);
      await page.goto(url(path));
      return page;
    },
  };
}

export function chromiumPath(): string {
  const path = chromiumFile(process.env);
  if (existsSync(path)) return path;
  throw new Error(`no Chromium at ${path}: \`apt-get install chromium\`, or say by CHROMIUM_PATH where it is`);
}

async function startCodec(keyRingFile: string, uiPort: number, auditFile: string, roles?: CodecRole[]) {
  return startCodecServer({
    environment: 'sandbox',
    keys: await openKeyRing({ keyRingFile, keyRingMayBeMade: false }),
    authentication: { kind: 'path', roles },
    namespaces: [NAMESPACE],
    uiOrigins: [`http://127.0.0.1:${uiPort}`],
    audit: { file: auditFile },
  });
}

function connect({ client, config }: Harness): Promise<CreditJourneys> {
  return CreditJourneys.connect({
    address: config.temporal.address,
    dataConverter: client.options.loadedDataConverter,
    namespace: NAMESPACE,
    taskQueue: config.taskQueue,
  });
}

/** All pages share one profile: the UI is two megabytes of scripts, which each new one would load again. */
async function newProfile(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'reduce' });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  // The UI asks its maker for news. The tests block that.
  await context.route(
    ({ hostname }) => hostname !== '127.0.0.1',
    (route) => route.abort(),
  );
  // The UI's dialog for the list's columns keeps these.
  const columns = ['Status', 'Workflow ID', 'NeedsAttention', 'JourneyStage', 'EndUserCode', 'Start'];
  const stored = JSON.stringify({ [NAMESPACE]: columns.map((label) => ({ label })) });
  await context.addInitScript((value) => localStorage.setItem('namespace-workflow-table-columns', value), stored);
  return context;
}

/** Acts as a UI whose server was started with that `--ui-codec-endpoint`, or without. */
async function useCodec(page: Page, endpoint: string | null): Promise<void> {
  await page.route('**/api/v1/settings*', async (route) => {
    const response = await route.fetch();
    const settings = (await response.json()) as { Codec?: object };
    const Codec = endpoint === null ? undefined : { ...settings.Codec, Endpoint: endpoint };
    await route.fulfill({ response, json: { ...settings, Codec } });
  });
}

/** Keeps a picture of what is below `top` and right of `left`, where `SCREENSHOT_DIR` names a directory. */
export async function keepScreenshot(
  page: Page,
  name: string,
  { width = VIEWPORT.width, height = VIEWPORT.height, left = MENU_WIDTH, top = HEAD_HEIGHT } = {},
): Promise<void> {
  const directory = process.env.SCREENSHOT_DIR;
  if (!directory) return;
  await mkdir(directory, { recursive: true });
  const before = page.viewportSize() ?? VIEWPORT;
  await page.setViewportSize({ width, height });
  // Frames and lines of the timeline take their time to be drawn.
  await page.waitForTimeout(700);
  const clip = { x: left, y: top, width: width - left, height: height - top };
  await page.screenshot({ path: join(directory, `${name}.png`), clip });
  await page.setViewportSize(before);
}
