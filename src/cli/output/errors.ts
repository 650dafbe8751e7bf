/** Prints a failed command's error for an operator or a script: names, paths and rules, never values. */

import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import type { ConfigProblem, Problem } from '../../model/problems.ts';
import { parseRunKey, parseWorkflowId } from '../../model/run-key.ts';
import { toErrorFields } from '../../telemetry/log-fields.ts';
import { createOutput, type OutputOptions, wrap } from './output.ts';

/** Exit codes of every command. Scripts rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** Wrong usage, input or configuration. */
  usage: 2,
  /** A hold, a posted share that needs an operator, or a broken audit chain. */
  needsPerson: 3,
  /** `doctor` could not find out: what it could check is in order. */
  unchecked: 4,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
  /** The reader of the output, such as `head`, has closed it. Shells report SIGPIPE by this code. */
  unread: 141,
} as const;

/** A combination of arguments that makes no sense; the command line is at fault. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `option`: the option or argument that is wrong or missing. It replaces the path. */
export interface TypedProblem extends Problem {
  option?: string;
}

/** Writes the error to stderr and returns the exit code. */
export function reportError(error: unknown, options: OutputOptions): number {
  const complaint = toComplaint(error);
  const { message, hint, problems = [] } = complaint;
  const { isJson, colors, width } = createOutput(options);
  const [first = '', ...rest] = wrap(`error: ${message}`, width);
  const lines = [
    colors.red(first),
    ...rest,
    ...problems
      .filter(({ rule = '' }) => !message.includes(rule))
      .flatMap(({ path, variable, option, rule }) =>
        wrap(`${option ?? variable ?? (path || '/')}  ${rule}`, width, '  '),
      ),
    ...(hint === undefined ? [] : wrap(hint, width, '  ')),
  ];
  process.stderr.write(isJson ? `${JSON.stringify({ error: complaint })}\n` : `${lines.join('\n')}\n`);
  if (options.debug && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return toExitCode(error);
}

/** The part of an error that an answer about many repeats. @throws anything that is no error */
export function toErrorFacts(error: unknown): { type: string; message: string } {
  if (!(error instanceof Error)) throw error;
  return { type: getErrorType(error), message: error.message };
}

/** The cause that programs read, by the name that the HTTP API has for it; or the name of an error without one. */
function getErrorType(error: Error): string {
  if (error instanceof CreditJourneyError) return findRefusalCause(error) ?? error.code;
  return 'reason' in error && error.name === 'Refusal' ? String(error.reason) : error.name;
}

/** Why a run or the ledger refuses what is well formed. */
function findRefusalCause(error: Error): string | undefined {
  return (error as { refusalCause?: string }).refusalCause;
}

function toComplaint(given: unknown) {
  const error = given instanceof Error ? given : new Error('something went wrong');
  const { problems = [] } = error as { problems?: readonly Partial<TypedProblem & ConfigProblem>[] };
  const isListed = problems.length > 0;
  return {
    type: getErrorType(error),
    // These messages list their problems too: once is enough.
    message: isListed ? error.message.replace(/^(invalid \w+): .*/s, '$1') : error.message,
    /** The suggested next step. */
    hint: findHint(error),
    problems: isListed ? problems : undefined,
  };
}

/** Suggests, for an unknown id, that it may be a workflow id, which lists of Temporal show. */
function findHint(error: Error): string | undefined {
  const isUnknownRun = getErrorType(error) === 'notFound';
  if (!('runKey' in error) || !(isUnknownRun || error.name === 'Refusal')) return undefined;
  const runKey = String(error.runKey);
  const meant = parseWorkflowId(runKey);
  if (meant !== null) return `${runKey} is a workflow id: the id of that run is ${meant}`;
  if (!isUnknownRun) return undefined;
  const { kind } = parseRunKey(runKey);
  const others = kind === 'journey' ? ', where others begin with pull:, share: or portfolio:' : '';
  return `\`credit-journey list --kind ${kind}\` shows the ids that Temporal knows${others}`;
}

const USAGE_ERRORS = new Set(['UsageError', 'InvalidInputError', 'ConfigError']);

function toExitCode(error: unknown): number {
  if (error instanceof Error && error.name === 'PromptClosedError') return EXIT.interrupted;
  const isRequestWrong = error instanceof Error && 'status' in error && error.status === 400;
  const isWrong = error instanceof Error && (isRequestWrong || USAGE_ERRORS.has(error.name));
  return isWrong && findRefusalCause(error) === undefined ? EXIT.usage : EXIT.failed;
}

/** Replaces Node's own output for an uncaught error, which quotes the error's message and so any value in it. */
export function logUncaughtErrors(): void {
  process.on('uncaughtException', (error) => {
    const line = { level: 60, time: Date.now(), error: toErrorFields(error), msg: 'ended by an uncaught error' };
    process.stderr.write(`${JSON.stringify(line)}\n`);
    process.exit(EXIT.failed);
  });
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error', endUnread) === 0) stream.on('error', endUnread);
  }
}

/** `… | head` has read enough. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.unread);
}
