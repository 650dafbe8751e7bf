/** A workflow that returns the results of the message checks in a run. */
import { MESSAGES } from '../../src/messages/all-messages.ts';

/** A message, and the name of its definition. */
export type CheckCase = [message: keyof typeof MESSAGES, value: unknown];

export async function checkMessages(cases: CheckCase[]): Promise<(string | null)[]> {
  return verdictsOn(cases);
}

export function verdictsOn(cases: CheckCase[]): (string | null)[] {
  return cases.map(([name, value]) => {
    try {
      return MESSAGES[name].findProblem(value);
    } catch (error) {
      // Otherwise the SDK would retry it as a failed workflow task.
      return `threw ${error}`;
    }
  });
}
