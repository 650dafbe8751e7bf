import type { FileHandle } from 'node:fs/promises';
import { heartbeat } from '@temporalio/activity';
import type { PortfolioReviewInput } from '../messages/inputs/portfolio-review.ts';
import { DEFAULT_MAX_BAD_ROWS } from '../messages/portfolio/limits.ts';
import { toPortfolioFolder } from '../messages/portfolio/output-files.ts';
import type { RowResult } from '../messages/portfolio/shapes.ts';
import { InvalidInputError } from '../model/problems.ts';
import {
  examinePortfolio,
  finishResults,
  openPortfolio,
  type Place,
  PortfolioUnavailableError,
  readRows,
  readRowsAt,
  requirePortfolio,
  requireUnchanged,
  resolveFolderPath,
  resolveOutputPaths,
  writeResults,
} from '../portfolio/portfolio-file.ts';
import type { ExaminedFile, KnownFile } from './contract.ts';
import { type ActivityDependencies, findPreparedProfile } from './dependencies.ts';
import { translateErrors } from './failures.ts';

export interface ResultFile extends Pick<KnownFile, 'folder' | 'file'> {
  reviewId: string;
  /** The bytes that are written. */
  size: number;
}

/**
 * Creates the activities that read a review's examined file and write its results. Writes are idempotent, and Temporal
 * may repeat each activity.
 *
 * @throws `PortfolioUnavailable` (repeated), `PortfolioChanged` and `InvalidInput` (final)
 */
export function createPortfolioActivities(dependencies: ActivityDependencies) {
  const { portfolioDirectory } = dependencies.config;
  const resolvePath = (folder: string) => resolveFolderPath(portfolioDirectory, folder);
  const resolveOutputs = ({ folder, file, reviewId }: ResultFile) =>
    resolveOutputPaths(resolvePath(folder), file, reviewId);
  const onBlock = () => heartbeat();
  /** Checks the file after a line was not a row: if the file has changed, no other worker need try. */
  const ofTheSameFile = async <T>(handle: FileHandle, known: KnownFile, read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      const isOfRow = error instanceof PortfolioUnavailableError && error.code === 'ROW';
      if (isOfRow) await requireUnchanged(handle, known, { inFull: true, onBlock });
      throw error;
    }
  };

  /** A review that has begun waits for the place of its file as for the file: nothing refuses it any more. */
  const onceBegun =
    <Args, T>(work: (args: Args) => Promise<T>) =>
    async (args: Args): Promise<T> => {
      try {
        return await work(args);
      } catch (error) {
        throw error instanceof InvalidInputError ? new PortfolioUnavailableError('PLACE') : error;
      }
    };

  return translateErrors({
    /** Reads the whole file, and writes the bad rows' report. */
    examinePortfolio: async ({ input }: { input: PortfolioReviewInput }): Promise<ExaminedFile> => {
      const {
        reviewId,
        file,
        format = /\.(?:jsonl|ndjson)$/i.test(file) ? 'jsonl' : 'csv',
        maxBadRows = DEFAULT_MAX_BAD_ROWS,
        profile: name = 'default',
      } = input;
      const profile = findPreparedProfile(dependencies, name);
      const folder = toPortfolioFolder(input);
      await requirePortfolio(portfolioDirectory, folder, file);
      const { badRows: badRowsPath } = await resolveOutputPaths(resolvePath(folder), file, reviewId);
      await using handle = await openPortfolio(resolvePath(folder), file);
      const found = await examinePortfolio(handle, { format, profile, maxBadRows, badRowsPath, onBlock });
      const { digest, mark, columns, badLines, ...examined } = found;
      return { ...examined, known: { folder, file, format, digest, mark, badLines, columns } };
    },

    /** `mark` of the answer differs from the known one if an unchanged file was found under another mark. */
    readPortfolioRows: onceBegun(async ({ known, from, limit }: { known: KnownFile; from: Place; limit: number }) => {
      await using handle = await openPortfolio(resolvePath(known.folder), known.file);
      const found = await ofTheSameFile(handle, known, () => readRows(handle, known, { from, limit, onBlock }));
      return { ...found, mark: await requireUnchanged(handle, known, { inFull: false, onBlock }) };
    }),

    /** Reads rows that were begun before. Without places it only checks, in full, whether the file is the same. */
    readPortfolioRowsAt: onceBegun(async (args: { known: KnownFile; places: (Place & { accountId: string })[] }) => {
      const { known, places } = args;
      await using handle = await openPortfolio(resolvePath(known.folder), known.file);
      const rows = await ofTheSameFile(handle, known, () => readRowsAt(handle, known, places));
      return { rows, mark: await requireUnchanged(handle, known, { inFull: places.length === 0, onBlock }) };
    }),

    /** Writes results behind the first `size` bytes of those so far, and returns the new size. */
    writePortfolioResults: onceBegun(async ({ results, ...output }: ResultFile & { results: RowResult[] }) =>
      writeResults(await resolveOutputs(output), output.size, results, onBlock),
    ),

    finishPortfolioResults: onceBegun(async (output: ResultFile) =>
      finishResults(await resolveOutputs(output), output.size, onBlock),
    ),
  });
}
