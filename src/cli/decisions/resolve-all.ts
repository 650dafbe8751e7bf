/** One decision for each of many holds: the same for all of a kind, or what the provider has answered about each. */
import { randomUUID } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { inParallel } from '../../base/in-parallel.ts';
import { isRecord } from '../../base/is-record.ts';
import { knownDecisionTrust } from '../../config/config.ts';
import { FAILURES, type FailureType } from '../../model/failure-types.ts';
import { wordProblem } from '../../model/provider-word.ts';
import { type Decided, type Decision, decideMany, previewMany } from '../../operator/decide.ts';
import type { DecidableHold, JudgedDecision } from '../../operator/judge-decision.ts';
import type { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import type { OpenHold } from '../../operator/open-work.ts';
import { checkDecision } from '../output/check-message.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, type Output, table, wrap } from '../output/output.ts';
import { createPrompter, type Prompter } from '../output/prompts.ts';
import { checkedAnswers, readAnswers } from './answers-file.ts';
import { askForTheRest, consequencesOf } from './ask-decision.ts';
import { type DraftDecision, draftOf, type ResolveOptions, requireFlags } from './decision-flags.ts';
import { withJourneys } from './journey-action.ts';
import { isAsking } from './resolve-one.ts';
import { FOLLOWS_WITHIN_MS, whatFollowed } from './what-followed.ts';
import { queryOf, readHolds } from './work-query.ts';

interface Planned {
  runKey: string;
  hold: DecidableHold;
  draft: DraftDecision;
}

interface LeftOut {
  customerTraceNumber: string;
  why: string;
}

interface Plan {
  planned: Planned[];
  leftOut: LeftOut[];
}

export async function resolveAll(options: ResolveOptions): Promise<number> {
  const output = createOutput(options);
  const { filters } = queryOf(options);
  if (filters.reason === undefined && options.answers === undefined) {
    throw new UsageError('--all needs a --type, or --answers');
  }
  const { decisionId, attempt, reference, applicants, confirmConsumerIds, proof } = options;
  if ([decisionId, attempt, reference, applicants, confirmConsumerIds, proof].some((value) => value !== undefined)) {
    throw new UsageError(
      '--attempt, --decision-id, --reference, --confirm-consumer-ids, --applicants and --proof belong to one inquiry, not to --all',
    );
  }
  const asking = isAsking(output) && options.answers !== '-';
  const prompter = asking ? createPrompter() : undefined;
  try {
    return await (options.answers === undefined
      ? resolveSame(filters.reason as FailureType, options, output, prompter)
      : resolveAnswered(options.answers, options, output, prompter));
  } finally {
    prompter?.close();
  }
}

/** Makes the same decision about each hold of one kind. */
async function resolveSame(
  failureType: FailureType,
  options: ResolveOptions,
  output: Output,
  prompter: Prompter | undefined,
): Promise<number> {
  requireNoProofs(process.env, output);
  if (!prompter) requireFlags(options, { attempt: false });
  const draft = await draftOf(options);
  requireSense(draft, failureType);
  if (!prompter) await checkDecision(sampleOf(draft));
  return withLedger(options, async (journeys) => {
    const holds = await readHeld(journeys, options);
    const decision = prompter ? await askOnce(holds, draft, prompter, output) : draft;
    if (!decision) return EXIT.done;
    requireSense(decision, failureType);
    await checkDecision(sampleOf(decision));
    // Each hold gets a decision id of its own, so that no decision can pass for another.
    const drafts = holds.map((hold) => ({
      hold,
      draft: { ...decision, attempt: hold.attempt, decisionId: `D-${randomUUID()}` } as DraftDecision,
    }));
    const plan = await judge(journeys, drafts);
    return carryOut(journeys, plan, { prompter, question: `Decide ${decision.action}` }, options, output);
  });
}

/** Asks for a decision about all holds. Returns `undefined` if there is nothing to decide. */
async function askOnce(
  holds: readonly OpenHold[],
  draft: DraftDecision,
  prompter: Prompter,
  output: Output,
): Promise<DraftDecision | undefined> {
  const [first] = holds;
  if (!first) {
    prompter.say(['nothing of this kind is on hold']);
    return undefined;
  }
  prompter.say(listLines(holds, output));
  const example = { ...first, heldBy: 'run' } as DecidableHold;
  return askForTheRest(example, { ...draft, attempt: 1 }, prompter, { ofMany: true });
}

/** Makes the decisions that a file gives: the provider's answer about each inquiry. */
async function resolveAnswered(
  file: string,
  options: ResolveOptions,
  output: Output,
  prompter: Prompter | undefined,
): Promise<number> {
  const answers = await readAnswers(file);
  // Its own number belongs to each.
  const { decisionId: _, ...defaults } = await draftOf(options);
  const isLacking = (name: string) => answers.some((answer) => !isRecord(answer) || !(name in answer));
  if (prompter && isLacking('by')) defaults.by ??= await prompter.line('Who decides');
  if (prompter && isLacking('reason')) defaults.reason ??= await prompter.line('Why');
  const checked = await checkedAnswers(answers, defaults);
  return withLedger(options, async (journeys) => {
    const holds = await readHeld(journeys, options);
    const byTrace = new Map(holds.map((hold) => [hold.customerTraceNumber, hold]));
    const drafts: { hold: OpenHold; draft: DraftDecision }[] = [];
    const unknown: LeftOut[] = [];
    for (const { customerTraceNumber, ...draft } of checked) {
      const hold = byTrace.get(customerTraceNumber);
      if (hold) drafts.push({ hold, draft });
      else unknown.push({ customerTraceNumber, why: 'no hold in the selection is about this inquiry' });
    }
    const { planned, leftOut } = await judge(journeys, drafts);
    const plan = { planned, leftOut: [...leftOut, ...unknown] };
    return carryOut(journeys, plan, { prompter, question: 'Decide' }, options, output);
  });
}

function withLedger(options: ResolveOptions, act: (journeys: LedgerJourneys) => Promise<number>): Promise<number> {
  return withJourneys(options, act, { besideLedger: true });
}

async function readHeld(journeys: LedgerJourneys, options: ResolveOptions): Promise<OpenHold[]> {
  return readHolds(await journeys.openedLedger(), queryOf(options), { kind: 'held' });
}

/** Leaves out decisions that a run, or the ledger, would refuse. */
async function judge(
  journeys: LedgerJourneys,
  drafts: readonly { hold: OpenHold; draft: DraftDecision }[],
): Promise<Plan> {
  const named = drafts.map(({ hold, draft }) => ({
    ...{ runKey: hold.runKey, customerTraceNumber: hold.customerTraceNumber ?? '', draft },
  }));
  const judged = await previewMany(
    journeys,
    named,
    async ({ customerTraceNumber, draft }) =>
      ({ ...draft, customerTraceNumber }) as JudgedDecision & { customerTraceNumber: string },
  );
  const plan: Plan = { planned: [], leftOut: [] };
  for (const { runKey, customerTraceNumber, draft, hold, problem } of judged) {
    if (problem === null) plan.planned.push({ runKey, hold, draft });
    else plan.leftOut.push({ customerTraceNumber, why: problem instanceof Error ? problem.message : problem });
  }
  return plan;
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

/** Refuses early a decision that no hold of this kind takes. @throws UsageError */
function requireSense({ action, outcome, providerSaid }: DraftDecision, failureType: FailureType): void {
  if (action === 'seen') throw new UsageError('--all cannot take seen: that is about one inquiry');
  if (action === 'accept' && outcome === 'record') {
    throw new UsageError('--all cannot accept a record: each inquiry has a reference of its own. --answers takes them');
  }
  if (action === undefined) return;
  if (!FAILURES[failureType].actions.includes(action)) {
    throw new UsageError(`${failureType} allows ${FAILURES[failureType].actions.join(', ')}`);
  }
  if (providerSaid === undefined) return;
  const problem = wordProblem({ failureType, productCode: 'CR' }, { action, outcome, providerSaid });
  if (problem) throw new UsageError(problem.replace('/providerSaid', '--provider-said'));
}

/** Builds a message as any of the inquiries would get it, to check it before a server is needed. */
function sampleOf(draft: DraftDecision): unknown {
  return { ...draft, customerTraceNumber: 'T', attempt: 1 };
}

/** Shows the planned decisions, and makes them once the operator has agreed. */
async function carryOut(
  journeys: LedgerJourneys,
  plan: Plan,
  { prompter, question }: { prompter: Prompter | undefined; question: string },
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  const { planned, leftOut } = plan;
  const shown = () => [...planLines(planned, output), ...leftOutLines(leftOut, output)];
  if (prompter) {
    prompter.say(shown());
    if (planned.length === 0) return EXIT.failed;
    if (!yes && !(await prompter.confirm(`${question} about these ${planned.length}?`))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
  } else if (!yes && planned.length > 0) {
    output.answer({ planned: planned.map(nameDecision), ...nameLeftOut(leftOut) }, shown);
    throw new UsageError(`nothing was decided: --yes decides about these ${planned.length}`);
  }
  return decideEach(journeys, plan, output);
}

function nameDecision({ runKey, hold, draft }: Planned) {
  const { customerTraceNumber, productCode, attempt } = hold;
  const { decisionId, action, outcome, providerSaid } = draft;
  return {
    ...{ runKey, customerTraceNumber, productCode, attempt, decisionId, action },
    ...defined({ outcome, providerSaid }),
  };
}

function nameLeftOut(leftOut: readonly LeftOut[]): { leftOut?: readonly LeftOut[] } {
  return leftOut.length > 0 ? { leftOut } : {};
}

function listLines(holds: readonly OpenHold[], { width }: Output): string[] {
  const rows = holds.map(({ productCode = '', attempt, customerTraceNumber = '', runKey }) => [
    productCode,
    String(attempt),
    customerTraceNumber,
    runKey,
  ]);
  return table([['PRODUCT', 'ATTEMPT', 'TRACE NUMBER', 'JOURNEY'], ...rows], width);
}

/** Lists the decisions, and the consequences of one of each kind: the others differ only in their numbers. */
function planLines(planned: readonly Planned[], { width }: Output): string[] {
  const rows = planned.map(({ runKey, hold, draft }) => [
    [draft.action, draft.outcome].filter((word) => word !== undefined).join(' '),
    draft.providerSaid ?? '',
    hold.productCode,
    String(hold.attempt),
    hold.customerTraceNumber,
    runKey,
  ]);
  const kindOf = ({ hold, draft }: Planned) => [hold.reason, hold.heldBy, draft.action, draft.outcome].join();
  const examples = [...Map.groupBy(planned, kindOf).values()].flatMap(([first]) => (first ? [first] : []));
  return [
    ...(planned.length === 0 ? ['nothing is to be decided'] : []),
    ...table([['DECISION', 'PROVIDER', 'PRODUCT', 'ATTEMPT', 'TRACE NUMBER', 'JOURNEY'], ...rows], width),
    ...examples.flatMap(({ runKey, hold, draft }) => [
      '',
      ...wrap(`${runKey}: ${consequencesOf(hold, draft).join(' ')}`, width),
    ]),
  ];
}

function leftOutLines(leftOut: readonly LeftOut[], { colors, width }: Output): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.flatMap(({ customerTraceNumber, why }) => wrap(`${customerTraceNumber}: ${why}`, width, '  '));
  return [colors.yellow(`${leftOut.length} are left out:`), ...lines];
}

/** Runs that are watched at a time. */
const AT_ONCE = 8;

async function decideEach(journeys: LedgerJourneys, { planned, leftOut }: Plan, output: Output): Promise<number> {
  const decided = await decideMany(journeys, planned, async ({ hold, draft }) => ({
    decision: { ...draft, customerTraceNumber: hold.customerTraceNumber } as Decision,
  }));
  const signal = AbortSignal.timeout(FOLLOWS_WITHIN_MS);
  const decisions = await inParallel(decided, AT_ONCE, (one) => describeDecided(journeys, one, signal));
  const failed = decisions.filter(({ accepted }) => !accepted);
  output.answer({ decisions, ...nameLeftOut(leftOut) }, () => [
    ...table(
      decisions.map(({ runKey, customerTraceNumber, accepted, error, ledTo }) => [
        accepted ? 'decided' : 'FAILED',
        customerTraceNumber,
        `${runKey}: ${error?.message ?? ledTo?.words ?? ledTo?.state ?? ''}`,
      ]),
      output.width,
    ),
    ...leftOutLines(leftOut, output),
    `${decisions.length - failed.length} decided, ${failed.length} failed`,
  ]);
  return failed.length + leftOut.length > 0 ? EXIT.failed : EXIT.done;
}

/** Describes the outcome of a decision, and the state of its run a moment later. */
async function describeDecided(journeys: LedgerJourneys, one: Decided<Planned>, signal: AbortSignal) {
  const named = nameDecision(one);
  if ('error' in one) {
    const { error, earlier } = one;
    const decidedBefore = earlier ? `; ${earlier.by} decided ${earlier.action}` : '';
    const message = `${error.message}${decidedBefore}`;
    return { ...named, accepted: false, error: { type: error.name, message }, ledTo: undefined };
  }
  const { status } = one.made;
  if (!status) return { ...named, accepted: true, error: undefined, ledTo: { state: 'noRun', words: NO_RUN } };
  const run = journeys.run(one.runKey);
  const { words, status: latest } = await whatFollowed(run, status, named.customerTraceNumber, signal);
  return { ...named, accepted: true, error: undefined, ledTo: { state: latest.state, ...defined({ words }) } };
}

const NO_RUN = 'it has no run: the ledger has the decision';
