/** Asks on a terminal for what the options have left open. */
import { userInfo } from 'node:os';
import { omitUndefined } from '../../base/defined.ts';
import type { Applicant } from '../../model/applicant.ts';
import { type HoldAction, isFailureType } from '../../model/failure-types.ts';
import { PROVIDER_SAID, type ProviderSaid } from '../../model/provider-word.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { parseRunKey } from '../../model/run-key.ts';
import type { DecidableHold } from '../../operator/judge-decision.ts';
import {
  consequences,
  type DecidedInquiry,
  describeAction,
  PROVIDER_WORDS,
  questionSentences,
} from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { holdLines } from '../output/hold-lines.ts';
import { readJson } from '../output/json-input.ts';
import { type Output, wrap } from '../output/output.ts';
import type { Prompter } from '../output/prompts.ts';
import type { DraftDecision } from './decision-flags.ts';

/** The operator types this for an applicant of whom the provider has no record. */
const NO_RECORD = '-';

export function showHold(hold: DecidableHold, prompter: Prompter, { width }: Pick<Output, 'width'>): void {
  const { kind, id } = parseRunKey(hold.runKey);
  const question = questionSentences(hold, AS_TEXT);
  prompter.say([
    `${kind} ${hold.heldBy === 'run' ? id : `${id} (it has no run)`}`,
    ...holdLines(hold, width),
    ...(question === undefined ? [] : wrap(`To ask the provider: ${question}`, width)),
  ]);
}

/**
 * The decision with everything that its action needs.
 *
 * @param ofMany it is about many holds of one kind, so that nothing of one person belongs to it
 */
export async function askForTheRest(
  hold: DecidableHold,
  draft: DraftDecision,
  prompter: Prompter,
  { ofMany = false } = {},
): Promise<DraftDecision> {
  const decision = { attempt: hold.attempt, ...draft } as DraftDecision;
  decision.action ??= await askAction(hold, prompter);
  if (decision.action === 'accept')
    decision.outcome ??= await prompter.choice('The outcome, as the provider gives it', outcomeChoices(hold, ofMany));
  decision.providerSaid ??= await askProviderSaid(hold, decision.action, decision.outcome, prompter);
  if (decision.outcome === 'record' && !ofMany) {
    decision.reference ??= await askReference(hold, prompter);
  }
  if (decision.action === 'amend' && decision.applicants === undefined && !ofMany)
    await askApplicants(decision, prompter);
  decision.by ??= await prompter.line('Who decides', presetName());
  decision.reason ??= await prompter.line('Why');
  return decision;
}

function toDecidedInquiry(hold: DecidableHold): DecidedInquiry {
  const { runKey, heldBy, reason, productCode, shareId, attempt = 0 } = hold;
  const failureType = isFailureType(reason) ? reason : null;
  return { run: parseRunKey(runKey).kind, isRunning: heldBy === 'run', failureType, productCode, shareId, attempt };
}

/** Describes the consequences of the decision, as sentences. */
export function describeConsequences(
  hold: DecidableHold,
  { action, outcome, reference, applicants }: DraftDecision,
): string[] {
  if (action === undefined) return [];
  const found = reference ? `${outcome}, reference ${reference.reportReferenceNumber}` : outcome;
  return consequences(action, toDecidedInquiry(hold), {
    ...omitUndefined({ outcome: found }),
    isPosted: outcome === 'record',
    keepsApplicants: applicants === undefined,
  });
}

function askAction(hold: DecidableHold, prompter: Prompter): Promise<HoldAction> {
  const choices = hold.allowedActions.flatMap((action) =>
    action === 'seen' ? [] : [{ value: action, what: describeAction(action, toDecidedInquiry(hold)).words }],
  );
  return prompter.choice('What may be decided', choices);
}

/** Only the words with which the decision may be taken. */
function askProviderSaid(
  hold: DecidableHold,
  action: HoldAction,
  outcome: DraftDecision['outcome'],
  prompter: Prompter,
): Promise<ProviderSaid> {
  const { outcomes = [], providerSaid } = describeAction(action, toDecidedInquiry(hold));
  const said = outcomes.find((candidate) => candidate.outcome === outcome)?.providerSaid ?? providerSaid;
  const choices = (said.length === 0 ? PROVIDER_SAID : said).map((value) => ({ value, what: PROVIDER_WORDS[value] }));
  return prompter.choice('What the provider says about it', choices);
}

function outcomeChoices(hold: DecidableHold, ofMany: boolean) {
  const { outcomes = [] } = describeAction('accept', toDecidedInquiry(hold));
  return outcomes.flatMap(({ outcome: value, words: what }) => (ofMany && value === 'record' ? [] : [{ value, what }]));
}

/** A reference in the words of the provider's books. `--file` takes the whole of it. */
async function askReference({ applicantIds: known = [] }: DecidableHold, prompter: Prompter): Promise<ReportReference> {
  const [{ sharedFields }, { problemsIn }] = await Promise.all([
    import('../../messages/message.ts'),
    import('../../fields/problems.ts'),
  ]);
  const { reportReferenceNumber, requestedAt, applicants } = sharedFields().reference.shape;
  const { applicantId, consumerId } = applicants.element.shape;
  const ask = (question: string, schema: Parameters<typeof problemsIn>[0], none?: string) =>
    prompter.line(question, {
      problem: (text) => (text === none ? null : (problemsIn(schema, text)[0]?.rule ?? null)),
    });
  const reference: ReportReference = {
    reportReferenceNumber: await ask('reportReferenceNumber', reportReferenceNumber),
    requestedAt: await ask('When the request was made (as 2026-01-31T14:00:00Z)', requestedAt),
    applicants: [],
  };
  const found = reference.applicants;
  for (const [index, id] of known.entries()) {
    const mayLack = found.length > 0 || index < known.length - 1;
    const text = await ask(
      `consumerId of ${id}${mayLack ? ' (- where there is no record)' : ''}`,
      consumerId,
      mayLack ? NO_RECORD : undefined,
    );
    if (!mayLack || text !== NO_RECORD) found.push({ applicantId: id, consumerId: text });
  }
  // Only a hold from an older worker does not say whom it is about.
  while (found.length === 0 || (known.length === 0 && (await prompter.confirm('Another applicant?')))) {
    const id = await ask('applicantId', applicantId);
    found.push({ applicantId: id, consumerId: await ask(`consumerId of ${id}`, consumerId) });
  }
  return reference;
}

async function askApplicants(decision: DraftDecision, prompter: Prompter): Promise<void> {
  const from = await prompter.choice('With which applicants', [
    { value: 'same', what: 'the same as before: only the configuration was wrong' },
    { value: 'corrected', what: 'from a file' },
  ]);
  if (from === 'same') return;
  const shape = 'a list, as the journey was started with';
  decision.applicants = (await askFile('File with the applicants', shape, prompter)) as Applicant[];
}

/** Asks again where the file cannot be read: all else has been answered already. */
async function askFile(question: string, shape: string, prompter: Prompter): Promise<unknown> {
  for (;;) {
    const path = await prompter.line(`${question} (JSON: ${shape})`);
    try {
      return await readJson(path, 'here');
    } catch (error) {
      prompter.say([`  ${error instanceof Error ? error.message : 'it cannot be read'}`]);
    }
  }
}

function presetName(): { preset?: string } {
  try {
    return { preset: userInfo().username };
  } catch {
    // A process whose user has no name.
    return {};
  }
}
