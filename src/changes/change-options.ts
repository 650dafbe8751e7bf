/** The thresholds and codes of a comparison. */

import type { ChangeOptions, FigureThreshold } from '../model/change-options.ts';
import type { Problem } from '../model/problems.ts';
import { isFigure } from './figures.ts';

/**
 * Every difference counts: nothing is left out unless an option says so. No code means closed: the interface shows no
 * list (2.4), and only the provider's is one.
 */
export const DEFAULT_CHANGE_OPTIONS: ChangeOptions = {
  balance: { amount: '0', percent: '0' },
  creditLimit: { amount: '0', percent: '0' },
  closedStatusCodes: [],
};

/** @throws RangeError that names the invalid option, never its value */
export function completeOptions(options: Partial<ChangeOptions> = {}): ChangeOptions {
  const complete = { ...DEFAULT_CHANGE_OPTIONS, ...options };
  const [problem] = changeOptionProblems(complete);
  if (problem) throw new RangeError(`${problem.path} ${problem.rule}`);
  return complete;
}

function changeOptionProblems({ balance, creditLimit, closedStatusCodes }: ChangeOptions): Problem[] {
  const problems = [...thresholdProblems(balance, '/balance'), ...thresholdProblems(creditLimit, '/creditLimit')];
  if (closedStatusCodes.some((code) => code.trim() === '')) {
    problems.push({ path: '/closedStatusCodes', rule: 'must hold codes that are not empty' });
  }
  return problems;
}

function thresholdProblems({ amount, percent }: FigureThreshold, path: string): Problem[] {
  const problems: Problem[] = [];
  if (!isFigure(amount) || amount.startsWith('-')) {
    problems.push({ path: `${path}/amount`, rule: 'must be a decimal string, not negative' });
  }
  // Only this percentage is compared as a number: it is a bound, not an amount.
  if (!isFigure(percent) || percent.startsWith('-') || Number(percent) > 100) {
    problems.push({ path: `${path}/percent`, rule: 'must be a decimal string from 0 to 100' });
  }
  return problems;
}
