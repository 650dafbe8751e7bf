/** The options of `resolve` that make up a decision, checked as far as they can be without a server. */
import { randomUUID } from 'node:crypto';
import { HOLD_ACTIONS } from '../model/failure-types.ts';
import { PROVIDER_SAID, type ProviderSaid } from '../model/provider-word.ts';
import type { Applicant, ReportOutcome, ReportReference } from '../model/shapes.ts';
import { UsageError } from './errors.ts';
import { readJson } from './json-input.ts';

export interface DecisionFlags {
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
}

/** `seen` is for what came too late, and in the ledger only. */
export const ACTIONS = [...HOLD_ACTIONS, 'seen'] as const;
export type Action = (typeof ACTIONS)[number];

export const OUTCOMES = ['record', 'noRecord', 'noReport'] as const satisfies readonly ReportOutcome[];

/** A decision as far as it has been given. */
export interface DraftDecision {
  decisionId: string;
  attempt?: number;
  action?: Action;
  by?: string;
  reason?: string;
  providerSaid?: ProviderSaid;
  outcome?: ReportOutcome;
  reference?: ReportReference;
  applicants?: Applicant[];
  confirmConsumerIds?: true;
}

/** The files are read here; the message's own check has the last word on what is in them. @throws UsageError */
export async function draftOf(flags: DecisionFlags): Promise<DraftDecision> {
  const action = oneOf('--action', ACTIONS, flags.action);
  const providerSaid = oneOf('--provider-said', PROVIDER_SAID, flags.providerSaid);
  const outcome = oneOf('--outcome', OUTCOMES, flags.outcome);
  const attempt = attemptOf(flags.attempt);
  return {
    decisionId: flags.decisionId ?? `D-${randomUUID()}`,
    ...(attempt === undefined ? {} : { attempt }),
    ...(action ? { action } : {}),
    ...(flags.by === undefined ? {} : { by: flags.by }),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    ...(providerSaid ? { providerSaid } : {}),
    ...(outcome ? { outcome } : {}),
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
export function missingFlags(flags: DecisionFlags, { attempt = true } = {}): string[] {
  const isSeen = flags.action === 'seen';
  const withRecord = flags.action === 'accept' && flags.outcome === 'record';
  const needed: [string, unknown, boolean][] = [
    // What is judged must be what was seen: an attempt that came meanwhile is another matter.
    ['--attempt <number>', flags.attempt, attempt && !isSeen],
    [`--action <${HOLD_ACTIONS.join('|')}>`, flags.action, true],
    ['--by <name>', flags.by, true],
    ['--reason <text>', flags.reason, true],
    [`--provider-said <${PROVIDER_SAID.join('|')}>`, flags.providerSaid, !isSeen],
    [`--outcome <${OUTCOMES.join('|')}>`, flags.outcome, flags.action === 'accept'],
    ['--reference <file>', flags.reference, withRecord],
    ['--applicants <file>', flags.applicants, flags.action === 'amend'],
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
