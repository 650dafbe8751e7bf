/**
 * Checks of messages for workflow code, by the schemas of the messages. Each returns the problems (a path and a rule,
 * never a value), or `null`. Update validators run them: they may not wait, and leave no trace in the history. An
 * activity holds applicants against the interface's table.
 *
 * Workflow bundles preload this module: its schemas are built once for a worker's thread and not for each run. Preloaded
 * exports are frozen, and a schema defines its methods when they are first used; so schemas leave no module but through
 * functions. Nothing here may depend on a run, a clock, Node or configuration.
 */
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import {
  consentProblems,
  extendProblems,
  passGateProblems,
  requestShareProblems,
  resolveInquiryProblems,
} from '../fields/cross-rules.ts';
import { isByUnicode } from '../fields/fields.ts';
import { problemsIn } from '../fields/problems.ts';
import type { ID_NAMES, RunKind } from '../model/owner-id.ts';
import type { Problem } from '../model/problems.ts';
import { isUndecodable, undecodableRule } from '../model/undecodable.ts';
import { journeySchemas, passGateSchema, repeatStageSchema, resolveInquirySchema } from './journey/schemas.ts';
import { portfolioSchemas, resolvePortfolioSchema } from './portfolio/schemas.ts';
import { resolvePullSchema, withdrawPullSchema } from './pull/schemas.ts';
import { shareReportSchemas } from './share/schemas.ts';

/** The member in which a message names the run that it is for. */
type AddressName = (typeof ID_NAMES)[RunKind];

/** How a message came. A signal is judged again on replay, and then must get the same verdict. */
export type Via = 'update' | 'signal';

/** A text of problems ends after so many: a list may have any number. */
const MOST_SHOWN = 10;

/**
 * Characters of a message as JSON: several times those of ten applicants with everything. What a run takes, it passes on to
 * activities with more beside it, and a task of more than 2 MB fails for good.
 */
const MOST_CHARACTERS = 200_000;

const applicants = z.array(z.looseObject({})).min(1);
const passGate = passGateSchema(applicants);
const repeatStage = repeatStageSchema(applicants);
const { consent, extend, requestShare, withdraw, withdrawShare } = journeySchemas();
const { extendShareReport, resolveShareReport, withdrawShareReport } = shareReportSchemas();

const WITHDRAWALS: Record<AddressName, z.ZodType> = {
  journeyId: withdraw,
  pullId: withdrawPullSchema(),
  reviewId: portfolioSchemas().message,
  shareId: withdrawShareReport,
};

const DECISIONS: Record<AddressName, z.ZodType> = {
  journeyId: resolveInquirySchema(applicants),
  pullId: resolvePullSchema(applicants),
  reviewId: resolvePortfolioSchema(applicants),
  shareId: resolveShareReport,
};

export function withdrawProblem(value: unknown, addressName: AddressName = 'journeyId', via?: Via): string | null {
  return problemOf(WITHDRAWALS[addressName], value, { via });
}

export function resolveInquiryProblem(value: unknown, addressName: AddressName = 'journeyId'): string | null {
  return problemOf(DECISIONS[addressName], value, { crossRules: resolveInquiryProblems });
}

export function advanceProblem(value: unknown): string | null {
  if (isRecord(value) && value.repeat !== undefined) return problemOf(repeatStage, value);
  return problemOf(passGate, value, { crossRules: passGateProblems });
}

export function requestShareProblem(value: unknown): string | null {
  return problemOf(requestShare, value, { crossRules: requestShareProblems });
}

export function withdrawShareProblem(value: unknown): string | null {
  return problemOf(withdrawShare, value);
}

export function extendProblem(value: unknown): string | null {
  return problemOf(extend, value, { crossRules: extendProblems });
}

export function extendShareReportProblem(value: unknown): string | null {
  return problemOf(extendShareReport, value);
}

export function consentProblem(value: unknown, via?: Via): string | null {
  return problemOf(consent, value, { crossRules: consentProblems, via });
}

interface Judging {
  crossRules?: (value: Record<string, unknown>) => Problem[];
  via?: Via | undefined;
}

function problemOf(schema: z.ZodType, value: unknown, { crossRules, via = 'update' }: Judging = {}): string | null {
  if (isUndecodable(value)) return undecodableRule(value);
  if ((JSON.stringify(value)?.length ?? 0) > MOST_CHARACTERS) {
    return `/ must have at most ${MOST_CHARACTERS} characters as JSON`;
  }
  const ofFields = problemsIn(schema, value, {
    // Compiled code would be made for each run.
    jitless: true,
    ignores: (issue) => via === 'signal' && isByUnicode(issue),
  });
  const problems = [...ofFields, ...(crossRules && isRecord(value) ? crossRules(value) : [])];
  if (problems.length === 0) return null;
  const shown = problems.slice(0, MOST_SHOWN).map(({ path, rule }) => `${path || '/'} ${rule}`);
  return shown.join('; ');
}
