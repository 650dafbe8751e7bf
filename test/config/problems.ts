/** Returns the problems that a loader of configuration finds. */
import assert from 'node:assert/strict';
import { ConfigError, type ConfigProblem } from '../../src/model/problems.ts';

export function problemsOf(load: () => unknown): readonly ConfigProblem[] {
  try {
    load();
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
}

export function variablesOf(load: () => unknown): string[] {
  return problemsOf(load).map(({ variable }) => variable);
}
