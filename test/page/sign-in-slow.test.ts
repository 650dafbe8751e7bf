/** Sign-in to the page by oauth2-proxy as in the compose file: browser, proxy, provider and API are real. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { startTestApi } from '../api/fixtures.ts';
import { until } from '../api/until.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { axeFindings, hear, type Json, keepPictures, startPageWorld } from './page-world.ts';
import { composedSignIn } from './signing-proxy.ts';

const HEADER = 'x-forwarded-access-token';
/** The API accepts a token for five seconds more, in which a loaded machine can sign in and type. */
const SHORT_SESSION_SECONDS = 4;
/** The page asks every ten seconds: it may need a second question, and a loaded machine a third. */
const ENDS_IN = { timeout: 60_000 };

/** Sends a request from another address of this machine than the proxy's, as a neighbour of the API would. */
function fromElsewhere(url: string, headers: Record<string, string>): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { headers, localAddress: '127.0.0.3' }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).code });
    });
    asked.on('error', reject).end();
  });
}

test('the page behind oauth2-proxy', async (t) => {
  const world = await startPageWorld(t);
  const provider = await startOidcProvider(t, ['operator-1', 'operator-2']);
  const { apiOptions, start } = await composedSignIn(t, provider);
  const api = await startTestApi(world.harness, { pageDirectory: world.pageDirectory, ...apiOptions });
  t.after(() => api.close());
  const proxy = await start(api.url);
  const complaints: string[] = [];

  /** Chooses a user on the provider's page. */
  async function signIn(page: Page, who: string): Promise<void> {
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
    await page.getByRole('link', { name: who }).click();
    await page.getByText(`Acting as ${who}`).waitFor();
  }
  async function signedIn(who: string): Promise<{ context: BrowserContext; page: Page }> {
    const context = await world.browse();
    const page = await context.newPage();
    hear(page, complaints);
    await page.goto(`${proxy}/`);
    await signIn(page, who);
    return { context, page };
  }
  const decisionOf = async ({ runKey }: Json): Promise<Json> =>
    (await world.api.call(`/v1/inquiries?runKey=${runKey}`)).json.data[0]?.decision;

  await t.test(
    'lets an operator sign in at the provider, see the queue, decide under that name, and sign out',
    async () => {
      const hold = await world.hold('LOAN-PROXY');
      const { page } = await signedIn('operator-1');
      await page.getByRole('link', { name: 'LOAN-PROXY' }).click();
      await page.getByRole('button', { name: /^Abandon/ }).click();
      await page.getByRole('radio', { name: 'it was posted' }).check();
      await page.getByLabel('Reason').fill('a test');
      await page.keyboard.press('Control+Enter');
      await page.getByText('Decided: abandon.').waitFor();
      assert.equal((await decisionOf(hold)).by, 'operator-1');
      await page.getByRole('link', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Signed out everywhere' }).waitFor();
      await page.goto(`${proxy}/`);
      await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
      await signIn(page, 'operator-2');
      await page.context().close();
    },
  );

  await t.test('ignores identity headers that a visitor sends through or past the proxy', async () => {
    const theirs = await provider.accessToken('operator-2');
    // Requests of the previous page may still arrive for a moment.
    const linesAfterRest = async () => {
      const before = api.lines.length;
      await sleep(500);
      return api.lines.length === before ? before : undefined;
    };
    const from = await until(linesAfterRest);
    // Without a sign-in, the proxy answers itself.
    const unknown = await fetch(`${proxy}/v1/session`, { headers: { [HEADER]: theirs, 'x-forwarded-user': 'root' } });
    assert.equal(unknown.status, 401);
    assert.equal(api.lines.length, from, 'nothing reached the API');
    const { context } = await signedIn('operator-1');
    const asked = async (headers: Record<string, string>) => {
      const answer = await context.request.get(`${proxy}/v1/session`, { headers });
      return { status: answer.status(), ...(await answer.json()) };
    };
    const forgeries: Record<string, string>[] = [
      { [HEADER]: theirs },
      { 'X-Forwarded-Access-Token': `${theirs}, ${theirs}` },
      { 'x-forwarded-user': 'root', 'x-forwarded-email': 'root@example.com', 'x-auth-request-user': 'root' },
      { cookie: `${await cookiesOf(context)}; credit-journey-session=${theirs}` },
    ];
    for (const headers of forgeries) {
      const { status, by } = await asked(headers);
      assert.deepEqual([status, by], [200, 'operator-1'], Object.keys(headers).join());
    }
    const both = await asked({ authorization: `Bearer ${theirs}` });
    assert.deepEqual([both.status, both.code], [401, 'twoTokens']);
    // A page of another site cannot decide with the proxy's cookie.
    const data = { decisionId: 'D-X', flag: 'ssnMismatch', reason: 'a test' };
    const foreign = await context.request.post(`${proxy}/v1/runs/LOAN-PROXY/seen`, { data });
    assert.deepEqual([foreign.status(), (await foreign.json()).code], [403, 'crossSite']);
    // The API refuses requests that bypass the proxy, by their address.
    const past = await fromElsewhere(`${api.url}/v1/session`, { [HEADER]: theirs });
    assert.deepEqual([past.status, past.code], [403, 'proxy']);
  });

  await t.test(
    'keeps what was typed when the session ends and the same operator signs in again in another tab',
    async () => {
      const hold = await world.hold('LOAN-EXPIRED');
      provider.lifetimeSeconds = SHORT_SESSION_SECONDS;
      const { context, page } = await signedIn('operator-1');
      provider.lifetimeSeconds = 300;
      await page.goto(`${proxy}/#/runs/LOAN-EXPIRED?hold=${hold.holdId}&action=abandon`);
      await page.getByRole('radio', { name: 'they cannot say' }).check();
      await page.getByLabel('Reason').fill('typed before the session ended');
      await page.getByText('Your session has ended.').waitFor(ENDS_IN);
      assert.deepEqual(await axeFindings(page), []);
      await keepPictures(page, 'session-ended');
      const [tab] = await Promise.all([
        context.waitForEvent('page'),
        page.getByRole('link', { name: /^Sign in again/ }).click(),
      ]);
      await tab.getByText('Acting as operator-1').waitFor();
      await tab.close();
      await page.getByText('Acting as operator-1').waitFor();
      assert.equal(await page.getByLabel('Reason').inputValue(), 'typed before the session ended');
      assert.equal(await page.getByRole('radio', { name: 'they cannot say' }).isChecked(), true);
      await page.keyboard.press('Control+Enter');
      await page.getByText('Decided: abandon.').waitFor();
      assert.equal((await decisionOf(hold)).reason, 'typed before the session ended');
    },
  );

  await t.test('discards what was typed when another operator signs in after the session ends', async () => {
    const hold = await world.hold('LOAN-OTHER');
    provider.lifetimeSeconds = SHORT_SESSION_SECONDS;
    const { context, page } = await signedIn('operator-1');
    provider.lifetimeSeconds = 300;
    await page.goto(`${proxy}/#/runs/LOAN-OTHER?hold=${hold.holdId}&action=abandon`);
    await page.getByLabel('Reason').fill('typed by the first');
    await page.getByText('Your session has ended.').waitFor(ENDS_IN);
    const tab = await context.newPage();
    await tab.goto(`${provider.url}/signed-out`);
    // As the page's link does: the proxy's session would sign in the first operator with an expired token.
    await tab.goto(`${proxy}/oauth2/start?rd=%2F`);
    await signIn(tab, 'operator-2');
    await page.getByText('Acting as operator-2').waitFor();
    assert.equal(await page.getByLabel('Reason').inputValue(), '');
  });

  await t.test('logs no error in the browser or the API', () => {
    assert.deepEqual([complaints, api.unexpected], [[], []]);
  });
});

async function cookiesOf(context: BrowserContext): Promise<string> {
  return (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
}
