/** A portfolio of 2,000 rows is too large for one run's history. Its worker has a wide window. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import type { CreditJourneys } from '../../src/client.ts';
import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import type { PortfolioStatus, RowResult } from '../../src/messages/portfolio/shapes.ts';
import { connectTo } from '../support/harness-client.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { patiently } from '../support/patiently.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { newWebhookSecret, startWebhookReceiver, typesOf, type WebhookReceiver } from '../support/webhook-receiver.ts';

// The SDK records a stack for each promise of a workflow, which is half of the cost of so many rows.
setFlagsFromString('--stack-trace-limit=1');

const ROWS = 2_000;
/** The answers of these two rows are lost. The next run must know their holds. */
const LOST = [5, 6];

/** Each event comes once, however many runs have the hold. */
const ALL_TOLD = ['inquiry.held', 'inquiry.held', 'hold.resolved', 'hold.resolved', 'portfolio.ended'];

let harness: Harness;
let journeys: CreditJourneys;
let directory: string;
let receiver: WebhookReceiver;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  const secret = newWebhookSecret();
  receiver = await startWebhookReceiver(secret);
  await writeFile(join(directory, 'secret'), secret, { mode: 0o600 });
  const endpoint = { name: 'all', url: `${receiver.url}/all`, secretFiles: [join(directory, 'secret')] };
  const webhooks = [{ ...endpoint, allowPrivateAddresses: true }];
  await writeFile(join(directory, 'profiles.json'), JSON.stringify({ profiles: { default: { webhooks } } }));
  harness = await startHarness({
    env: {
      ...{ PORTFOLIO_DIR: directory, GATEWAY_CONNECTIONS: '32' },
      GATEWAY_PROFILES_FILE: join(directory, 'profiles.json'),
    },
  });
  journeys = await connectTo(harness);
});

after(async () => {
  await journeys?.close();
  await harness?.close();
  await receiver?.close();
  await rm(directory, { recursive: true, force: true });
});

describe('a portfolio of 2,000 rows', () => {
  test('continues as new with its holds, and makes one inquiry for each row', async () => {
    const lastFourOf = (index: number) => (LOST.includes(index) ? '4002' : '0001');
    const file = await writePortfolio(directory, 'many.csv', csvText(ROWS, lastFourOf));
    const order = { endUserCode: 'EU123', permissiblePurposeCode: '01', file, window: 100 };
    const review = await journeys.start({ reviewId: 'R-MANY', ...order });
    const abandon = ({ customerTraceNumber, attempts: attempt }: HoldStatus) => {
      const decision = { decisionId: 'D1', customerTraceNumber, attempt, by: 'ops', reason: 'asked' } as const;
      return review.resolveInquiry({ ...decision, action: 'abandon', providerSaid: 'notPosted' });
    };
    // Polls seldom, since each query is a workflow task beside those of the rows.
    const until = async (isWanted: (status: PortfolioStatus) => boolean): Promise<HoldStatus[]> => {
      for (;;) {
        const status = await patiently(() => review.status());
        if (isWanted(status)) return status.holds;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    };
    const [early = assert.fail()] = await until(({ holds }) => holds.length === LOST.length);
    await patiently(() => abandon(early));
    const [late = assert.fail(), ...others] = await until(({ state }) => state === 'held');
    assert.deepEqual(others, []);
    assert.equal((await patiently(() => abandon(early))).duplicate, true, 'a later run knows what one before was told');
    await patiently(() => abandon(late));
    const result = await review.result();
    assert.equal(result.record, ROWS - LOST.length);
    assert.equal(result.abandoned, LOST.length);
    const text = await readFile(join(directory, result.resultFile), 'utf8');
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RowResult);
    assert.equal(rows.length, ROWS);
    assert.equal(new Set(rows.map(({ accountId }) => accountId)).size, ROWS);
    const answer = await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`);
    const posted = ((await answer.json()) as { customerTraceNumber: string }[]).map((one) => one.customerTraceNumber);
    assert.equal(new Set(posted).size, posted.length);
    const told = await receiver.accepted('/all', review.runKey, ALL_TOLD.length);
    assert.deepEqual(typesOf(told), ALL_TOLD);
    assert.equal(new Set(told.map(({ id }) => id)).size, ALL_TOLD.length);
    let runs = 0;
    const query = `WorkflowId = '${review.workflowId}'`;
    for await (const run of harness.client.workflow.list({ query })) {
      runs++;
      assert.ok(run.historyLength < 6_000);
    }
    assert.ok(runs > 1);
  });
});
