/** The paths of a portfolio's files: always inside the folder of the end user whose they are. */

import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import {
  outputNamesOf,
  type PortfolioOutputs,
  portfolioPathProblem,
  RELATIVE_PATH,
} from '../messages/portfolio/output-files.ts';
import { InvalidInputError } from '../model/problems.ts';
import { PortfolioUnavailableError, portfolioUnavailable } from './errors.ts';

/**
 * The absolute path of an end user's folder. `PORTFOLIO_DIR` has one in a folder of each profile.
 *
 * @param folder as `portfolioFolder` names it
 * @throws PortfolioUnavailableError where this worker has no directory
 */
export function folderPath(directory: string | undefined, folder: string): string {
  if (directory === undefined) throw new PortfolioUnavailableError('PORTFOLIO_DIR');
  if (!RELATIVE_PATH.test(folder)) throw refused('must be in the folder of an end user');
  return join(directory, folder);
}

/** Codes of the file system for a file that is not there. */
const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR'];

/**
 * Refuses a file that is not there. A review that has begun waits for its file; one that begins does not. A file of another
 * end user is not there either.
 *
 * @throws InvalidInputError; PortfolioUnavailableError where the directory itself cannot be reached
 */
export async function requirePortfolio(directory: string | undefined, folder: string, file: string): Promise<void> {
  try {
    await using _ = await openPortfolio(folderPath(directory, folder), file);
  } catch (error) {
    const isMissing = error instanceof PortfolioUnavailableError && MISSING.includes(error.code);
    if (!isMissing || directory === undefined) throw error;
    await realpath(directory).catch((away: unknown) => {
      throw portfolioUnavailable(away);
    });
    throw refused('must name a file in the end user’s folder of PORTFOLIO_DIR');
  }
}

/**
 * The file itself, opened for reading.
 *
 * @param directory the end user's folder
 * @throws InvalidInputError where it may not be read as a portfolio; PortfolioUnavailableError
 */
export async function openPortfolio(directory: string, file: string): Promise<FileHandle> {
  const path = await portfolioPath(directory, file);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw portfolioUnavailable(error);
  });
  try {
    if (!(await handle.stat()).isFile()) throw refused('must be a file');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * The files that a review writes, as absolute paths. The portfolio file itself may be missing; its folder must exist.
 */
export async function outputPaths(directory: string, file: string, reviewId: string): Promise<PortfolioOutputs> {
  const folder = await insideOf(directory, dirname(join(directory, checked(file))));
  const { results, badRows, parts } = outputNamesOf(basename(file), reviewId);
  return { results: join(folder, results), badRows: join(folder, badRows), parts: join(folder, parts) };
}

/**
 * One of the files of `outputPaths`, opened for reading.
 *
 * @throws PortfolioUnavailableError
 */
export async function openOutput(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw portfolioUnavailable(error);
  });
}

async function portfolioPath(directory: string, file: string): Promise<string> {
  const wanted = join(directory, checked(file));
  return join(await insideOf(directory, dirname(wanted)), basename(wanted));
}

function checked(file: string): string {
  const rule = portfolioPathProblem(file);
  if (rule) throw refused(rule);
  return file;
}

/** Symbolic links between here and the folder may not lead out of it. The last part is never followed. */
async function insideOf(directory: string, folder: string): Promise<string> {
  let root: string;
  let real: string;
  try {
    [root, real] = await Promise.all([realpath(directory), realpath(folder)]);
  } catch (error) {
    throw portfolioUnavailable(error);
  }
  if (real !== root && !real.startsWith(root + sep)) throw refused('must not lead out of the end user’s folder');
  return real;
}

function refused(rule: string): InvalidInputError {
  return new InvalidInputError([{ path: '/file', rule }]);
}
