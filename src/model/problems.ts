import { CreditJourneyError } from './credit-journey-error.ts';

/**
 * One problem of an input: its place (an RFC 6901 JSON pointer) and the rule that it breaks. Never the value, and never
 * a key that the sender made up: either may be personal.
 */
export interface Problem {
  path: string;
  rule: string;
}

/** Thrown by everything that checks input from outside; carries every problem at once. */
export class InvalidInputError extends CreditJourneyError {
  override readonly name = 'InvalidInputError';
  override readonly code = 'invalidInput';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`invalid input: ${problems.map((p) => `${p.path || '/'} ${p.rule}`).join('; ')}`);
    this.problems = problems;
  }
}
