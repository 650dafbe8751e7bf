import { CreditJourneyError } from './credit-journey-error.ts';
import type { RefusalCause } from './refusals.ts';

/**
 * One problem of an input: its place (an RFC 6901 JSON pointer) and the rule that it breaks. Never the value, and never
 * a key that the sender made up: either may be personal.
 */
export interface Problem {
  path: string;
  rule: string;
}

const MOST_SHOWN = 20;

/** Returns the problems that a hold, a failure or a refusal shows. */
export function selectShownProblems<P extends Problem | string>(problems: readonly P[]): P[] {
  return problems.slice(0, MOST_SHOWN);
}

/** Parts `/applicants/0/ssn must be text`; the path has no space. */
export function parseProblem(text: string): Problem {
  const [, path = '', rule = text] = /^(\/\S*) (.*)$/s.exec(text) ?? [];
  return { path: path === '/' ? '' : path, rule };
}

export function formatProblem({ path, rule }: Problem): string {
  return `${path || '/'} ${rule}`;
}

/** Thrown by everything that checks input from outside; carries every problem at once. */
export class InvalidInputError extends CreditJourneyError {
  override readonly code = 'invalidInput';
  readonly problems: readonly Problem[];
  /** Present where a run, or the worker in its place, has refused the content. */
  readonly refusalCause?: RefusalCause;

  constructor(problems: readonly Problem[], refusalCause?: RefusalCause) {
    super(`invalid input: ${problems.map(formatProblem).join('; ')}`);
    this.problems = problems;
    if (refusalCause) this.refusalCause = refusalCause;
  }
}

/** One wrong variable: its name and the rule, never its value. */
export interface ConfigProblem {
  variable: string;
  rule: string;
}

/** Thrown when the environment is not a valid configuration; carries every problem at once. */
export class ConfigError extends CreditJourneyError {
  override readonly code = 'invalidConfiguration';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(`invalid configuration: ${problems.map((p) => `${p.variable} ${p.rule}`).join('; ')}`);
    this.problems = problems;
  }
}
