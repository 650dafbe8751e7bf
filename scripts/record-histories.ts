/**
 * Records runs of every outcome into `test/histories/<workflow>-<scenario>.json`, for the replay tests. A history that
 * is there is kept, since it stands for the runs that are in flight with that code; `--again` records all anew.
 * Needs no server: it starts its own. Arguments: names of scenarios, all where none is given.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';

const root = join(import.meta.dirname, '..');
const directory = join(root, 'test', 'histories');
const isAgain = process.argv.includes('--again');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

await globalSetup();
try {
  // The harness reads where the server is when it is loaded.
  const [{ startHarness }, { RECORDED_SCENARIOS }] = await Promise.all([
    import('../test/support/journey-harness.ts'),
    import('../test/support/scenarios.ts'),
  ]);
  const harness = await startHarness({
    proving: true,
    env: { SUBMIT_TIMEOUT_MS: '15000', GATEWAY_HEADERS_TIMEOUT_MS: '2000', GATEWAY_BODY_TIMEOUT_MS: '2000' },
  });
  await mkdir(directory, { recursive: true });
  try {
    for (const { name, play } of RECORDED_SCENARIOS) {
      const file = join(directory, `${name}.json`);
      if (wanted.length > 0 ? !wanted.includes(name) : existsSync(file) && !isAgain) continue;
      const handle = await play(harness);
      await writeFile(file, scrubbed(historyToJSON(await handle.fetchHistory())));
      console.log(`recorded ${name}`);
      if ((await handle.describe()).status.name === 'RUNNING') await handle.terminate();
    }
  } finally {
    await harness.close();
  }
} finally {
  await globalTeardown();
}
process.exit(0);

/** What belongs to the machine that recorded it stays there. */
function scrubbed(json: string): string {
  return `${json
    .replaceAll(`file://${root}/`, '')
    .replaceAll(`${root}/`, '')
    .replaceAll(/"identity": "[^"]*"/g, '"identity": "worker"')}\n`;
}
