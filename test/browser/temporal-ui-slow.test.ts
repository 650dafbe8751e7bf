/** An operator's work in the real Temporal UI, in Chromium. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Page } from 'playwright-core';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { keepScreenshot, startUiWorld, VIEWPORT } from './ui-world.ts';

const OPERATING = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operating.md'), 'utf8');

/** The part of the page that an operator's notebook shows without scrolling. */
const SMALL_SCREEN = { width: 1280, height: 720 };

/** The window of a usual notebook, without the browser's own bars. */
const FIRST_SCREEN = { width: 1360, height: 850 };

/** The list filter that docs/operating.md gives under that name. */
function documentedFilter(name: string): string {
  const line = OPERATING.split('\n').find((one) => one.startsWith(`| ${name} |`)) ?? assert.fail(`no filter "${name}"`);
  return line.split('`')[1] ?? '';
}

function encodingOf(payload: { metadata?: Record<string, Uint8Array> | null } | null | undefined): string {
  return Buffer.from(payload?.metadata?.encoding ?? []).toString();
}

async function chooseUpdate(page: Page, name: string) {
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.getByRole('menuitem', { name: 'Send an Update' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send an Update' });
  await dialog.getByTestId('update-select-button').click();
  await dialog.getByRole('option', { name: new RegExp(`^${name}`) }).click();
  return dialog;
}

async function submit(dialog: Awaited<ReturnType<typeof chooseUpdate>>, input: object): Promise<void> {
  const data = dialog.getByRole('textbox', { name: 'Data' });
  await data.fill(JSON.stringify(input));
  // The form lays the JSON out when it is left, and the button moves.
  await data.blur();
  await dialog.getByTestId('confirm-modal-button').click();
}

test('the Temporal UI', async (t) => {
  const world = await startUiWorld(t);
  const { harness, journeys } = world;
  const ssn = newSsn('4001');
  const input = journeyInput({
    journeyId: 'LOAN-1',
    stages: ['PREQUAL'],
    applicants: [applicant('1A', ssn), applicant('2A')],
    shares: [{ shareId: 'INVESTOR-1', endUserCode: 'EU999' }],
  });
  const { workflowId } = await journeys.start(input);
  const handle = harness.client.workflow.getHandle(workflowId) as unknown as JourneyHandle;
  await handle.signal('consent', consentMessage('LOAN-1', { applicantId: '1A', shareId: 'INVESTOR-1' }));
  await untilStatus(handle, ({ state }) => state === 'held');
  const runPath = `workflows/${workflowId}/${(await handle.describe()).runId}`;

  const page = await world.open(`workflows?query=${encodeURIComponent(documentedFilter('needs a person'))}`);
  let decision: Record<string, unknown> = {};

  await t.test('finds a held journey through the documented filter, with the reason in the list', async () => {
    const row = page.getByRole('row', { name: workflowId });
    await row.waitFor();
    assert.match(await row.innerText(), /OutcomeUnknown/);
    await keepScreenshot(page, 'list', { height: 500 });
    const all = await world.open(`workflows?query=${encodeURIComponent(documentedFilter('all runs'))}`);
    await all.getByRole('row', { name: workflowId }).waitFor();
    assert.equal(await all.getByText(/^watch-ledger/).count(), 0);
    await keepScreenshot(all, 'all-runs', { height: 500 });
    await all.close();
    await page.getByRole('link', { name: workflowId, exact: true }).click();
  });

  await t.test('shows on the first screen, without scrolling, that the run is on hold, and why', async () => {
    const first = await world.open(`workflows/${workflowId}`);
    await first.setViewportSize(FIRST_SCREEN);
    const row = first.getByText('ON HOLD · OutcomeUnknown · PREQUAL · see User Metadata');
    await row.waitFor();
    await keepScreenshot(first, 'on-hold', { ...FIRST_SCREEN, left: 0, top: 0 });
    const { y, height } = (await row.boundingBox()) ?? assert.fail('it is not drawn');
    const below = (await first.getByText('submitInquiry').first().boundingBox()) ?? assert.fail('no attempt is drawn');
    assert.ok(y + height <= FIRST_SCREEN.height && y < below.y, `${y}, ${below.y}`);
    await first.getByText('submitInquiry • PREQUAL · attempt 1').waitFor();
    await first.close();
  });

  await t.test(
    'shows its input masked, as ciphertext without the codec server, and in clear with `reveal`',
    async () => {
      const inputOn = async (shownOn: Page, name: string, expected: RegExp) => {
        const shown = shownOn.getByRole('textbox').filter({ hasText: expected }).first();
        await shown.waitFor();
        await keepScreenshot(shownOn, name, { height: 960 });
        return shown.innerText();
      };
      const inputWith = async (codecEndpoint: string | null, name: string, expected: RegExp) => {
        const other = await world.open(`${runPath}/timeline`, codecEndpoint);
        const text = await inputOn(other, name, expected);
        await other.close();
        return text;
      };
      const masked = await inputOn(page, 'input-masked', /journeyId/);
      const [gibberish, whole] = await Promise.all([
        inputWith(null, 'input-encrypted', /[A-Za-z0-9+/]{100}/),
        inputWith(world.revealEndpoint, 'input-revealed', /journeyId/),
      ]);
      const lastFour = ssn.slice(-4);
      assert.ok(masked.includes(`"••••••${lastFour}"`) && !masked.includes(ssn) && !masked.includes('Casey'));
      assert.ok(!gibberish.includes('journeyId') && !gibberish.includes(lastFour));
      assert.ok(whole.includes(`"ssn": "${ssn}"`) && whole.includes('"first": "Casey"'));
    },
  );

  await t.test('shows in the details what happened and what resolves the hold', async () => {
    await page.getByRole('tab', { name: 'User Metadata' }).click();
    const details = page.locator('iframe[src*="resolveInquiry"]').contentFrame();
    await details.getByText('0 or 1 inquiry').waitFor();
    await keepScreenshot(page, 'details', { height: 1900, left: 830, top: 320 });
    const share = details.getByRole('listitem').filter({ hasText: 'INVESTOR-1' });
    assert.match(await share.innerText(), /consent missing: 2A/);
    await page.setViewportSize(SMALL_SCREEN);
    await keepScreenshot(page, 'details-small', { ...SMALL_SCREEN, left: 0, top: 0 });
    const cutOff = await details
      .locator('body')
      .evaluate(({ ownerDocument }) =>
        [...ownerDocument.querySelectorAll('body, pre, li, p')].flatMap(({ scrollWidth, clientWidth, textContent }) =>
          scrollWidth > clientWidth + 1 ? [textContent] : [],
        ),
      );
    assert.deepEqual(cutOff, [], 'it fits its half of the window');
    await page.setViewportSize(VIEWPORT);
    const [command = ''] = await details.locator('pre', { hasText: '--action resend' }).allInnerTexts();
    const customerTraceNumber = command.match(/resolve LOAN-1 \\\s+(\S+)/)?.[1];
    decision = {
      ...{ journeyId: 'LOAN-1', decisionId: 'D-1', customerTraceNumber, attempt: 1, action: 'resend' },
      ...{ by: '', reason: '', providerSaid: '' },
    };
    const summary = page.locator('iframe[src*="LOAN-1%20%C2%B7%20EU123"]').contentFrame();
    await summary.getByText('journey LOAN-1 · EU123').waitFor();

    const { workflowService, options } = harness.client;
    const execution = { workflowId };
    const query = { queryType: '__temporal_workflow_metadata' };
    const { queryResult } = await workflowService.queryWorkflow({ namespace: options.namespace, execution, query });
    const { executionConfig } = await workflowService.describeWorkflowExecution({
      namespace: options.namespace,
      execution,
    });
    for (const payload of [queryResult?.payloads?.[0], executionConfig?.userMetadata?.summary]) {
      assert.equal(encodingOf(payload), 'binary/encrypted-cj1');
    }
  });

  await t.test('refuses a decision that is not filled in, and masked values', async () => {
    const dialog = await chooseUpdate(page, 'resolveInquiry');
    await submit(dialog, decision);
    await dialog.getByText('Encoded failure').waitFor();
    const encoded = page.waitForResponse((response) => response.url().includes('/encode') && !response.ok());
    await submit(dialog, { ...decision, by: '••••••', reason: 'asked', providerSaid: 'notPosted' });
    assert.equal((await encoded).status(), 422);
    assert.equal((await untilStatus(handle, () => true)).state, 'held');
  });

  await t.test('resolves the hold from its own form, and sends the decision encrypted', async () => {
    const dialog = page.getByRole('dialog', { name: 'Send an Update' });
    const reason = 'the provider says that nothing was posted';
    await submit(dialog, { ...decision, by: 'ops', reason, providerSaid: 'notPosted' });
    await page.getByText('Update successful').first().waitFor();
    const { events } = await handle.fetchHistory();
    const accepted = events?.flatMap(({ workflowExecutionUpdateAcceptedEventAttributes: taken }) => taken ?? []) ?? [];
    const [payload] = accepted[0]?.acceptedRequest?.input?.args?.payloads ?? [];
    assert.equal(accepted.length, 1);
    assert.equal(encodingOf(payload), 'binary/encrypted-cj1');
    assert.ok(
      !historyToJSON(await handle.fetchHistory()).includes(Buffer.from(reason).toString('base64').slice(4, -4)),
    );
  });

  await t.test('shows in the details that the journey is completed', async () => {
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await update(handle, 'recordConsent', consentMessage('LOAN-1', { applicantId: '2A', shareId: 'INVESTOR-1' }));
    assert.equal((await handle.result()).outcome, 'completed');
    await page.goto(world.url(`${runPath}/user-metadata`));
    await page.locator('iframe[src*="It%20has%20completed"]').waitFor();
    if (!process.env.SCREENSHOT_DIR) return;
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByText('SECONDUSE').first().waitFor();
    await keepScreenshot(page, 'timeline', { height: 1070, top: 640 });
  });
});
