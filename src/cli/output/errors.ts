/** What a failed command prints for a person or a script: names, paths and rules, never values. */

import type { OutputOptions } from './common-options.ts';
import { EXIT } from './exit-codes.ts';
import { createOutput, wrap } from './output.ts';

/** A combination of arguments that makes no sense; the command line is at fault. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Complaint {
  type: string;
  message: string;
  problems?: { path?: string; variable?: string; option?: string; rule: string }[];
}

/** Writes the error to stderr and returns the exit code. */
export function reportError(error: unknown, options: OutputOptions): number {
  const complaint = complaintOf(error);
  const { isJson, colors, width } = createOutput(options);
  if (isJson) {
    process.stderr.write(`${JSON.stringify({ error: complaint })}\n`);
  } else {
    const [first = '', ...rest] = wrap(`error: ${complaint.message}`, width);
    const lines = [colors.red(first), ...rest, ...problemLines(complaint, width)];
    process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  }
  if (options.debug && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return exitCodeOf(error);
}

function problemLines({ problems = [] }: Complaint, width: number): string[] {
  return problems.flatMap(({ path, variable, option, rule }) =>
    wrap(`${option ?? variable ?? (path || '/')}  ${rule}`, width, '  '),
  );
}

/** Recognised by name, so that no error class has to be loaded for a command that never throws it. */
function complaintOf(error: unknown): Complaint {
  if (!(error instanceof Error)) return { type: 'Error', message: 'something went wrong' };
  const problems = 'problems' in error && Array.isArray(error.problems) ? error.problems : [];
  // The messages of these list their problems too: once is enough.
  const message = problems.length > 0 ? (error.message.split(':')[0] ?? error.name) : error.message;
  return { type: error.name, message, ...(problems.length > 0 ? { problems } : {}) };
}

const USAGE_ERRORS = new Set(['UsageError', 'InvalidInputError', 'ConfigError']);

function exitCodeOf(error: unknown): number {
  if (error instanceof Error && error.name === 'PromptClosedError') return EXIT.interrupted;
  return error instanceof Error && USAGE_ERRORS.has(error.name) ? EXIT.usage : EXIT.failed;
}
