/** The files that a storm leaves for a developer who investigates a failure. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { parseWorkflowId } from '../../src/model/run-key.ts';
import type { RunEvidence } from './evidence.ts';
import type { Verdict } from './invariants/invariant.ts';
import type { World } from './world.ts';

/** The programs' logs and the sandbox's journal. */
export async function keepLogs({ logFiles, journalFile }: World, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const file of [...logFiles, journalFile]) {
    await copyFile(file, join(directory, basename(file))).catch(() => {});
  }
}

/** Histories of the runs that a failed check names, as Temporal has them, and the key ring that opens them. */
export async function keepNamedHistories(
  { keyRingFile }: World,
  runs: readonly RunEvidence[],
  verdicts: readonly Verdict[],
  directory: string,
): Promise<void> {
  const failures = verdicts.flatMap((verdict) => verdict.failures);
  const named = runs.filter(({ workflowId }) => {
    // A failure names a run, not the workflow that delivers its events. The latter's history is kept, too.
    const own = workflowId.replace(/^webhooks-/, '');
    const names = [workflowId, own, parseWorkflowId(own) ?? own];
    return failures.some((failure) => names.some((name) => new RegExp(`\\b${name}(?![\\w-])`).test(failure)));
  });
  if (named.length === 0) return;
  await mkdir(directory, { recursive: true });
  await copyFile(keyRingFile, join(directory, basename(keyRingFile)));
  for (const { workflowId, runId, history } of named) {
    const name = `${workflowId.replace(/[^\w-]/g, '_')}.${runId}.json`;
    await writeFile(join(directory, name), historyToJSON(history));
  }
}
