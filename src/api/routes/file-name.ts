/** The file of a portfolio review, as a caller over HTTP names it. */
import { z } from 'zod';
import { InvalidInputError } from '../../model/problems.ts';

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const FILE_RULE = 'must be the name of a file in PORTFOLIO_DIR, without a folder';

export const fileNameSchema = z
  .string()
  .regex(FILE_NAME, FILE_RULE)
  .meta({ description: 'A name in the workers’ PORTFOLIO_DIR; never a path.' });

/** @throws InvalidInputError */
export function requireFileName(file: string, path: string): void {
  if (!FILE_NAME.test(file)) throw new InvalidInputError([{ path, rule: FILE_RULE }]);
}
