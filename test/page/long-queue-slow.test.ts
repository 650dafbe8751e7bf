/** The page with more rows than it shows at once, and with a slow or failing API, in Chromium. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { attempted } from '../ledger/fixtures.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { goTo, type Json, keepPictures, overflows, startPageWorld } from './page-world.ts';

const HELD = 250;
const FLAGGED = 10_000;

/** Writes a number in letters only. */
const lettersOf = (number: number) =>
  number.toString(26).replaceAll(/\d/g, (digit) => 'QRSTUVWXYZ'[Number(digit)] ?? '');
const traceOf = (number: number) => `PQ${lettersOf(number).toUpperCase().padStart(24, 'A')}00`;

/** Makes unanswered attempts without runs, so that the ledger itself records decisions about them. */
async function holdMany(ledger: Ledger): Promise<void> {
  for (let number = 0; number < HELD; number++) {
    const inquiry = { runKey: `LOAN-MANY-${number}`, customerTraceNumber: traceOf(number) };
    await attempted(ledger, { inquiry }, { state: 'unknown' });
  }
}

/** Inserts the flags by SQL, since writing each with an answer would take too long. */
function flagMany(url: string): void {
  const database = new DatabaseSync(url.slice('file:'.length), { timeout: 10_000 });
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${FLAGGED - 1})
    INSERT INTO operator_tasks (work_id, run_key, kind, reason, since, profile, end_user_code)
    SELECT 'f' || i, 'LOAN-FLAG-' || i, 'flagged', 'reportChanged', ${Date.now()} - (${FLAGGED} - i) * 1000, 'default', 'EU1'
    FROM n`);
  database.close();
}

async function decide(page: Page, count: number): Promise<void> {
  await page.getByRole('radio', { name: /^Abandon/ }).check();
  await page.getByRole('radio', { name: 'it was not posted' }).check();
  await page.getByLabel('Reason').fill('the outage of today');
  await page.getByRole('button', { name: `Preview ${count}` }).click();
  await page.getByRole('button', { name: new RegExp(`^Decide ${count}: abandon`) }).click();
}

const shownRows = (page: Page) => page.locator('tr[data-hold]').count();

test('the page with a long queue', async (t) => {
  const world = await startPageWorld(t);
  const ledger = await openLedgerOf(world.harness);
  t.after(() => ledger.close());
  await holdMany(ledger);

  await t.test(
    'decides 250 holds in batches of 100, and after a 5xx shows the known results and repeats safely',
    async () => {
      const { page } = await world.open({}, { address: '#/holds?failureType=OutcomeUnknown' });
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('button', { name: `Choose all ${HELD}` }).click();
      await page.getByText(`${HELD} holds of OutcomeUnknown chosen`).waitFor();
      await page.keyboard.press('t');
      const sent: Json[] = [];
      const take = async (route: Route) => {
        const body = route.request().postDataJSON();
        if (body.preview) return route.continue();
        sent.push(body);
        if (sent.length !== 2) return route.continue();
        // The API accepts the request, but a gateway in front of it reports an error.
        const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
        await route.fetch({ headers });
        await route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' });
      };
      await page.route('**/v1/decisions', take);
      await decide(page, HELD);
      await page.getByText(`The results of 100 of ${HELD} are known`).waitFor();
      assert.equal(await page.getByRole('cell', { name: 'the ledger has it' }).count(), 100);
      assert.equal(await page.getByLabel('Reason').isDisabled(), true);
      await keepPictures(page, 'half-decided');
      await page.getByRole('button', { name: `Send the same again: ${HELD}` }).click();
      await page
        .getByRole('cell', { name: 'the ledger has it' })
        .nth(HELD - 1)
        .waitFor();
      assert.equal(new Set(sent.map(({ decisionId }) => decisionId)).size, 1);
      assert.equal(await page.getByRole('cell', { name: 'decided before, by this same decision' }).count(), 200);
      for (const number of [0, 150, HELD - 1]) {
        const row = await ledger.inquiry(traceOf(number));
        assert.deepEqual(
          row?.decisions.map(({ action }) => action),
          ['abandon'],
          String(number),
        );
      }
    },
  );

  flagMany(world.harness.config.ledger.url);

  await t.test('pages through 10,000 rows, and restores the list and the focus on the way back', async () => {
    const { page } = await world.open({}, { address: '#/holds?failureType=reportChanged' });
    await page.getByText(`10,000 flags, 200 shown`).waitFor();
    for (let pages = 2; pages <= 5; pages++) {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByText(`10,000 flags, ${pages * 200} shown`).waitFor();
    }
    assert.equal(await shownRows(page), 1_000);
    const before = Date.now();
    await page.getByRole('link', { name: 'LOAN-FLAG-899', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'LOAN-FLAG-899' }).waitFor();
    await page.goBack();
    await page.locator('.hold-link:focus', { hasText: 'LOAN-FLAG-899' }).waitFor();
    assert.ok(Date.now() - before < 5_000, `${Date.now() - before} ms there and back`);
    assert.equal(await shownRows(page), 1_000);
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'LOAN-FLAG-899' }).waitFor();
  });

  await t.test('marks a flag about a whole run as seen, and another tab learns that it is gone', async () => {
    const { page } = await world.open({}, { address: '#/runs/LOAN-FLAG-0' });
    await page.getByRole('button', { name: /^Seen/ }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${world.api.url}/#/runs/LOAN-FLAG-0`);
    await other.getByRole('button', { name: /^Seen/ }).click();
    await other.getByLabel('Reason').fill('the second tab');
    await page.bringToFront();
    await page.keyboard.press('s');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('compared with the file');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Taken off the list.').waitFor();
    await other.bringToFront();
    await other.keyboard.press('Control+Enter');
    await other.getByText('no such row is on the list').waitFor();
    const [{ by, reason }] = (await world.api.call('/v1/runs/LOAN-FLAG-0/story')).json.lines.filter(
      (line: Json) => line.reason !== undefined,
    );
    assert.deepEqual([by, reason], ['platform-7', 'compared with the file']);
  });

  await t.test('shows that it is sending while the API is slow, and sends nothing on a second key press', async () => {
    const { page } = await world.open({}, { address: '#/runs/LOAN-FLAG-1?action=seen' });
    let sent = 0;
    await page.route('**/seen', async (route) => {
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await route.continue();
    });
    await page.getByLabel('Reason').fill('a test');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /^Sending/ }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByText('Taken off the list.').waitFor();
    assert.equal(sent, 1);
  });

  await t.test('shows text at 200 % without overflowing the window', async () => {
    const { page } = await world.open();
    for (const address of ['#/holds', '#/runs/LOAN-FLAG-2?action=seen', '#/together', '#/search?q=LOAN-FLAG-2']) {
      await goTo(page, address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.evaluate("document.documentElement.style.fontSize = '30px'");
      assert.deepEqual(
        (await overflows(page)).filter((found) => !found.startsWith('360')),
        [],
        address,
      );
    }
  });
});
