import { mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { directorySize } from '../directory-size.ts';
import { programPath } from '../program-path.ts';
import { runCommand } from '../run-command.ts';
import type { OnBinaryProgress } from './binary-progress.ts';
import type { BinaryKind, PinnedBinary } from './pinned-binaries.ts';
import type { DownloadOutcome } from './pip-download.ts';

/** Without a single new byte for so long it is given up, so that a closed network costs seconds. */
const STALLED_AFTER_MS = 6_000;
const TOTAL_TIMEOUT_MS = 10 * 60_000;
const PROGRESS_INTERVAL_MS = 250;
/** The unpacked program; for the bar's end only. */
const ROUGH_BYTES: Record<BinaryKind, number> = { cli: 130_000_000, 'test-server': 85_000_000 };

/** The SDK's version, or `null` where its testing package is not installed (it is a development dependency). */
export function sdkTestingVersion(): string | null {
  try {
    return createRequire(import.meta.url)('@temporalio/testing/package.json').version as string;
  } catch {
    return null;
  }
}

/** Lets the SDK fetch the version of the program that it selects. */
export async function downloadWithSdk(
  kind: BinaryKind,
  pinned: PinnedBinary,
  directory: string,
  env: NodeJS.ProcessEnv,
  onProgress: OnBinaryProgress,
): Promise<DownloadOutcome> {
  const into = join(directory, 'sdk');
  await mkdir(into, { recursive: true });
  const name = `${pinned.title} (by the SDK)`;
  const stalled = new AbortController();
  let receivedBytes = 0;
  let lastGrowth = performance.now();
  const timer = setInterval(async () => {
    const size = await directorySize(into);
    if (size > receivedBytes) {
      receivedBytes = size;
      lastGrowth = performance.now();
      onProgress({ kind: 'download', name, receivedBytes, totalBytes: ROUGH_BYTES[kind] });
    } else if (performance.now() - lastGrowth > STALLED_AFTER_MS) {
      stalled.abort();
    }
  }, PROGRESS_INTERVAL_MS);
  const program = programPath(import.meta.url, './sdk-download-program');
  const result = await runCommand(process.execPath, [program, kind, into], {
    env,
    timeoutMs: TOTAL_TIMEOUT_MS,
    signal: stalled.signal,
  }).finally(() => clearInterval(timer));

  const files = await readdir(into);
  const file = files.find((entry) => !entry.endsWith('.downloading'));
  if (result.exitCode === 0 && file) {
    if (receivedBytes > 0) onProgress({ kind: 'downloaded', name });
    return { file: join(into, file) };
  }
  return { problem: result.reason ? 'no answer' : 'its download address could not be reached' };
}
