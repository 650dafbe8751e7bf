/** The options of `resolve` that make up a decision: the members of its message, checked by its own definition. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { loadVariable } from '../../config/environment.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type Decision, decision } from '../../messages/resolve-inquiry.ts';
import { decisionContent, type ProvableDecision } from '../../model/decision-content.ts';
import { InvalidInputError } from '../../model/problems.ts';
import type { Environment } from '../../model/products.ts';
import type { ServerOptions } from '../output/common-options.ts';
import { readObject } from '../output/json-input.ts';
import { asTyped, type GivenOptions } from '../output/option-names.ts';
import { readProof, requireProved } from '../output/proof-input.ts';
import { applyOptions, membersIn, namesByPath } from '../output/schema-options.ts';

/** Lists, the argument and the proof have no option of their own here. */
const WITHOUT_OPTION = ['/applicants', '/customerTraceNumber', '/proof'];

/** @internal The members of a decision that options give. */
export const DECISION_MEMBERS = membersIn([decision.schema(z.unknown() as never)]).filter(
  ({ path }) => !WITHOUT_OPTION.includes(path),
);

/** A decision as far as it has been given. */
export type DraftDecision = { decisionId: string } & Partial<Omit<Decision, 'decisionId' | 'customerTraceNumber'>>;

export interface ResolveOptions extends ServerOptions, GivenOptions {
  /** Files. */
  file?: string;
  proof?: string;
  answers?: string;
  yes?: boolean;
  all?: boolean;
}

/** Reads the decision as its proof holds it, the file says, and the options say above both. */
export async function readDraft(options: ResolveOptions) {
  const proof = options.proof === undefined ? undefined : await readProof(options.proof, 'decision');
  const { environment, contentDigest: _, customerTraceNumber, ...proved } = proof?.content ?? {};
  const base = { decisionId: `D-${randomUUID()}`, ...proved, ...(await readObject(options.file)) };
  return {
    draft: applyOptions(DECISION_MEMBERS, options, base) as DraftDecision,
    /** The inquiry that the proof names. */
    trace: customerTraceNumber as string | undefined,
    /** Adds the proof, and checks all of it. @throws InvalidInputError where the decision differs from its proof */
    complete(decision: DraftDecision, trace: string): DraftDecision {
      const whole = { ...decision, ...omitUndefined({ proof: proof?.text }) };
      const about = { ...decision, customerTraceNumber: trace };
      if (proof) requireProved(proof.content, decisionContent(environment as Environment, about as ProvableDecision));
      checkDecision({ ...whole, customerTraceNumber: trace }, options);
      return whole;
    },
  };
}

const NAMES = {
  ...namesByPath(DECISION_MEMBERS),
  '/customerTraceNumber': '<customerTraceNumber>',
  '/proof': '--proof',
};

/**
 * Checks a decision before the command connects to a server.
 *
 * @param given the command's options, by which errors name a member
 * @throws InvalidInputError with every problem
 */
export function checkDecision(message: object, given: GivenOptions = {}): void {
  try {
    parseMessage(decision, message, { maxApplicants: loadVariable(process.env, 'GATEWAY_MAX_APPLICANTS') });
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, NAMES, given) : error;
  }
}
