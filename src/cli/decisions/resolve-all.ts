/** One decision for each of many holds: the same for all of a kind, or what the provider has answered about each. */
import { randomUUID } from 'node:crypto';
import { describeDecided } from '../../api/routes/decisions.ts';
import { omitUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/is-record.ts';
import { knownDecisionTrust } from '../../config/config.ts';
import { FAILURES, type FailureType } from '../../model/failure-types.ts';
import { wordProblem } from '../../model/provider-word.ts';
import { type Decision, decideMany, previewMany } from '../../operator/decide.ts';
import type { DecidableHold, JudgedDecision } from '../../operator/judge-decision.ts';
import type { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import type { OpenHold } from '../../operator/open-work.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { optionKey } from '../output/option-names.ts';
import { createOutput, type Output, rowTable, table, wrap } from '../output/output.ts';
import { createPrompter, type Prompter } from '../output/prompts.ts';
import { checkedAnswers, readAnswers } from './answers-file.ts';
import { askForTheRest, describeConsequences } from './ask-decision.ts';
import { checkDecision, type DraftDecision, type ResolveOptions, readDraft } from './decision-flags.ts';
import { withJourneys } from './journey-action.ts';
import { isAsking } from './resolve-one.ts';
import { readHolds, readQuery } from './work-query.ts';

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

const OF_ONE = [
  ...['--decision-id', '--attempt', '--report-reference-number', '--requested-at', '--confirm-consumer-ids'],
  ...['--file', '--proof'],
];

export async function resolveAll(options: ResolveOptions): Promise<number> {
  const output = createOutput(options);
  const { filters } = readQuery(options);
  if (filters.reason === undefined && options.answers === undefined) {
    throw new UsageError('--all needs a --type, or --answers');
  }
  const foreign = OF_ONE.filter((flag) => options[optionKey(flag)] !== undefined);
  if (foreign.length > 0) throw new UsageError(`${foreign.join(', ')} belongs to one inquiry, not to --all`);
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
  const { draft } = await readDraft(options);
  requireSense(draft, failureType);
  if (!prompter) checkDecision(buildSample(draft), options);
  return withLedger(options, async (journeys) => {
    const holds = await readHeld(journeys, options);
    const decision = prompter ? await askOnce(holds, draft, prompter, output) : draft;
    if (!decision) return EXIT.done;
    requireSense(decision, failureType);
    checkDecision(buildSample(decision), options);
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
  const {
    draft: { decisionId: _, ...defaults },
  } = await readDraft(options);
  const isLacking = (name: string) => answers.some((answer) => !isRecord(answer) || !(name in answer));
  if (prompter && isLacking('by')) defaults.by ??= await prompter.line('Who decides');
  if (prompter && isLacking('reason')) defaults.reason ??= await prompter.line('Why');
  const checked = checkedAnswers(answers, defaults);
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
  return readHolds(await journeys.openedLedger(), readQuery(options), { kind: 'held' });
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
function buildSample(draft: DraftDecision): unknown {
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
  const describePlan = () => [...planLines(planned, output), ...leftOutLines(leftOut, output)];
  if (prompter) {
    prompter.say(describePlan());
    if (planned.length === 0) return EXIT.failed;
    if (!yes && !(await prompter.confirm(`${question} about these ${planned.length}?`))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
  } else if (!yes && planned.length > 0) {
    output.answer({ planned: planned.map(nameDecision), ...nameLeftOut(leftOut) }, describePlan);
    throw new UsageError(`nothing was decided: --yes decides about these ${planned.length}`);
  }
  return decideEach(journeys, plan, output);
}

function nameDecision({ runKey, hold, draft }: Planned) {
  const { customerTraceNumber, productCode, attempt } = hold;
  const { decisionId, action, outcome, providerSaid } = draft;
  return {
    ...{ runKey, customerTraceNumber, productCode, attempt, decisionId, action },
    ...omitUndefined({ outcome, providerSaid }),
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
  const toKind = ({ hold, draft }: Planned) => [hold.reason, hold.heldBy, draft.action, draft.outcome].join();
  const examples = [...Map.groupBy(planned, toKind).values()].flatMap(([first]) => (first ? [first] : []));
  return [
    ...(planned.length === 0 ? ['nothing is to be decided'] : []),
    ...table([['DECISION', 'PROVIDER', 'PRODUCT', 'ATTEMPT', 'TRACE NUMBER', 'JOURNEY'], ...rows], width),
    ...examples.flatMap(({ runKey, hold, draft }) => [
      '',
      ...wrap(`${runKey}: ${describeConsequences(hold, draft).join(' ')}`, width),
    ]),
  ];
}

function leftOutLines(leftOut: readonly LeftOut[], { colors, width }: Output): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.flatMap(({ customerTraceNumber, why }) => wrap(`${customerTraceNumber}: ${why}`, width, '  '));
  return [colors.yellow(`${leftOut.length} are left out:`), ...lines];
}

async function decideEach(journeys: LedgerJourneys, { planned, leftOut }: Plan, output: Output): Promise<number> {
  const named = planned.map(({ runKey, hold, draft }) => {
    const { customerTraceNumber, attempt = 0 } = hold;
    return { runKey, customerTraceNumber, attempt, draft };
  });
  const decided = await decideMany(journeys, named, async ({ draft, customerTraceNumber }) => ({
    decision: { ...draft, customerTraceNumber } as Decision,
  }));
  const inquiries = decided.map(describeDecided);
  const failed = inquiries.filter(({ result }) => result === 'refused' || result === 'failed');
  output.answer({ inquiries, ...nameLeftOut(leftOut) }, () => [
    ...rowTable(inquiries, output.width),
    ...leftOutLines(leftOut, output),
    `${inquiries.length - failed.length} decided, ${failed.length} failed`,
  ]);
  return failed.length + leftOut.length > 0 ? EXIT.failed : EXIT.done;
}
