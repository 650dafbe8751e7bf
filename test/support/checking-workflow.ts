/** A workflow that says what the checks of messages say in a run. */
import { MESSAGES } from '../../src/messages/all-messages.ts';

/** A message, by the name of its definition. */
export type CheckCase = [message: keyof typeof MESSAGES, value: unknown];

export async function checkMessages(cases: CheckCase[]): Promise<(string | null)[]> {
  return verdictsOn(cases);
}

export function verdictsOn(cases: CheckCase[]): (string | null)[] {
  return cases.map(([name, value]) => {
    try {
      return MESSAGES[name].findProblem(value);
    } catch (error) {
      // Would be repeated as a failure of the workflow task.
      return `threw ${error}`;
    }
  });
}
