/** Asks on a terminal for what the options have left open. */

import { createInterface } from 'node:readline/promises';
import { getMessageFields } from '../../fields/fields.ts';
import { findSchemaProblems } from '../../fields/problems.ts';
import type { Decision } from '../../messages/resolve-inquiry.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { formatRunName } from '../../model/run-key.ts';
import type { Hold } from '../../operator/holds.ts';
import { type Output, wrap } from '../output/output.ts';
import { formatHold } from '../output/status-lines.ts';

/** A row of the list that waits for a decision. */
export type WaitingHold = Hold & Required<Pick<Hold, 'customerTraceNumber' | 'attempt' | 'productCode'>>;

/** A decision as far as it has been given. */
export type DraftDecision = Pick<Decision, 'decisionId'> & Partial<Decision>;

export function showHold(hold: WaitingHold, { say, width }: Output): void {
  const { ask } = hold.guide;
  say([
    formatRunName(hold.runKey),
    ...formatHold(hold, width),
    ...(ask === undefined ? [] : wrap(`To ask the provider: ${ask}`, width)),
  ]);
}

/**
 * Adds to the decision everything that its action needs.
 *
 * @param ofMany it is about many holds of one kind, so that nothing of one person belongs to it
 */
export async function askForTheRest(
  { attempt, guide: { actions, providerWords } }: WaitingHold,
  decision: DraftDecision,
  prompter: Prompter,
  { ofMany = false } = {},
): Promise<void> {
  decision.attempt ??= attempt;
  decision.action ??= await prompter.choice(
    'What may be decided',
    actions.map(({ action: value, words: what }) => ({ value: value as HoldAction, what })),
  );
  const chosen = actions.find(({ action }) => action === decision.action);
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
  if (decision.outcome === 'record' && !ofMany) decision.reference ??= await askReference(prompter);
  decision.by ??= await prompter.line('Who decides');
  decision.reason ??= await prompter.line('Why');
}

/** Describes the consequences of the decision, as sentences. */
export function describeEffect({ guide: { actions } }: Hold, { action, outcome }: DraftDecision): string {
  const chosen = actions.find((candidate) => candidate.action === action);
  return (chosen?.outcomes?.find((candidate) => candidate.outcome === outcome) ?? chosen)?.does ?? '';
}

/** Asks for a reference as the provider's books have it. `--file` takes the whole of it. */
async function askReference(prompter: Prompter): Promise<ReportReference> {
  const { reportReferenceNumber, requestedAt, applicants } = getMessageFields().reference.shape;
  const { applicantId, consumerId } = applicants.element.shape;
  const ask = (question: string, schema: Parameters<typeof findSchemaProblems>[0]) =>
    prompter.line(question, (text) => findSchemaProblems(schema, text)[0]?.rule ?? null);
  const reference: ReportReference = {
    reportReferenceNumber: await ask('reportReferenceNumber', reportReferenceNumber),
    requestedAt: await ask('When the request was made (as 2026-01-31T14:00:00Z)', requestedAt),
    applicants: [],
  };
  do {
    const id = await ask('applicantId of an applicant with a record (as 1A)', applicantId);
    reference.applicants.push({ applicantId: id, consumerId: await ask(`consumerId of ${id}`, consumerId) });
  } while (await prompter.confirm('Does the provider have a record of a further applicant?'));
  return reference;
}

/** Thrown after Ctrl-C, Ctrl-D or a closed terminal: no decision was made. */
export class PromptClosedError extends Error {
  override readonly name = 'PromptClosedError';
}

export type Prompter = ReturnType<typeof createPrompter>;

/** Its methods throw `PromptClosedError` once the input has ended. */
export function createPrompter(resources: AsyncDisposableStack, { say }: Output) {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  resources.defer(() => reader.close());
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  // Without this the question would never resolve, and the process would end before its answer.
  reader.once('close', () => closed.reject(new PromptClosedError('nothing was decided')));
  const ask = async (question: string) => (await Promise.race([reader.question(question), closed.promise])).trim();

  /** Asks until there is no problem with the answer. */
  const line = async (question: string, findProblem: (text: string) => string | null = () => null): Promise<string> => {
    for (;;) {
      const text = await ask(`${question}: `);
      const wrong = text === '' ? 'an answer is required' : findProblem(text);
      if (wrong === null) return text;
      say([`  ${wrong}`]);
    }
  };

  return {
    line,
    choice: async <T extends string>(question: string, choices: readonly { value: T; what: string }[]): Promise<T> => {
      say([`${question}:`, ...choices.map(({ value, what }, index) => `  ${index + 1}  ${value}: ${what}`)]);
      const values = choices.map(({ value }) => value);
      const find = (text: string) => values.find((value, index) => text === value || text === String(index + 1));
      const text = await line('Number or word', (answer) => (find(answer) ? null : `one of ${values.join(', ')}`));
      return find(text) as T;
    },
    /** Defaults to no. */
    confirm: async (question: string) => /^y(es)?$/i.test(await ask(`${question} [y/N] `)),
  };
}
