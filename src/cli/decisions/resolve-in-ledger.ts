/** A decision about an inquiry that has no run any more: it is written into the ledger. */
import type { OpenHold } from '../../client.ts';
import { runName } from '../../model/owner-id.ts';
import type { LedgerDecision, LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { checkMessage } from '../output/check-message.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, type Output, wrap } from '../output/output.ts';
import { createPrompter } from '../output/prompts.ts';
import type { ReadProof } from '../output/proof-input.ts';
import { askForTheRest, confirmed, showHold } from './ask-decision.ts';
import {
  type DraftDecision,
  draftOf,
  proven,
  type ResolveAction,
  type ResolveOptions,
  requireFlags,
  withProof,
} from './decision-flags.ts';
import { withJourneys } from './journey-action.ts';
import { isAsking } from './resolve-one.ts';

/** Returns the exit code. */
export async function resolveInLedger(customerTraceNumber: string, given: ResolveOptions): Promise<number> {
  const { flags: options, proof } = await withProof(given);
  const asking = isAsking(createOutput(options));
  if (!asking) requireFlags(options);
  const draft = await draftOf(options);
  if (draft.action === 'amend') {
    throw new UsageError('without a run nothing can be amended: abandon it, and start anew');
  }
  if (draft.action === 'seen' && proof) throw new UsageError('--proof belongs to a decision, not to seen');
  if (!asking && draft.action !== 'seen') {
    await checkMessage('decision', { ...proven(draft, customerTraceNumber, proof), customerTraceNumber });
  }
  return withJourneys(
    options,
    (journeys, output) =>
      asking
        ? ask(journeys, customerTraceNumber, { draft, proof }, options, output)
        : write(journeys, customerTraceNumber, proven(draft, customerTraceNumber, proof), output),
    { besideLedger: true },
  );
}

async function ask(
  journeys: LedgerJourneys,
  customerTraceNumber: string,
  { draft, proof }: { draft: DraftDecision; proof: ReadProof | undefined },
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  const prompter = createPrompter();
  try {
    const hold = openAbout(await journeys.openInLedger(customerTraceNumber), draft);
    showHold(hold, prompter, output);
    const decision = proven(await askForTheRest(hold, draft, prompter), customerTraceNumber, proof);
    if (!yes && !(await confirmed(hold, decision, prompter, output))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
    return await write(journeys, customerTraceNumber, decision, output);
  } finally {
    prompter.close();
  }
}

/** The decision comes before what only has to be seen. */
function openAbout(open: readonly OpenHold[], { action, attempt }: DraftDecision): OpenHold {
  const hold = open.find(({ allowedActions }) => action === undefined || allowedActions.includes(action));
  if (!hold) throw new UsageError(`it allows ${open.flatMap(({ allowedActions }) => allowedActions).join(', ')}`);
  if (attempt !== undefined && attempt !== hold.attempt) {
    throw new UsageError('it waits for a decision about another attempt by now: look at it again');
  }
  return hold;
}

async function write(
  journeys: LedgerJourneys,
  customerTraceNumber: string,
  draft: DraftDecision,
  output: Output,
): Promise<number> {
  const { decisionId, action, by = '', reason = '' } = draft;
  const answer =
    action === 'seen'
      ? await journeys.markSeen({ decisionId, customerTraceNumber, by, reason })
      : await journeys.decideInLedger({ ...draft, customerTraceNumber } as LedgerDecision);
  output.answer({ accepted: true, decisionId, action, ...answer }, () => [
    output.colors.green(answer.duplicate ? 'decided before: nothing has changed' : `decided, as ${decisionId}`),
    ...nextSteps(action, answer.journeyId).flatMap((text) => wrap(text, output.width)),
  ]);
  return EXIT.done;
}

function nextSteps(action: ResolveAction | undefined, ownerId: string): string[] {
  if (action === 'resend') return [`The next start of ${runName(ownerId)} sends it once more, with the same input.`];
  if (action === 'accept') return [`The next start of ${runName(ownerId)} goes on with it, with the same input.`];
  return [];
}
