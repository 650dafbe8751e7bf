/** One decision for each hold of a kind, after an outage. */
import type { CreditJourneys, OpenHold } from '../../client.ts';
import { knownDecisionTrust } from '../../config/config.ts';
import type { ResolveInquiryMessage } from '../../messages/journey/shapes.ts';
import { ALLOWED_ACTIONS, isFailureType } from '../../model/failure-types.ts';
import type { ProductCode } from '../../model/products.ts';
import { wordProblem } from '../../model/provider-word.ts';
import { checkMessage } from '../output/check-message.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, type Output, table, wrap } from '../output/output.ts';
import { createPrompter, type Prompter } from '../output/prompts.ts';
import { askForTheRest, consequencesOf } from './ask-decision.ts';
import { type DraftDecision, draftOf, type ResolveOptions, requireFlags } from './decision-flags.ts';
import { queryOf } from './holds-query.ts';
import { withJourneys } from './journey-action.ts';
import { isAsking } from './resolve-one.ts';

/** What is decided about one inquiry, and what came of it. */
interface Decided {
  journeyId: string;
  customerTraceNumber: string;
  productCode: string;
  attempt: number;
  decisionId: string;
  action: string;
  accepted?: boolean;
  error?: { type: string; message: string };
}

type RunHold = OpenHold & { attempt: number };

/** Returns the exit code. */
export async function resolveAll(options: ResolveOptions): Promise<number> {
  const ownOutput = createOutput(options);
  const asking = isAsking(ownOutput);
  const { failureType } = queryOf({ ...options, ledger: false });
  if (failureType === undefined) throw new UsageError('--all needs a --type');
  const ofEach = [
    options.decisionId,
    options.attempt,
    options.reference,
    options.applicants,
    options.confirmConsumerIds,
    options.proof,
  ];
  if (ofEach.some((value) => value !== undefined)) {
    throw new UsageError(
      '--attempt, --decision-id, --reference, --confirm-consumer-ids, --applicants and --proof are of one inquiry, not of --all',
    );
  }
  requireNoProofs(process.env, ownOutput);
  if (!asking) requireFlags(options, { attempt: false });
  const draft = await draftOf(options);
  requireSense(draft, failureType);
  if (!asking) await checkMessage('decision', sampleOf(draft));
  return withJourneys(options, async (journeys, output) => {
    const { holds, unanswered } = await journeys.holds(queryOf({ ...options, ledger: false }));
    const waiting = holds.filter((hold): hold is RunHold => hold.attempt !== undefined);
    if (unanswered.length > 0) output.note(`no worker answered for ${unanswered.length} journeys: they are left out`);
    requireSense(
      draft,
      failureType,
      waiting.map(({ productCode }) => productCode),
    );
    return asking
      ? await askAll(journeys, waiting, draft, options, output)
      : await decideWithoutAsking(journeys, waiting, draft, options, output);
  });
}

/** Each proof is of one decision, and --all makes the decisions itself. Warns where that goes for some profiles alone. */
function requireNoProofs(env: NodeJS.ProcessEnv, output: Output): void {
  const trust = [...knownDecisionTrust(env)];
  const proving = trust.filter(([, needed]) => needed === 'proof').map(([name]) => name);
  if (proving.length === 0) return;
  const reason = 'takes a decision only with a proof, and --all can give none: decide one by one, with --proof';
  if (proving.length === trust.length) throw new UsageError(`every gateway profile here ${reason}`);
  output.note(`profile ${proving.join(', ')} ${reason}`);
}

/** @param products of the inquiries; until they are known, any that is no share */
function requireSense(draft: DraftDecision, failureType: string, products: readonly ProductCode[] = ['CR']): void {
  const { action, outcome, providerSaid } = draft;
  if (action === 'amend' || action === 'seen')
    throw new UsageError(`--all cannot ${action}: that is about one inquiry`);
  if (action === 'accept' && outcome === 'record') {
    throw new UsageError('--all cannot accept a record: each inquiry has a reference of its own');
  }
  if (!isFailureType(failureType) || action === undefined) return;
  if (!ALLOWED_ACTIONS[failureType].includes(action)) {
    throw new UsageError(`${failureType} allows ${ALLOWED_ACTIONS[failureType].join(', ')}`);
  }
  if (providerSaid === undefined) return;
  for (const productCode of products) {
    const problem = wordProblem({ failureType, productCode }, { action, outcome, providerSaid });
    if (problem) throw new UsageError(problem.replace('/providerSaid', '--provider-said'));
  }
}

/** The message as any of the inquiries would get it, to be checked before a server is asked for. */
function sampleOf(draft: DraftDecision): unknown {
  return { ...draft, customerTraceNumber: 'T', attempt: 1 };
}

async function decideWithoutAsking(
  journeys: CreditJourneys,
  holds: readonly RunHold[],
  draft: DraftDecision,
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  const planned = await plan(holds, draft);
  if (!yes && planned.length > 0) {
    output.answer({ planned }, () => [...listLines(holds, output), ...consequenceLines(holds, draft, output)]);
    throw new UsageError(`nothing was decided: --yes decides about these ${planned.length}`);
  }
  return decideEach(journeys, planned, draft, output);
}

async function askAll(
  journeys: CreditJourneys,
  holds: readonly RunHold[],
  draft: DraftDecision,
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  const [first] = holds;
  const prompter: Prompter = createPrompter();
  try {
    if (!first) {
      prompter.say(['nothing of this kind is on hold']);
      return EXIT.done;
    }
    prompter.say(listLines(holds, output));
    // What goes for one goes for all of the same reason; a reference or applicants do not.
    const allowedActions = first.allowedActions.filter((action) => action !== 'amend');
    const decision = await askForTheRest({ ...first, allowedActions }, { ...draft, attempt: 1 }, prompter);
    requireSense(
      decision,
      first.reason,
      holds.map(({ productCode }) => productCode),
    );
    await checkMessage('decision', sampleOf(decision));
    prompter.say(consequenceLines(holds, decision, output));
    if (!yes && !(await prompter.confirm(`Decide ${decision.action} about these ${holds.length}?`))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
    return await decideEach(journeys, await plan(holds, decision), decision, output);
  } finally {
    prompter.close();
  }
}

/** Each with a decision of its own: none can stand for another. */
async function plan(holds: readonly RunHold[], { action = 'abandon' }: DraftDecision): Promise<Decided[]> {
  return Promise.all(
    holds.map(async ({ journeyId, customerTraceNumber, productCode, attempt }) => {
      const { decisionId } = await draftOf({});
      return { journeyId, customerTraceNumber, productCode, attempt, decisionId, action };
    }),
  );
}

function listLines(holds: readonly RunHold[], { width }: Output): string[] {
  const rows = holds.map(({ productCode, attempt, customerTraceNumber, journeyId }) => [
    productCode,
    String(attempt),
    customerTraceNumber,
    journeyId,
  ]);
  return table([['PRODUCT', 'ATTEMPT', 'TRACE NUMBER', 'JOURNEY'], ...rows], width);
}

/** For one of them, as an example: the others differ in their numbers alone. */
function consequenceLines([example]: readonly RunHold[], decision: DraftDecision, { width }: Output): string[] {
  if (!example) return [];
  return ['', ...wrap(`${example.journeyId}: ${consequencesOf(example, decision).join(' ')}`, width)];
}

async function decideEach(
  journeys: CreditJourneys,
  planned: readonly Decided[],
  draft: DraftDecision,
  output: Output,
): Promise<number> {
  const decisions: Decided[] = [];
  // One after the other: where something is wrong with them all, it shows in the first.
  for (const one of planned) decisions.push(await decideOne(journeys, one, draft));
  const failed = decisions.filter(({ accepted }) => !accepted);
  output.answer({ decisions }, () => [
    ...table(
      decisions.map(({ journeyId, customerTraceNumber, accepted, error }) => [
        accepted ? 'decided' : 'FAILED',
        customerTraceNumber,
        error ? `${journeyId}: ${error.message}` : journeyId,
      ]),
      output.width,
    ),
    `${decisions.length - failed.length} decided, ${failed.length} failed`,
  ]);
  return failed.length > 0 ? EXIT.failed : EXIT.done;
}

async function decideOne(journeys: CreditJourneys, one: Decided, draft: DraftDecision): Promise<Decided> {
  const { journeyId, customerTraceNumber, attempt, decisionId } = one;
  try {
    const message = { ...draft, customerTraceNumber, attempt, decisionId };
    await journeys.run(journeyId).resolve(message as Omit<ResolveInquiryMessage, 'journeyId'>);
    return { ...one, accepted: true };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ...one, accepted: false, error: { type: error.name, message: error.message } };
  }
}
