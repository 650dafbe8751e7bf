/** The options of `resolve` that make up a decision: the members of its message, checked by its own definition. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { loadVariable } from '../../config/environment.ts';
import { MESSAGES } from '../../messages/all-messages.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import type { Checked } from '../../messages/message.ts';
import { type Decision, decision } from '../../messages/resolve-inquiry.ts';
import { decisionContent, type ProvableDecision } from '../../model/decision-content.ts';
import { InvalidInputError } from '../../model/problems.ts';
import type { Environment } from '../../model/products.ts';
import { ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import type { ServerOptions } from '../output/common-options.ts';
import { readObject } from '../output/json-input.ts';
import { asTyped, type GivenOptions } from '../output/option-names.ts';
import { type ReadProof, readProof, requireProved } from '../output/proof-input.ts';
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

/** Returns the decision as its proof holds it, the file says, and the options say above both. */
export async function readDraft(options: ResolveOptions): Promise<{ draft: DraftDecision; proof?: ReadProof }> {
  const proof = options.proof === undefined ? undefined : await readProof(options.proof, 'decision');
  const { environment: _, contentDigest: __, customerTraceNumber: ___, ...proved } = proof?.content ?? {};
  const base = { decisionId: `D-${randomUUID()}`, ...proved, ...(await readObject(options.file)) };
  const draft = applyOptions(DECISION_MEMBERS, options, base) as DraftDecision;
  return proof ? { draft, proof } : { draft };
}

/**
 * The decision about this inquiry, with its proof.
 *
 * @throws InvalidInputError where it says something else than the proof
 */
export function proven(draft: DraftDecision, customerTraceNumber: string, proof: ReadProof | undefined): DraftDecision {
  if (!proof) return draft;
  const environment = proof.content.environment as Environment;
  requireProved(proof.content, decisionContent(environment, { ...draft, customerTraceNumber } as ProvableDecision));
  return { ...draft, proof: proof.text };
}

/** Returns the trace number of a proof. It is later compared with the one that the operator named. */
export function tracedBy(proof: ReadProof | undefined): string | undefined {
  const traced = proof?.content.customerTraceNumber;
  return typeof traced === 'string' ? traced : undefined;
}

const TO_RUN = {
  journey: 'resolveInquiry',
  pull: 'resolvePull',
  portfolio: 'resolvePortfolio',
  share: 'resolveShareReport',
} as const;

/**
 * Checks a decision before the command connects to a server: for the run, or for any run.
 *
 * @param given the command's options, by which errors name a member
 * @throws InvalidInputError with every problem
 */
export function checkDecision(message: unknown, given: GivenOptions = {}, runKey?: string): void {
  const names = {
    ...namesByPath(DECISION_MEMBERS),
    '/customerTraceNumber': '<customerTraceNumber>',
    '/proof': '--proof',
  };
  const { kind, id } = parseRunKey(runKey ?? '');
  const definition: Checked = runKey === undefined ? decision : MESSAGES[TO_RUN[kind]];
  const whole = runKey === undefined ? message : { ...(message as object), [ID_NAMES[kind]]: id };
  try {
    parseMessage(definition, whole, { maxApplicants: loadVariable(process.env, 'GATEWAY_MAX_APPLICANTS') });
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, names, given) : error;
  }
}
