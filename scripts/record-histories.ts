/**
 * Records runs of every outcome into `test/histories/<workflow>-<scenario>.json`, for the replay tests. Keeps an
 * existing history, since it stands for the runs in flight with that code; `--again` records all anew. Starts its own
 * server. Arguments: names of scenarios; default: all.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';

const root = join(import.meta.dirname, '..');
const directory = join(root, 'test', 'histories');
const isAgain = process.argv.includes('--again');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

await globalSetup();
try {
  // The harness reads the server's address when it is loaded.
  const [{ startHarness }, { RECORDED_SCENARIOS }, { PORTFOLIO_SCENARIOS }] = await Promise.all([
    import('../test/support/journey-harness.ts'),
    import('../test/support/scenarios.ts'),
    import('../test/support/portfolio-scenarios.ts'),
  ]);
  const portfolios = await mkdtemp(join(tmpdir(), 'credit-journey-histories-'));
  const harness = await startHarness({
    proving: true,
    env: {
      PORTFOLIO_DIR: portfolios,
      SUBMIT_TIMEOUT_MS: '15000',
      GATEWAY_HEADERS_TIMEOUT_MS: '2000',
      GATEWAY_BODY_TIMEOUT_MS: '2000',
    },
  });
  await mkdir(directory, { recursive: true });
  try {
    await recordAll(RECORDED_SCENARIOS, harness);
    await recordAll(PORTFOLIO_SCENARIOS, harness);
  } finally {
    await harness.close();
    await rm(portfolios, { recursive: true, force: true });
  }
  const { startWebhookStage, WEBHOOK_SCENARIOS } = await import('../test/support/webhook-scenarios.ts');
  if (WEBHOOK_SCENARIOS.some(isToBeRecorded)) {
    const stage = await startWebhookStage();
    try {
      await recordAll(WEBHOOK_SCENARIOS, stage);
    } finally {
      await stage.close();
    }
  }
} finally {
  await globalTeardown();
}
process.exit(0);

function fileOf({ name }: { name: string }): string {
  return join(directory, `${name}.json`);
}

function isToBeRecorded(scenario: { name: string }): boolean {
  return wanted.length > 0 ? wanted.includes(scenario.name) : isAgain || !existsSync(fileOf(scenario));
}

async function recordAll<Stage>(
  scenarios: readonly { name: string; play(stage: Stage): Promise<WorkflowHandle> }[],
  stage: Stage,
): Promise<void> {
  for (const scenario of scenarios.filter(isToBeRecorded)) {
    const handle = await scenario.play(stage);
    await writeFile(fileOf(scenario), scrubbed(historyToJSON(await handle.fetchHistory())));
    console.log(`recorded ${scenario.name}`);
    if ((await handle.describe()).status.name === 'RUNNING') await handle.terminate();
  }
}

/** Removes what belongs to the recording machine. */
function scrubbed(json: string): string {
  return `${json
    .replaceAll(`file://${root}/`, '')
    .replaceAll(`${root}/`, '')
    .replaceAll(/"identity": "[^"]*"/g, '"identity": "worker"')}\n`;
}
