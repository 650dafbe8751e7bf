/** One decision for each of many holds: the same for all of a kind, or what the provider has answered about each. */
import { randomUUID } from 'node:crypto';
import { inParallel } from '../../base/in-parallel.ts';
import { decisionProblem } from '../../client/holds/decision-problem.ts';
import type { CreditJourneys, OpenHold } from '../../client.ts';
import { knownDecisionTrust } from '../../config/config.ts';
import type { ResolveInquiryMessage } from '../../messages/resolve-inquiry.ts';
import { ALLOWED_ACTIONS, isFailureType } from '../../model/failure-types.ts';
import type { ProductCode } from '../../model/products.ts';
import { wordProblem } from '../../model/provider-word.ts';
import type { AnyStatus } from '../../words/runs.ts';
import { checkMessage } from '../output/check-message.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, type Output, table, wrap } from '../output/output.ts';
import { createPrompter, type Prompter } from '../output/prompts.ts';
import { type AnsweredInquiry, checkedAnswers, readAnswers } from './answers-file.ts';
import { askForTheRest, consequencesOf } from './ask-decision.ts';
import { type DraftDecision, draftOf, type ResolveOptions, requireFlags } from './decision-flags.ts';
import { holdFilterOf, passes, queryOf } from './holds-query.ts';
import { withJourneys } from './journey-action.ts';
import { isAsking } from './resolve-one.ts';
import { FOLLOWS_WITHIN_MS, whatFollowed } from './what-followed.ts';

// The provider's answers beside the holds that they are about: what is decided, and what is left out and why.

type RunHold = OpenHold & { attempt: number };

/** An answer that decides nothing. */
interface LeftOut {
  customerTraceNumber: string;
  why: string;
}

interface MatchedAnswers {
  planned: { hold: RunHold; draft: DraftDecision }[];
  leftOut: LeftOut[];
}

function matchAnswers(holds: readonly RunHold[], answers: readonly AnsweredInquiry[]): MatchedAnswers {
  const matched: MatchedAnswers = { planned: [], leftOut: [] };
  const byTrace = new Map(holds.map((hold) => [hold.customerTraceNumber, hold]));
  for (const { customerTraceNumber, ...draft } of answers) {
    const hold = byTrace.get(customerTraceNumber);
    const why = hold
      ? decisionProblem(hold, draft)
      : 'no run that was asked for holds it; without a run: resolve --ledger';
    if (hold && why === null) matched.planned.push({ hold, draft });
    else matched.leftOut.push({ customerTraceNumber, why: why ?? '' });
  }
  return matched;
}

/** A decision about one hold. */
type Planned = MatchedAnswers['planned'][number];

/** What is decided about one inquiry, and what came of it. */
interface Decided {
  journeyId: string;
  customerTraceNumber: string;
  productCode: string;
  attempt: number;
  decisionId: string;
  action: string;
  outcome?: string;
  providerSaid?: string;
  accepted?: boolean;
  /** How its run stands a moment later. */
  ledTo?: { state: string; words?: string };
  error?: { type: string; message: string };
}

/** Runs that are watched at a time. */
const AT_ONCE = 8;

/** Returns the exit code. */
export async function resolveAll(options: ResolveOptions): Promise<number> {
  const output = createOutput(options);
  holdFilterOf(options);
  const { failureType } = queryOf({ ...options, ledger: false });
  if (failureType === undefined && options.answers === undefined)
    throw new UsageError('--all needs a --type, or --answers');
  const { decisionId, attempt, reference, applicants, confirmConsumerIds, proof } = options;
  if ([decisionId, attempt, reference, applicants, confirmConsumerIds, proof].some((value) => value !== undefined)) {
    throw new UsageError(
      '--attempt, --decision-id, --reference, --confirm-consumer-ids, --applicants and --proof are of one inquiry, not of --all',
    );
  }
  if (options.answers !== undefined) return resolveAnswered(options.answers, options, output);
  requireNoProofs(process.env, output);
  const asking = isAsking(output);
  if (!asking) requireFlags(options, { attempt: false });
  const draft = await draftOf(options);
  requireSense(draft, failureType as string);
  if (!asking) await checkMessage('decision', sampleOf(draft));
  return withJourneys(options, async (journeys) => {
    const holds = await runHolds(journeys, options, output);
    const products = holds.map(({ productCode }) => productCode);
    requireSense(draft, failureType as string, products);
    return asking
      ? askAll(journeys, holds, draft, options, output)
      : decideWithoutAsking(journeys, planSame(holds, draft), [], options, output);
  });
}

/** What the provider says about each inquiry, in a file. */
async function resolveAnswered(file: string, options: ResolveOptions, output: Output): Promise<number> {
  const answers = await readAnswers(file);
  // Its own number belongs to each.
  const { decisionId: _, ...defaults } = await draftOf(options);
  const asking = isAsking(output) && file !== '-';
  const prompter = asking ? createPrompter() : undefined;
  try {
    if (prompter && answers.some((answer) => !hasMember(answer, 'by'))) {
      defaults.by ??= await prompter.line('Who decides');
    }
    if (prompter && answers.some((answer) => !hasMember(answer, 'reason'))) {
      defaults.reason ??= await prompter.line('Why');
    }
    const checked = await checkedAnswers(answers, defaults);
    return await withJourneys(options, async (journeys) => {
      const { planned, leftOut } = matchAnswers(await runHolds(journeys, options, output), checked);
      if (!prompter) return decideWithoutAsking(journeys, planned, leftOut, options, output);
      prompter.say([...planLines(planned, output), ...leftOutLines(leftOut, output)]);
      if (planned.length === 0) return EXIT.failed;
      return decideOnceConfirmed(journeys, planned, { prompter, question: 'Decide', leftOut }, options, output);
    });
  } finally {
    prompter?.close();
  }
}

function hasMember(answer: unknown, name: string): boolean {
  return typeof answer === 'object' && answer !== null && name in answer;
}

async function runHolds(journeys: CreditJourneys, options: ResolveOptions, output: Output): Promise<RunHold[]> {
  const { holds, unanswered } = await journeys.holds(queryOf({ ...options, ledger: false }));
  if (unanswered.length > 0) output.note(`no worker answered for ${unanswered.length} journeys: they are left out`);
  const filter = holdFilterOf(options);
  return holds.filter((hold): hold is RunHold => hold.attempt !== undefined && passes(hold, filter));
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
  if (action === 'seen') throw new UsageError('--all cannot seen: that is about one inquiry');
  if (action === 'accept' && outcome === 'record') {
    throw new UsageError('--all cannot accept a record: each inquiry has a reference of its own. --answers takes them');
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

/** Each with a decision of its own: none can stand for another. */
function planSame(holds: readonly RunHold[], draft: DraftDecision): Planned[] {
  return holds.map((hold) => ({
    hold,
    draft: { ...draft, attempt: hold.attempt, decisionId: `D-${randomUUID()}` },
  }));
}

async function decideWithoutAsking(
  journeys: CreditJourneys,
  planned: readonly Planned[],
  leftOut: readonly LeftOut[],
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  if (!yes && planned.length > 0) {
    output.answer({ planned: planned.map(decidedOf), ...named(leftOut) }, () => [
      ...planLines(planned, output),
      ...leftOutLines(leftOut, output),
    ]);
    throw new UsageError(`nothing was decided: --yes decides about these ${planned.length}`);
  }
  return decideEach(journeys, planned, leftOut, output);
}

async function askAll(
  journeys: CreditJourneys,
  holds: readonly RunHold[],
  draft: DraftDecision,
  options: ResolveOptions,
  output: Output,
): Promise<number> {
  const [first] = holds;
  const prompter = createPrompter();
  try {
    if (!first) {
      prompter.say(['nothing of this kind is on hold']);
      return EXIT.done;
    }
    prompter.say(listLines(holds, output));
    const decision = await askForTheRest(first, { ...draft, attempt: 1 }, prompter, { ofMany: true });
    requireSense(
      decision,
      first.reason,
      holds.map(({ productCode }) => productCode),
    );
    await checkMessage('decision', sampleOf(decision));
    prompter.say(consequenceLines(first, decision, output));
    const asked = { prompter, question: `Decide ${decision.action}`, leftOut: [] };
    return await decideOnceConfirmed(journeys, planSame(holds, decision), asked, options, output);
  } finally {
    prompter.close();
  }
}

async function decideOnceConfirmed(
  journeys: CreditJourneys,
  planned: readonly Planned[],
  { prompter, question, leftOut }: { prompter: Prompter; question: string; leftOut: readonly LeftOut[] },
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  if (!yes && !(await prompter.confirm(`${question} about these ${planned.length}?`))) {
    output.note('nothing was decided');
    return EXIT.needsPerson;
  }
  return decideEach(journeys, planned, leftOut, output);
}

function decidedOf({ hold, draft }: Planned): Decided {
  const { journeyId, customerTraceNumber, productCode, attempt } = hold;
  const { decisionId, action = 'abandon', outcome, providerSaid } = draft;
  return {
    ...{ journeyId, customerTraceNumber, productCode, attempt, decisionId, action },
    ...(outcome === undefined ? {} : { outcome }),
    ...(providerSaid === undefined ? {} : { providerSaid }),
  };
}

function named(leftOut: readonly LeftOut[]): { leftOut?: readonly LeftOut[] } {
  return leftOut.length > 0 ? { leftOut } : {};
}

function listLines(holds: readonly OpenHold[], { width }: Output): string[] {
  const rows = holds.map(({ productCode, attempt, customerTraceNumber, journeyId }) => [
    productCode,
    String(attempt),
    customerTraceNumber,
    journeyId,
  ]);
  return table([['PRODUCT', 'ATTEMPT', 'TRACE NUMBER', 'JOURNEY'], ...rows], width);
}

/** The decisions, and for one of each kind what it leads to: the others differ in their numbers alone. */
function planLines(planned: readonly Planned[], output: Output): string[] {
  const rows = planned.map(({ hold, draft }) => [
    [draft.action, draft.outcome].filter((word) => word !== undefined).join(' '),
    draft.providerSaid ?? '',
    hold.productCode,
    String(hold.attempt),
    hold.customerTraceNumber,
    hold.journeyId,
  ]);
  const kindOf = ({ hold, draft }: Planned) => [hold.reason, draft.action, draft.outcome].join();
  const examples = [...Map.groupBy(planned, kindOf).values()].flatMap(([first]) => (first ? [first] : []));
  return [
    ...(planned.length === 0 ? ['nothing is to be decided'] : []),
    ...table([['DECISION', 'PROVIDER', 'PRODUCT', 'ATTEMPT', 'TRACE NUMBER', 'JOURNEY'], ...rows], output.width),
    ...examples.flatMap(({ hold, draft }) => consequenceLines(hold, draft, output)),
  ];
}

function leftOutLines(leftOut: readonly LeftOut[], { colors, width }: Output): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.flatMap(({ customerTraceNumber, why }) => wrap(`${customerTraceNumber}: ${why}`, width, '  '));
  return [colors.yellow(`${leftOut.length} of the answers are left out:`), ...lines];
}

function consequenceLines(example: OpenHold, decision: DraftDecision, { width }: Output): string[] {
  return ['', ...wrap(`${example.journeyId}: ${consequencesOf(example, decision).join(' ')}`, width)];
}

async function decideEach(
  journeys: CreditJourneys,
  planned: readonly Planned[],
  leftOut: readonly LeftOut[],
  output: Output,
): Promise<number> {
  const answers: { decided: Decided; status?: AnyStatus }[] = [];
  // One after the other: where something is wrong with them all, it shows in the first.
  for (const one of planned) answers.push(await decideOne(journeys, one));
  const signal = AbortSignal.timeout(FOLLOWS_WITHIN_MS);
  const decisions = await inParallel(answers, AT_ONCE, async ({ decided, status }): Promise<Decided> => {
    if (!status) return decided;
    const run = journeys.run(decided.journeyId);
    const followed = await whatFollowed(run, status, decided.customerTraceNumber, signal);
    const { words } = followed;
    return { ...decided, ledTo: { state: followed.status.state, ...(words === undefined ? {} : { words }) } };
  });
  const failed = decisions.filter(({ accepted }) => !accepted);
  output.answer({ decisions, ...named(leftOut) }, () => [
    ...table(
      decisions.map(({ journeyId, customerTraceNumber, accepted, error, ledTo }) => [
        accepted ? 'decided' : 'FAILED',
        customerTraceNumber,
        `${journeyId}: ${error?.message ?? ledTo?.words ?? ledTo?.state ?? ''}`,
      ]),
      output.width,
    ),
    ...leftOutLines(leftOut, output),
    `${decisions.length - failed.length} decided, ${failed.length} failed`,
  ]);
  return failed.length + leftOut.length > 0 ? EXIT.failed : EXIT.done;
}

async function decideOne(journeys: CreditJourneys, one: Planned): Promise<{ decided: Decided; status?: AnyStatus }> {
  const decided = decidedOf(one);
  const { journeyId, customerTraceNumber } = decided;
  try {
    const message = { ...one.draft, customerTraceNumber };
    const { status } = await journeys.run(journeyId).resolve(message as Omit<ResolveInquiryMessage, 'journeyId'>);
    return { decided: { ...decided, accepted: true }, status };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { decided: { ...decided, accepted: false, error: { type: error.name, message: error.message } } };
  }
}
