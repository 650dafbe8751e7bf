/** What operators see and do on the work queue page, in Chromium. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { SCOPES } from '../../src/operations/scopes.ts';
import { token } from '../api/fixtures.ts';
import { until } from '../api/until.ts';
import {
  axeFindings,
  goTo,
  type Json,
  keepPictures,
  type OpenPage,
  overflows,
  type PageWorld,
  SCHEMES,
  startPageWorld,
} from './page-world.ts';

/** All scopes except the right to reveal personal data. */
const WITHOUT_REVEAL = Object.keys(SCOPES).filter((scope) => scope !== 'reports:reveal');

const rowOf = (page: Page, { runKey }: Json) => page.getByRole('row').filter({ hasText: runKey });

async function isOpen({ api }: PageWorld, { runKey }: Json): Promise<boolean> {
  return (await api.call(`/v1/holds?runKey=${runKey}`)).json.data.length > 0;
}

async function decisionOf({ api }: PageWorld, { runKey }: Json): Promise<Json> {
  const { json } = await api.call(`/v1/inquiries?runKey=${runKey}`);
  return json.data[0]?.decision;
}

test('the work queue page', async (t) => {
  const world = await startPageWorld(t);
  const opened: OpenPage[] = [];
  const open: PageWorld['open'] = async (...how) => {
    const one = await world.open(...how);
    opened.push(one);
    return one;
  };

  await t.test('lets an operator decide an OutcomeUnknown hold in five keyboard actions', async () => {
    const hold = await world.hold('LOAN-KEYS');
    const { page } = await open();
    await page.locator('.hold-link:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Abandon/ }).waitFor();
    await page.keyboard.press('b');
    await page.locator('input[name=providerSaid]:focus').waitFor();
    await page.keyboard.press('4');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('the applicant has withdrawn');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Decided: abandon.').waitFor();
    await page.getByText('The list no longer has it.').waitFor();
    const { action, by, reason, providerSaid } = await decisionOf(world, hold);
    assert.deepEqual(
      { action, by, reason, providerSaid },
      { action: 'abandon', by: 'platform-7', reason: 'the applicant has withdrawn', providerSaid: 'notAsked' },
    );
  });

  await t.test('shows the send button without scrolling as soon as a form is open', async () => {
    const { holdId } = await world.hold('LOAN-FOLD');
    for (const action of ['resend', 'accept', 'abandon']) {
      const { page } = await open({}, { address: `#/runs/LOAN-FOLD?hold=${holdId}&action=${action}` });
      const button = page.getByRole('button', { name: new RegExp(`^Send: ${action}`) });
      await button.waitFor();
      if (action === 'accept') await page.getByRole('radio', { name: 'there is a report' }).check();
      const { y = 0, height = 0 } = (await button.boundingBox()) ?? {};
      const { height: screen = 0 } = page.viewportSize() ?? {};
      assert.ok(y > 0 && y + height <= screen, `${action}: ${y} of ${screen}`);
      assert.deepEqual(await axeFindings(page), []);
      await keepPictures(page, `send-${action}`);
    }
  });

  await t.test('shows the state of the run once after a decision, and asks for nothing more', async () => {
    const { holdId } = await world.hold('LOAN-THEN', '4002', ['PREQUAL', 'PREAPP']);
    const { page } = await open({}, { address: `#/runs/LOAN-THEN?hold=${holdId}&action=accept` });
    assert.equal(
      await page.getByRole('link', { name: 'outcome-unknown' }).getAttribute('href'),
      'https://wiki.example.com/runbook/outcome-unknown.md',
    );
    await page.getByText('PREQUAL, attempt 1: unknown (perhaps posted).').waitFor();
    await page.getByText('ask before you decide').waitFor();
    await page.getByRole('radio', { name: 'there is a report, with a reference' }).check();
    await page.getByRole('radio', { name: 'it was posted' }).check();
    await page.getByLabel('Report reference number').fill('223456789012');
    await page.getByLabel('Requested at').fill(new Date().toISOString());
    await page.getByLabel('Consumer id of 1A').fill('C-2');
    await page.getByLabel('Reason').fill('in their books');
    await page.getByRole('button', { name: /^Send: accept/ }).click();
    await page.getByText('Decided: accept.').waitFor();
    await page.locator('.state', { hasText: 'waitingAtGate' }).waitFor();
    await keepPictures(page, 'decided');
    const shown = await page.getByRole('main').innerText();
    assert.equal(shown.split('Waits at the gate before PREAPP').length - 1, 1, shown);
    assert.doesNotMatch(shown, /ask before you decide|Ask the provider|is now|running|continues by itself/);
    assert.deepEqual(await axeFindings(page), []);
  });

  await t.test('shows the second of two concurrent operators who decided what', async () => {
    const hold = await world.hold('LOAN-TWO');
    const address = `#/runs/LOAN-TWO?hold=${hold.holdId}&action=abandon`;
    const [first, second] = await Promise.all([
      open({ claims: { sub: 'operator-1' } }, { address }),
      open({ claims: { sub: 'operator-2' } }, { address }),
    ]);
    const fill = async ({ page }: OpenPage, said: string) => {
      await page.getByRole('radio', { name: said }).check();
      await page.getByLabel('Reason').fill('a test');
    };
    await fill(first, 'it was not posted');
    await fill(second, 'they cannot say');
    await first.page.getByRole('button', { name: /^Send: abandon/ }).click();
    await first.page.getByText('Decided: abandon.').waitFor();
    await second.page.getByRole('button', { name: /^Send: abandon/ }).click();
    await second.page.getByText('operator-1 has decided: abandon').waitFor();
    assert.deepEqual(await axeFindings(second.page), []);
    assert.equal((await decisionOf(world, hold)).by, 'operator-1');
  });

  await t.test(
    'decides once on a double click, and also when the decision is sent again after a lost answer',
    async () => {
      const hold = await world.hold('LOAN-LOST');
      const { page } = await open({}, { address: `#/runs/LOAN-LOST?hold=${hold.holdId}&action=abandon` });
      await page.getByRole('radio', { name: 'it was posted' }).check();
      await page.getByLabel('Reason').fill('a test');
      const sent: Json[] = [];
      await page.route('**/decisions', async (route) => {
        sent.push(route.request().postDataJSON());
        // The API decides; its first answer never arrives.
        // The browser's own header is lost when the test forwards the request.
        const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
        const answer = await route.fetch({ headers });
        if (sent.length === 1) await route.abort('connectionreset');
        else await route.fulfill({ response: answer });
      });
      await page.getByRole('button', { name: /^Send: abandon/ }).dblclick();
      const again = page.getByRole('button', { name: /^Send the same again/ });
      await again.waitFor();
      assert.equal(await page.getByLabel('Reason').isDisabled(), true);
      await again.click();
      await page.getByText('It had been accepted before.').waitFor();
      assert.equal(sent.length, 2);
      assert.deepEqual(sent[0], sent[1]);
      assert.equal(await isOpen(world, hold), false);
    },
  );

  await t.test(
    'previews and decides several rows together, and leaves out one that was decided meanwhile',
    async () => {
      const holds = await Promise.all(['LOAN-O1', 'LOAN-O2', 'LOAN-O3'].map((id) => world.hold(id)));
      const { page } = await open();
      for (const hold of holds) await rowOf(page, hold).getByRole('checkbox').check();
      const [first] = holds;
      const meanwhile = { decisionId: 'D-1', customerTraceNumber: first.customerTraceNumber, attempt: 1 };
      const body = { ...meanwhile, action: 'abandon', reason: 'a test', providerSaid: 'posted' };
      assert.equal((await world.api.call(first.decideAt, { body })).status, 200);
      await page.keyboard.press('t');
      await page.getByRole('radio', { name: /^Abandon/ }).check();
      await page.getByRole('radio', { name: 'it was not posted' }).check();
      await page.getByLabel('Reason').fill('the outage of today');
      await page.getByRole('button', { name: /^Preview 3/ }).click();
      await page.getByRole('button', { name: /^Decide 2: abandon/ }).waitFor();
      await page.getByText(/platform-7 has decided: abandon/).waitFor();
      assert.deepEqual(await overflows(page), []);
      assert.deepEqual(await axeFindings(page), []);
      await keepPictures(page, 'preview');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('cell', { name: 'the ledger has it' }).nth(1).waitFor();
      for (const hold of holds.slice(1)) {
        assert.equal(await isOpen(world, hold), false);
        assert.equal((await decisionOf(world, hold)).reason, 'the outage of today');
      }
    },
  );

  await t.test('finds the hold of each line of the provider’s file, and names the lines that are wrong', async () => {
    const holds = await Promise.all(['LOAN-F1', 'LOAN-F2'].map((id) => world.hold(id)));
    const [one, two] = holds.map(({ customerTraceNumber }) => customerTraceNumber);
    const { page } = await open({}, { address: '#/together' });
    const lines = page.getByLabel('Lines');
    await lines.fill(`${one} not posted\n${two}`);
    await page.getByRole('button', { name: 'Find their holds' }).click();
    await page.getByText('Line 2 must be a trace number').waitFor();
    await lines.fill(`# from the provider\n${one} not posted\n${two},notPosted\nPQAAAAAAAAAAAAAAAAAAAAAAAA00 posted`);
    await page.getByRole('button', { name: 'Find their holds' }).click();
    await page.getByRole('heading', { name: '2 holds of OutcomeUnknown: not posted' }).waitFor();
    await page.getByText('Nothing is on hold under 1 trace number').waitFor();
    await page.getByRole('radio', { name: /^Abandon/ }).check();
    await page.getByLabel('Reason').fill('by the file of today');
    await page.getByRole('button', { name: /^Preview 2/ }).click();
    await page.getByRole('button', { name: /^Decide 2: abandon/ }).click();
    await page.getByRole('cell', { name: 'the ledger has it' }).nth(1).waitFor();
    const { providerSaid, reason } = await decisionOf(world, holds[0]);
    assert.deepEqual({ providerSaid, reason }, { providerSaid: 'notPosted', reason: 'by the file of today' });
  });

  await t.test('moves nothing on a refresh: a closed row keeps its place, and the focus stays', async () => {
    const [first, second] = [await world.hold('LOAN-R1'), await world.hold('LOAN-R2')];
    const { page } = await open({ scopes: ['holds:read'] });
    await page.getByText('it lacks `holds:decide`').waitFor();
    const [before] = [await rowOf(page, second).boundingBox(), await rowOf(page, second).getByRole('link').focus()];
    const body = { decisionId: 'D-R', customerTraceNumber: first.customerTraceNumber, attempt: 1, action: 'abandon' };
    await world.api.call(first.decideAt, { body: { ...body, reason: 'a test', providerSaid: 'posted' } });
    await rowOf(page, first).getByText('no longer on the list').waitFor();
    assert.deepEqual(await rowOf(page, second).boundingBox(), before);
    assert.equal(await page.locator('.hold-link:focus').innerText(), 'LOAN-R2');
    await page.keyboard.press('u');
    await rowOf(page, first).waitFor({ state: 'detached' });
  });

  await t.test('says that the API does not answer until it is back, and keeps the list readable', async () => {
    const { page } = await open();
    await page.locator('.hold-link').first().waitFor();
    await world.stopApi();
    await page.keyboard.press('u');
    await page.getByText('The API does not answer').waitFor();
    assert.equal(await page.locator('.hold-link').first().isVisible(), true);
    assert.deepEqual(await axeFindings(page), []);
    await keepPictures(page, 'api-away');
    await world.startApi();
    await page.getByText('The API does not answer').waitFor({ state: 'detached' });
  });

  await t.test('says that the ledger does not answer, and keeps the list readable', async () => {
    const { page } = await open();
    await page.locator('.hold-link').first().waitFor();
    const answering = (code: string) => ({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'about:blank', title: 'away', status: 503, detail: 'away', code, requestId: 'R' }),
    });
    await page.route('**/v1/holds?*', (route) => route.fulfill(answering('ledgerUnavailable')));
    await page.keyboard.press('u');
    await page.getByText('The ledger does not answer').waitFor();
    assert.equal(await page.locator('.hold-link').first().isVisible(), true);
    await page.unrouteAll();
    await page.keyboard.press('u');
    await page.getByText('does not answer, since').first().waitFor({ state: 'detached' });
  });

  await t.test(
    'shows a terminated run from the ledger without a worker, and records the decision there',
    async (st) => {
      const hold = await world.hold('LOAN-GONE');
      await world.harness.client.workflow.getHandle('journey-LOAN-GONE').terminate('a test');
      // A worker would answer queries of the terminated run.
      await world.harness.stopWorker();
      st.after(() => world.harness.startWorker());
      const { page } = await open({}, { address: `#/runs/LOAN-GONE?hold=${hold.holdId}` });
      await page.getByText('This is from the ledger').waitFor();
      await page.keyboard.press('b');
      await page.getByRole('radio', { name: 'it was posted' }).check();
      await page.getByLabel('Reason').fill('a test');
      await page.keyboard.press('Control+Enter');
      await page.getByText('There is no run. The next start of this id continues with the decision.').waitFor();
      assert.equal(await isOpen(world, hold), false);
    },
  );

  await t.test('masks what the gateway wrote until an operator with the scope reveals it', async () => {
    const hold = await world.hold('LOAN-REFUSED', '1400');
    const address = `#/runs/LOAN-REFUSED?hold=${hold.holdId}`;
    const [all, masked] = [await open({}, { address }), await open({ scopes: WITHOUT_REVEAL }, { address })];
    for (const { page } of [all, masked]) {
      await page.getByRole('button', { name: 'What the gateway wrote, masked' }).click();
      await page.getByRole('heading', { name: /^What the gateway wrote, kept .* masked$/ }).waitFor();
    }
    await masked.page.getByText('a token needs reports:reveal').waitFor();
    assert.equal(await masked.page.getByRole('button', { name: 'Reveal' }).count(), 0);
    await all.page.getByRole('button', { name: 'Reveal' }).click();
    await all.page.getByRole('heading', { name: /whole$/ }).waitFor();
    assert.ok(world.api.audited().some((line) => line.revealed === true));
    await all.page.keyboard.press('m');
    await all.page.getByText('The new inquiry is for the same applicants.').waitFor();
    assert.deepEqual(await axeFindings(all.page), []);
    assert.deepEqual(await overflows(all.page), []);
    await keepPictures(all.page, 'amend');
  });

  await t.test('sends an accept with the provider’s record, and an amend for the same applicants', async () => {
    const [posted, refused] = [await world.hold('LOAN-ACCEPT'), await world.hold('LOAN-AMEND', '1400')];
    const { page } = await open({}, { address: `#/runs/LOAN-ACCEPT?hold=${posted.holdId}&action=accept` });
    await page.getByRole('radio', { name: 'there is a report, with a reference' }).check();
    await page.getByRole('radio', { name: 'it was posted' }).check();
    await page.getByLabel('Report reference number').fill('123456789012');
    await page.getByLabel('Requested at').fill(new Date().toISOString());
    await page.getByLabel('Consumer id of 1A').fill('C-1');
    await page.getByLabel('Reason').fill('in their books');
    await page.getByRole('button', { name: /^Send: accept/ }).click();
    await page.getByText('Decided: accept.').waitFor();
    await goTo(page, `#/runs/LOAN-AMEND?hold=${refused.holdId}&action=amend`);
    await page.getByRole('radio', { name: 'it was not posted' }).check();
    await page.getByLabel('Reason').fill('a wrong digit');
    await page.getByRole('button', { name: /^Send: amend/ }).click();
    await page.getByText('Decided: amend.').waitFor();
  });

  await t.test('asks for a token when there is no session, and stores no token', async () => {
    const { page } = await open();
    const kept = await page.evaluate<string>(
      'JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href, history.state])',
    );
    assert.equal(kept, JSON.stringify([[], [], '', `${world.api.url}/`, null]));
    // The token's address is pasted while the page is open.
    await goTo(page, '#token=a.b.c');
    await page.getByText('The API refused the token').waitFor();
    assert.equal(page.url(), `${world.api.url}/`);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await keepPictures(page, 'signed-out');
    await page.getByLabel('Token').fill('not.a.token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The API refused the token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  await t.test('shows the next operator of a tab nothing that only the one before may see', async () => {
    const hold = await world.hold();
    const { page } = await open();
    await rowOf(page, hold).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Sign out' }).click();
    const next = await token({ endUsers: ['EU-OTHER'], claims: { sub: 'operator-2' } });
    await page.getByLabel('Token').fill(next);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Acting as operator-2').waitFor();
    assert.ok(!(await page.locator('body').innerText()).includes(hold.runKey));
    await goTo(page, '#/together');
    await page.getByRole('heading', { name: 'Decide together' }).waitFor();
    assert.ok(!(await page.locator('body').innerText()).includes('1 hold of'));
  });

  await t.test('names the operator who has signed in in another tab, in whose name it would decide', async () => {
    const hold = await world.hold();
    const { page } = await open();
    await goTo(page, `#/runs/${hold.runKey}?hold=${hold.holdId}&action=abandon`);
    await page.getByLabel('Reason').fill('typed by the first');
    const tab = await page.context().newPage();
    await tab.goto(`${world.api.url}/#token=${await token({ claims: { sub: 'operator-2' } })}`);
    await tab.getByText('Acting as operator-2').waitFor();
    await tab.close();
    // Pages of a test are never hidden.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText('Acting as operator-2').waitFor();
    assert.equal(await page.getByLabel('Reason').inputValue(), '');
  });

  await t.test('can be used by keyboard only: rows, the list of keys, search and back', async () => {
    const { page } = await open();
    await page.locator('.hold-link:focus').waitFor();
    const first = await page.locator('.hold-link:focus').innerText();
    await page.keyboard.press('j');
    assert.notEqual(await page.locator('.hold-link:focus').innerText(), first);
    await page.keyboard.press('k');
    assert.equal(await page.locator('.hold-link:focus').innerText(), first);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.hold-link:focus').innerText(), first);
    await page.keyboard.press('/');
    await page.keyboard.type('LOAN-KEYS');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'LOAN-KEYS', level: 1, exact: true }).waitFor();
    assert.equal(await page.title(), 'LOAN-KEYS · Run · credit-journey');
    await page.getByText('What happened').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'What needs a person' }).waitFor();
    assert.equal(await page.title(), 'Work queue · credit-journey');
  });

  await t.test('lists what a search has found if there may be more, instead of showing the only run', async () => {
    const { page } = await open();
    const answer = { data: [{ what: 'decision', runKey: 'LOAN-KEYS', decisionId: 'D-1' }], isWhole: false };
    await page.route('**/v1/search?*', (route) => route.fulfill({ json: answer }));
    await goTo(page, '#/search?q=D-1');
    await page.getByText('There may be more matches than these.').waitFor();
    await page.getByRole('link', { name: 'LOAN-KEYS' }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });

  await t.test('has no axe findings and no overflow in any view, light or dark', async () => {
    const hold = await world.hold('LOAN-VIEWS');
    const views: Readonly<Record<string, string>> = {
      queue: '#/holds',
      filtered: '#/holds?failureType=OutcomeUnknown&kind=held',
      run: `#/runs/LOAN-VIEWS?hold=${hold.holdId}`,
      story: '#/runs/LOAN-KEYS',
      resend: `#/runs/LOAN-VIEWS?hold=${hold.holdId}&action=resend`,
      accept: `#/runs/LOAN-VIEWS?hold=${hold.holdId}&action=accept`,
      together: '#/together',
      nowhere: '#/runs/LOAN-NOWHERE',
      search: '#/search?q=LOAN-NOWHERE',
    };
    for (const scheme of SCHEMES) {
      const { page } = await open({}, { scheme });
      for (const [name, address] of Object.entries(views)) {
        await goTo(page, address);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        if (name === 'accept') await page.getByRole('radio', { name: 'there is a report' }).check();
        assert.deepEqual(await axeFindings(page), [], `${name}, ${scheme}`);
        assert.deepEqual(await overflows(page), [], `${name}, ${scheme}`);
        await keepPictures(page, `${name}-${scheme}`);
      }
    }
  });

  await t.test('logs no script error and no violation of the content security policy', async () => {
    await until(async () => (opened.length > 0 ? true : undefined));
    assert.deepEqual(
      opened.flatMap(({ complaints }) => complaints),
      [],
    );
    assert.deepEqual(world.api.unexpected, []);
  });
});
