/** Error bodies. Their shape is the sandbox's own (interface 7, item 5). They contain no value of the request. */
import { type Answer, jsonAnswer } from '../faults/fault.ts';
import type { Problem } from '../rules/table.ts';

/** Every product response carries a returnCode (interface 7, item 1). */
export function errorAnswer(
  status: number,
  errorMessage: string,
  problems: Problem[] = [],
  headers: Record<string, string> = {},
): Answer {
  return jsonAnswer(status, { returnCode: 'Error', errorMessage, problems }, headers);
}
