/** The result file: parts while the review runs, and one file at its end. Writing the same again changes nothing. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PortfolioOutputs } from '../messages/portfolio/output-files.ts';
import type { RowResult } from '../messages/portfolio/shapes.ts';
import { throwUnavailable } from './files.ts';

/** A run that was started again, or reset, finds the earlier run's parts and overwrites them. */
const partName = (part: number) => `${String(part).padStart(6, '0')}.jsonl`;

/** @throws PortfolioUnavailableError */
export async function writePart(outputs: PortfolioOutputs, part: number, results: readonly RowResult[]): Promise<void> {
  const text = results.map((result) => `${JSON.stringify(result)}\n`).join('');
  try {
    await mkdir(outputs.parts, { recursive: true, mode: 0o700 });
    const path = join(outputs.parts, partName(part));
    const temporary = `${path}.tmp`;
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    throwUnavailable(error);
  }
}

/**
 * Joins the first `parts` parts into one file and deletes the parts. A second call does nothing.
 *
 * A review that was reset to a point before its end writes only the later parts: its first end deleted the others.
 * Their rows are taken from the result file of that time.
 *
 * @throws PortfolioUnavailableError
 */
export async function mergeParts(outputs: PortfolioOutputs, parts: number, onPart: () => void): Promise<void> {
  const temporary = `${outputs.results}.tmp`;
  const gone = `${outputs.parts}.gone`;
  try {
    await rm(gone, { recursive: true, force: true });
    if (parts > 0 && !(await exists(outputs.parts)) && (await exists(outputs.results))) return;
    await rm(temporary, { force: true });
    await (await open(temporary, 'wx', 0o600)).close();
    const paths = Array.from({ length: parts }, (_, part) => join(outputs.parts, partName(part)));
    const there = await filterPaths(paths, exists);
    if (there.length < parts) await writeOtherRows(outputs.results, await accountsIn(there), temporary);
    for (const path of there) {
      await pipeline(createReadStream(path), createWriteStream(temporary, { flags: 'a' }));
      onPart();
    }
    await sync(temporary);
    await rename(temporary, outputs.results);
    // All parts are moved at once: a worker that dies while it deletes leaves no half of them.
    if (await exists(outputs.parts)) await rename(outputs.parts, gone);
    await rm(gone, { recursive: true, force: true });
  } catch (error) {
    throwUnavailable(error);
  }
}

/** Appends to `to` the lines of an earlier result file that are about other rows. */
async function writeOtherRows(earlier: string, known: ReadonlySet<string>, to: string): Promise<void> {
  await pipeline(
    async function* () {
      for await (const line of readLines(earlier)) if (!known.has(parseAccountId(line))) yield `${line}\n`;
    },
    createWriteStream(to, { flags: 'a' }),
  );
}

async function accountsIn(paths: readonly string[]): Promise<Set<string>> {
  const accounts = new Set<string>();
  for (const path of paths) for await (const line of readLines(path)) accounts.add(parseAccountId(line));
  return accounts;
}

async function* readLines(path: string): AsyncIterable<string> {
  const handle = await open(path);
  yield* handle.readLines();
}

function parseAccountId(line: string): string {
  return (JSON.parse(line) as RowResult).accountId;
}

async function filterPaths(paths: readonly string[], keep: (path: string) => Promise<boolean>): Promise<string[]> {
  const kept: string[] = [];
  for (const path of paths) if (await keep(path)) kept.push(path);
  return kept;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await (await open(path)).close();
    return true;
  } catch {
    return false;
  }
}
