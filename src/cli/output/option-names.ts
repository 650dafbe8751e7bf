/** Maps each field of a message to its option or argument, so that an error names the typed words. */
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';

/** `option`: the option or argument that is wrong or missing. It replaces the path. */
export interface TypedProblem extends Problem {
  option?: string;
}

/** The given options, by the names that commander uses. */
export type GivenOptions = { readonly [option: string]: unknown };

/** The error with the options that its fields come from. Fields of a file keep their paths. */
export function asTyped(
  { problems }: InvalidInputError,
  options: Readonly<Record<string, string>>,
  given: GivenOptions,
): InvalidInputError {
  const typed = problems.map((problem): TypedProblem => {
    const option = options[problem.path];
    return option !== undefined && isTyped(option, given) ? { ...problem, option } : problem;
  });
  return new InvalidInputError(typed);
}

/** Runs a check. @throws InvalidInputError with the options that the fields come from */
export function withTypedProblems<T>(
  options: Readonly<Record<string, string>>,
  given: GivenOptions,
  check: () => T,
): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, options, given) : error;
  }
}

/** Rewrites a run's refusal: the option replaces the path that the reason begins with. */
export function refusedAsTyped(
  error: unknown,
  options: Readonly<Record<string, string>>,
  given: GivenOptions,
): unknown {
  if (!(error instanceof CreditJourneyError) || error.code !== 'updateRefused') return error;
  error.message = error.message.replace(/(?<= refused: )\/[\w/]+/, (path) => {
    const option = options[path];
    return option !== undefined && isTyped(option, given) ? option : path;
  });
  return error;
}

/** Returns whether the option is on the command line, or belongs there since there is no file. */
function isTyped(option: string, given: GivenOptions): boolean {
  if (given.file === undefined || option.startsWith('<')) return true;
  return option.split(/, | and | or /).some((name) => given[optionKey(name)] !== undefined);
}

/** `--end-user-code` → `endUserCode`, as commander has it. */
export function optionKey(option: string): string {
  return option.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
