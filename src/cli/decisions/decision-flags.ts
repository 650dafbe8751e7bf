/** The options of `resolve` that make up a decision, checked as far as they can be without a server. */

import { randomUUID } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import type { Applicant } from '../../model/applicant.ts';
import { decisionContent, type ProvableDecision } from '../../model/decision-content.ts';
import { HOLD_ACTIONS } from '../../model/failure-types.ts';
import type { Environment } from '../../model/products.ts';
import { PROVIDER_SAID, type ProviderSaid } from '../../model/provider-word.ts';
import { REPORT_OUTCOMES, type ReportOutcome, type ReportReference } from '../../model/report-outcome.ts';
import type { ServerOptions } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { readJson } from '../output/json-input.ts';
import { type ReadProof, readProof, requireProved } from '../output/proof-input.ts';
import type { WorkOptions } from './work-query.ts';

interface DecisionFlags {
  action?: string;
  by?: string;
  reason?: string;
  providerSaid?: string;
  outcome?: string;
  /** Files. */
  reference?: string;
  applicants?: string;
  confirmConsumerIds?: boolean;
  decisionId?: string;
  attempt?: string;
  /** A file. */
  proof?: string;
}

/** `seen` is for flags, and for unsent inquiries of a run that is gone. */
const ACTIONS = [...HOLD_ACTIONS, 'seen'] as const;
export type ResolveAction = (typeof ACTIONS)[number];

/** A decision as far as it has been given. */
export interface DraftDecision {
  decisionId: string;
  attempt?: number;
  action?: ResolveAction;
  by?: string;
  reason?: string;
  providerSaid?: ProviderSaid;
  outcome?: ReportOutcome;
  reference?: ReportReference;
  applicants?: Applicant[];
  confirmConsumerIds?: true;
  /** Compact JWS. */
  proof?: string;
}

/** Adds the content of the proof, if there is one, to the options. Options given beside it are compared later. */
export async function withProof<T extends DecisionFlags>(flags: T): Promise<{ flags: T; proof?: ReadProof }> {
  if (flags.proof === undefined) return { flags };
  const proof = await readProof(flags.proof, 'decision');
  const { decisionId, attempt, action, by, reason, providerSaid, outcome, confirmConsumerIds } = proof.content;
  const words = Object.entries({ decisionId, action, by, reason, providerSaid, outcome });
  const proved = {
    ...Object.fromEntries(words.filter(([, value]) => typeof value === 'string')),
    ...(typeof attempt === 'number' ? { attempt: String(attempt) } : {}),
    ...(confirmConsumerIds === true ? { confirmConsumerIds } : {}),
  };
  return { flags: { ...proved, ...flags }, proof };
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

/** Reads the files; the check of the message judges their content. @throws UsageError */
export async function draftOf(flags: DecisionFlags): Promise<DraftDecision> {
  const action = oneOf('--action', ACTIONS, flags.action);
  const providerSaid = oneOf('--provider-said', PROVIDER_SAID, flags.providerSaid);
  const outcome = oneOf('--outcome', REPORT_OUTCOMES, flags.outcome);
  const attempt = attemptOf(flags.attempt);
  return {
    decisionId: flags.decisionId ?? `D-${randomUUID()}`,
    ...defined({ attempt, action, by: flags.by, reason: flags.reason, providerSaid, outcome }),
    ...(flags.reference === undefined
      ? {}
      : { reference: (await readJson(flags.reference, '--reference')) as ReportReference }),
    ...(flags.confirmConsumerIds ? { confirmConsumerIds: true } : {}),
    ...(flags.applicants === undefined
      ? {}
      : { applicants: (await readJson(flags.applicants, '--applicants')) as Applicant[] }),
  };
}

/** The options that the decision still lacks, as they are written. */
function missingFlags(flags: DecisionFlags, { attempt = true } = {}): string[] {
  const isSeen = flags.action === 'seen';
  const withRecord = flags.action === 'accept' && flags.outcome === 'record';
  const needed: [string, unknown, boolean][] = [
    // The operator must judge the attempt that the hold showed, and not one that came meanwhile.
    ['--attempt <number>', flags.attempt, attempt && !isSeen],
    [`--action <${HOLD_ACTIONS.join('|')}>`, flags.action, true],
    ['--by <name>', flags.by, true],
    ['--reason <text>', flags.reason, true],
    [`--provider-said <${PROVIDER_SAID.join('|')}>`, flags.providerSaid, !isSeen],
    [`--outcome <${REPORT_OUTCOMES.join('|')}>`, flags.outcome, flags.action === 'accept'],
    ['--reference <file>', flags.reference, withRecord],
  ];
  return needed.flatMap(([name, value, isNeeded]) => (isNeeded && value === undefined ? [name] : []));
}

/** @throws UsageError that lists them */
export function requireFlags(flags: DecisionFlags, options?: { attempt?: boolean }): void {
  const missing = missingFlags(flags, options);
  if (missing.length === 0) return;
  throw new UsageError(`without a terminal to ask on, these options are missing: ${missing.join(', ')}`);
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string | undefined): T | undefined {
  if (value === undefined) return undefined;
  const found = known.find((one) => one === value);
  if (found === undefined) throw new UsageError(`${name} must be one of ${known.join(', ')}`);
  return found;
}

function attemptOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError('--attempt must be a whole number, 1 or more');
  return Number(text);
}

export interface ResolveOptions extends ServerOptions, DecisionFlags, WorkOptions {
  yes?: boolean;
  all?: boolean;
  /** A file. */
  answers?: string;
}
