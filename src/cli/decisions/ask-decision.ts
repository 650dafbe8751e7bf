/** Asks on a terminal for what the options have left open. */
import { omitUndefined } from '../../base/defined.ts';
import { findSchemaProblems } from '../../fields/problems.ts';
import { getSharedFields } from '../../messages/message.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { parseRunKey } from '../../model/run-key.ts';
import { type Hold, toDecidedInquiry } from '../../operator/holds.ts';
import type { DecidableHold } from '../../operator/judge-decision.ts';
import { describeEffects, describeQuestion } from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { type Output, wrap } from '../output/output.ts';
import type { Prompter } from '../output/prompts.ts';
import { formatHold } from '../output/status-lines.ts';
import type { DraftDecision } from './decision-flags.ts';

/** The operator types this for an applicant of whom the provider has no record. */
const NO_RECORD = '-';

export function showHold(hold: DecidableHold, prompter: Prompter, { width }: Pick<Output, 'width'>): void {
  const { kind, id } = parseRunKey(hold.runKey);
  const question = describeQuestion(hold, AS_TEXT);
  prompter.say([
    `${kind} ${hold.heldBy === 'run' ? id : `${id} (it has no run)`}`,
    ...formatHold(hold, width),
    ...(question === undefined ? [] : wrap(`To ask the provider: ${question}`, width)),
  ]);
}

/**
 * The decision with everything that its action needs.
 *
 * @param ofMany it is about many holds of one kind, so that nothing of one person belongs to it
 */
export async function askForTheRest(
  { attempt, allowedActions, applicantIds = [], guide: { actions, providerWords } }: Hold,
  draft: DraftDecision,
  prompter: Prompter,
  { ofMany = false } = {},
): Promise<DraftDecision> {
  const decision = { attempt, ...draft } as DraftDecision;
  const allowed = actions.filter(({ action }) => allowedActions.includes(action));
  decision.action ??= await prompter.choice(
    'What may be decided',
    allowed.map(({ action: value, words: what }) => ({ value: value as HoldAction, what })),
  );
  const chosen = allowed.find(({ action }) => action === decision.action);
  const outcomes = (chosen?.outcomes ?? []).filter(({ outcome }) => !ofMany || outcome !== 'record');
  if (outcomes.length > 0) {
    decision.outcome ??= await prompter.choice(
      'The outcome, as the provider gives it',
      outcomes.map(({ outcome: value, words: what }) => ({ value, what })),
    );
  }
  const { providerSaid = [] } = outcomes.find(({ outcome }) => outcome === decision.outcome) ?? chosen ?? {};
  decision.providerSaid ??= await prompter.choice(
    'What the provider says about it',
    providerSaid.map((value) => ({ value, what: providerWords[value] })),
  );
  if (decision.outcome === 'record' && !ofMany) decision.reference ??= await askReference(applicantIds, prompter);
  decision.by ??= await prompter.line('Who decides');
  decision.reason ??= await prompter.line('Why');
  return decision;
}

/** Describes the consequences of the decision, as sentences. */
export function describeConsequences(
  hold: DecidableHold,
  { action, outcome, reference, applicants }: DraftDecision,
): string[] {
  if (action === undefined) return [];
  const found = reference ? `${outcome}, reference ${reference.reportReferenceNumber}` : outcome;
  return describeEffects(action, toDecidedInquiry(hold, hold.heldBy === 'run'), {
    ...omitUndefined({ outcome: found }),
    isPosted: outcome === 'record',
    keepsApplicants: applicants === undefined,
  });
}

/** A reference in the words of the provider's books. `--file` takes the whole of it. */
async function askReference(applicantIds: readonly string[], prompter: Prompter): Promise<ReportReference> {
  const { reportReferenceNumber, requestedAt, applicants } = getSharedFields().reference.shape;
  const { consumerId } = applicants.element.shape;
  const ask = (question: string, schema: Parameters<typeof findSchemaProblems>[0], none?: string) =>
    prompter.line(question, {
      problem: (text) => (text === none ? null : (findSchemaProblems(schema, text)[0]?.rule ?? null)),
    });
  const reference: ReportReference = {
    reportReferenceNumber: await ask('reportReferenceNumber', reportReferenceNumber),
    requestedAt: await ask('When the request was made (as 2026-01-31T14:00:00Z)', requestedAt),
    applicants: [],
  };
  const found = reference.applicants;
  for (const [index, applicantId] of applicantIds.entries()) {
    const mayLack = found.length > 0 || index < applicantIds.length - 1;
    const text = await ask(
      `consumerId of ${applicantId}${mayLack ? ` (${NO_RECORD} where there is no record)` : ''}`,
      consumerId,
      mayLack ? NO_RECORD : undefined,
    );
    if (!mayLack || text !== NO_RECORD) found.push({ applicantId, consumerId: text });
  }
  return reference;
}
