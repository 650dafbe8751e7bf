/** Asks on a terminal for what the options have left open. */
import { userInfo } from 'node:os';
import { defined } from '../../base/defined.ts';
import type { OpenHold } from '../../client.ts';
import type { Applicant } from '../../model/applicant.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { actionWords, consequences, PROVIDER_WORDS } from '../../model/hold-guide.ts';
import { PROVIDER_SAID, type ProviderSaid, wordsThatPermit } from '../../model/provider-word.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { decidedInquiry, holdFacts, holdMeaning } from '../output/hold-lines.ts';
import { readJson } from '../output/json-input.ts';
import { type Output, table, wrap } from '../output/output.ts';
import type { Prompter } from '../output/prompts.ts';
import { type DraftDecision, OUTCOMES, type ResolveAction } from './decision-flags.ts';

const REFERENCE_SHAPE =
  '{"reportReferenceNumber","requestedAt","applicants":[{"applicantId","consumerId"}]}; ' +
  'requestedAt is when the request was made';

/** Shows what the decision is about. */
export function showHold(hold: OpenHold, prompter: Prompter, { width }: Pick<Output, 'width'>): void {
  prompter.say([...table(holdFacts(hold), width), ...holdMeaning(hold).flatMap((line) => wrap(line, width))]);
}

/** The decision with everything that its action needs. */
export async function askForTheRest(hold: OpenHold, draft: DraftDecision, prompter: Prompter): Promise<DraftDecision> {
  const decision = { attempt: hold.attempt, ...draft } as DraftDecision;
  decision.action ??= await askAction(hold, prompter);
  if (decision.action === 'accept') decision.outcome ??= await prompter.choice('What came of it', outcomeChoices(hold));
  if (decision.action !== 'seen') decision.providerSaid ??= await askProviderSaid(hold, decision, prompter);
  if (decision.outcome === 'record') {
    decision.reference ??= (await askFile('File with the reference', REFERENCE_SHAPE, prompter)) as ReportReference;
  }
  if (decision.action === 'amend') {
    decision.applicants ??= (await askFile(
      'File with the applicants',
      'a list, as the journey was started with',
      prompter,
    )) as Applicant[];
  }
  decision.by ??= await prompter.line('Who decides', presetName());
  decision.reason ??= await prompter.line('Why');
  return decision;
}

/** Shows what will happen, and asks whether it shall. */
export async function confirmed(
  hold: OpenHold,
  decision: DraftDecision,
  prompter: Prompter,
  { width }: Pick<Output, 'width'>,
): Promise<boolean> {
  prompter.say(['', ...consequencesOf(hold, decision).flatMap((sentence) => wrap(sentence, width))]);
  return prompter.confirm(`Decide ${decision.action}?`);
}

/** What follows from the decision, as sentences. */
export function consequencesOf(hold: OpenHold, { action, outcome, reference }: DraftDecision): string[] {
  if (action === undefined) return [];
  const found = reference ? `${outcome}, reference ${reference.reportReferenceNumber}` : outcome;
  return consequences(action, decidedInquiry(hold), { ...defined({ outcome: found }), isPosted: outcome === 'record' });
}

function askAction(hold: OpenHold, prompter: Prompter): Promise<ResolveAction> {
  const { failureType } = decidedInquiry(hold);
  const choices = hold.allowedActions.map((value) => ({ value, what: actionWords(value, { failureType }) }));
  return prompter.choice('What may be decided', choices);
}

/** Only the words with which the decision may be taken. */
function askProviderSaid(hold: OpenHold, decision: DraftDecision, prompter: Prompter): Promise<ProviderSaid> {
  const choices = permittedWords(hold, decision).map((value) => ({ value, what: PROVIDER_WORDS[value] }));
  return prompter.choice('What the provider says about it', choices);
}

function permittedWords(
  { reason, productCode }: OpenHold,
  { action, outcome }: DraftDecision,
): readonly ProviderSaid[] {
  if (!isFailureType(reason) || action === undefined || action === 'seen') return PROVIDER_SAID;
  return wordsThatPermit({ failureType: reason, productCode }, { action, outcome });
}

function outcomeChoices({ productCode }: OpenHold) {
  const words = {
    record: productCode === 'SECONDUSE' ? 'it was posted' : 'there is a report, with a reference',
    noRecord: 'there is no record of the consumer',
    noReport: 'it was answered without a report',
  };
  return OUTCOMES.map((value) => ({ value, what: words[value] }));
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
