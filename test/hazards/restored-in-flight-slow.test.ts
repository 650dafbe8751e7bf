/** The ledger is restored from a copy that lacks the claim of a request in flight. An operator decides. */
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { test } from 'node:test';
import { toLedgerWatchId } from '../../src/model/ledger-watch.ts';
import { runCli } from '../cli/run-cli.ts';
import {
  assertOwnRecord,
  assertSent,
  type ProcessWorld,
  prequalOnly,
  resend,
  startWorld,
  until,
  untilHeld,
} from '../support/process-world.ts';

/** Waits until the watch has seen this many attempts. */
function untilSeen({ client, ledger, workerEnv }: ProcessWorld, attempts: number): Promise<void> {
  const watch = client.workflow.getHandle(toLedgerWatchId(ledger.identity.ledgerId, workerEnv.TASK_QUEUE ?? ''));
  return until(`the watch has seen ${attempts}`, async () => {
    const { memo } = await watch.describe();
    return (memo?.highWaterMark as { position?: number } | undefined)?.position === attempts;
  });
}

/** The gateway posts the next request at once, and keeps its answer for so long that the worker is killed first. */
async function keepNextAnswer({ sandboxUrl }: ProcessWorld): Promise<void> {
  const response = await fetch(`${sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [{ target: 'request', fault: 'slowAfterPosting', delayMs: 60_000, times: 1 }] }),
  });
  assert.equal(response.ok, true, await response.text());
}

async function accept({ ledgerFile, workerEnv }: ProcessWorld): Promise<void> {
  const { code, stderr } = await runCli(['ledger', 'accept-restore', '--by', 'ops', '--reason', 'the disk was lost'], {
    env: { LEDGER_URL: `file:${ledgerFile}`, KEY_RING_FILE: workerEnv.KEY_RING_FILE ?? '' },
  });
  assert.equal(code, 0, stderr);
}

for (const isSeen of [true, false]) {
  const when = isSeen ? 'accepted while a worker runs' : 'accepted before a worker starts';
  test(`a request in flight is held, not sent again, when a restored copy that lacks its claim is ${when}`, async (t) => {
    const world = await startWorld(t);
    const { ledgerFile } = world;
    const env: Record<string, string> = isSeen ? { LEDGER_WATCH_EVERY_MS: '200' } : {};
    const first = await world.startWorker(env);
    await assertOwnRecord(world, await world.start(prequalOnly()));
    await first.terminate();
    // The last handle that closes leaves everything in this one file.
    await world.ledger.close();
    await cp(ledgerFile, `${ledgerFile}-older`);

    const victim = await world.startWorker(env);
    const input = prequalOnly();
    const { journeyId } = input;
    await keepNextAnswer(world);
    const handle = await world.start(input);
    await until('the request is at the gateway', async () => (await world.posted(journeyId)).length === 1);
    if (isSeen) await untilSeen(world, 2);
    await victim.kill();
    for (const suffix of ['', '-wal', '-shm']) await rm(`${ledgerFile}${suffix}`, { force: true });
    await cp(`${ledgerFile}-older`, ledgerFile);

    if (!isSeen) await accept(world);
    await world.startWorker(env);
    if (isSeen) {
      await until('the run is told that the copy may lack the attempt', async () => {
        const { raw } = await handle.describe();
        return !!raw.pendingActivities?.some(
          ({ lastFailure }) => lastFailure?.applicationFailureInfo?.type === 'LedgerRestored',
        );
      });
      await assertSent(world, journeyId, { received: 1, posted: 1 });
      await accept(world);
    }
    const hold = await untilHeld(handle, 'LedgerChanged');
    await assertSent(world, journeyId, { received: 1, posted: 1 });
    await resend(handle, hold);
    await assertOwnRecord(world, handle);
    await assertSent(world, journeyId, { received: 2, posted: 2 });
  });
}
