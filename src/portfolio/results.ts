/** The result file: parts while the review runs, and one file at its end. Writing the same again changes nothing. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PortfolioOutputs } from '../messages/portfolio/output-files.ts';
import type { RowResult } from '../messages/portfolio/shapes.ts';
import { portfolioUnavailable } from './errors.ts';

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
    throw portfolioUnavailable(error);
  }
}

/**
 * Joins the first `parts` parts into one file and deletes the parts. A second call does nothing.
 *
 * @throws PortfolioUnavailableError
 */
export async function mergeParts(outputs: PortfolioOutputs, parts: number, onPart: () => void): Promise<void> {
  const temporary = `${outputs.results}.tmp`;
  try {
    if (parts > 0 && !(await exists(outputs.parts)) && (await exists(outputs.results))) return;
    await rm(temporary, { force: true });
    await (await open(temporary, 'wx', 0o600)).close();
    for (let part = 0; part < parts; part++) {
      const source = createReadStream(join(outputs.parts, partName(part)));
      await pipeline(source, createWriteStream(temporary, { flags: 'a', flush: part === parts - 1 }));
      onPart();
    }
    await rename(temporary, outputs.results);
    await rm(outputs.parts, { recursive: true, force: true });
  } catch (error) {
    throw portfolioUnavailable(error);
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
