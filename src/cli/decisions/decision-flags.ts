/** The options of `resolve` that make up a decision: the members of its message, checked by its own definition. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type Decision, decision } from '../../messages/resolve-inquiry.ts';
import type { ServerOptions } from '../output/common-options.ts';
import { readObject } from '../output/json-input.ts';
import {
  applyOptions,
  type GivenOptions,
  membersIn,
  namesByPath,
  withTypedProblems,
} from '../output/schema-options.ts';

/** Lists and the argument have no option of their own here. */
const WITHOUT_OPTION = ['/applicants', '/customerTraceNumber'];

/** @internal The members of a decision that options give. */
export const DECISION_MEMBERS = membersIn([decision.schema(z.unknown() as never)]).filter(
  ({ path }) => !WITHOUT_OPTION.includes(path),
);

/** A decision as far as it has been given. */
export type DraftDecision = { decisionId: string } & Partial<Omit<Decision, 'decisionId' | 'customerTraceNumber'>>;

export interface ResolveOptions extends ServerOptions, GivenOptions {
  /** Files. */
  file?: string;
  answers?: string;
  yes?: boolean;
  all?: boolean;
}

/** Reads the decision as the file says, and the options say above it. */
export async function readDraft(options: ResolveOptions): Promise<DraftDecision> {
  const base = { decisionId: `D-${randomUUID()}`, ...(await readObject(options.file)) };
  return applyOptions(DECISION_MEMBERS, options, base) as DraftDecision;
}

const NAMES = { ...namesByPath(DECISION_MEMBERS), '/customerTraceNumber': '<customerTraceNumber>' };

/**
 * Checks a decision before the command connects to a server.
 *
 * @param given the command's options, by which errors name a member
 * @throws InvalidInputError with every problem
 */
export function checkDecision(draft: DraftDecision, customerTraceNumber: string, given: GivenOptions = {}): void {
  withTypedProblems(NAMES, given, () => parseMessage(decision, { ...draft, customerTraceNumber }));
}
