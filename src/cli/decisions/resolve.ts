/**
 * `resolve` makes a list of decisions, shows it, and sends it once the operator has agreed. Options and questions make the
 * list: about one hold, or the same about all of a kind. A file of the provider's answers makes it, too.
 */
import { randomUUID } from 'node:crypto';
import { describeDecided } from '../../api/routes/decisions.ts';
import { omitUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/is-record.ts';
import { knownDecisionTrust } from '../../config/config.ts';
import { FAILURES, type FailureType } from '../../model/failure-types.ts';
import type { MessageRefusal } from '../../model/refusals.ts';
import { runName } from '../../model/run-key.ts';
import { type Decision, decide, decideMany, previewMany, readDecidable, type SaidHold } from '../../operator/decide.ts';
import { type DecidableHold, decisionProblem, type JudgedDecision } from '../../operator/judge-decision.ts';
import type { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import type { OpenHold } from '../../operator/open-work.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { toListed } from '../output/hold-lines.ts';
import { optionKey } from '../output/option-names.ts';
import { createOutput, documentLines, type Output, rowTable, wrap } from '../output/output.ts';
import { createPrompter, isAsking, type Prompter } from '../output/prompts.ts';
import { checkedAnswers, readAnswers } from './answers-file.ts';
import { askForTheRest, describeConsequences, showHold } from './ask-decision.ts';
import {
  checkDecision,
  type DraftDecision,
  proven,
  type ResolveOptions,
  readDraft,
  tracedBy,
} from './decision-flags.ts';
import { requireRunKey, withJourneys } from './journey-action.ts';
import { readHolds, readQuery } from './work-query.ts';

interface Planned {
  runKey: string;
  customerTraceNumber: string;
  /** Absent where the run or the ledger alone judges the decision. */
  hold?: DecidableHold;
  draft: DraftDecision;
}

interface Plan {
  planned: Planned[];
  leftOut: { customerTraceNumber: string; why: string }[];
}

interface Asked {
  options: ResolveOptions;
  output: Output;
  /** Present on a terminal. */
  prompter: Prompter | undefined;
}

/** Makes the list of decisions. Everything that needs no server has been checked before it is called. */
type Planner = (journeys: LedgerJourneys) => Promise<Plan>;

/** @param named the inquiry, where the decision is about one. */
export async function resolve(
  named: { runKey: string; trace: string | undefined } | undefined,
  options: ResolveOptions,
): Promise<number> {
  const output = createOutput(options);
  if (!named) requireSelection(options);
  const prompter = isAsking(output) && options.answers !== '-' ? createPrompter() : undefined;
  const asked: Asked = { options, output, prompter };
  try {
    const plan = named ? await planOne(named, asked) : await (options.answers ? planAnswered : planSame)(asked);
    const act = async (journeys: LedgerJourneys) => {
      const made = await plan(journeys);
      if (!(await isAgreed(made, asked, named !== undefined))) return EXIT.needsPerson;
      return named ? sendOne(journeys, made, output) : sendMany(journeys, made, output);
    };
    return await withJourneys(options, act, { besideLedger: true });
  } finally {
    prompter?.close();
  }
}

/** Options that belong to one inquiry alone. */
const ONE_INQUIRY = [
  ...['--decision-id', '--attempt', '--report-reference-number', '--requested-at', '--confirm-consumer-ids'],
  ...['--file', '--proof'],
];

/** @throws UsageError */
function requireSelection(options: ResolveOptions): void {
  if (readQuery(options).filters.reason === undefined && options.answers === undefined) {
    throw new UsageError('--all needs a --type, or --answers');
  }
  const foreign = ONE_INQUIRY.filter((flag) => options[optionKey(flag)] !== undefined);
  if (foreign.length > 0) throw new UsageError(`${foreign.join(', ')} belongs to one inquiry, not to --all`);
}

async function planOne(
  { runKey, trace: named }: { runKey: string; trace: string | undefined },
  { options, output, prompter }: Asked,
): Promise<Planner> {
  requireRunKey(runKey);
  const { draft, proof } = await readDraft(options);
  const trace = named ?? tracedBy(proof);
  const complete = (decision: DraftDecision, customerTraceNumber: string) => {
    const proved = proven(decision, customerTraceNumber, proof);
    checkDecision({ ...proved, customerTraceNumber }, options, runKey);
    return proved;
  };
  // Without a trace number every other member can be checked.
  if (!prompter && trace === undefined) checkDecision({ ...draft, customerTraceNumber: 'T' }, options, runKey);
  if (!prompter && trace !== undefined) complete(draft, trace);
  return async (journeys) => {
    if (!prompter) {
      const customerTraceNumber = trace ?? (await chooseHold(journeys, runKey, trace)).customerTraceNumber;
      return { planned: [{ runKey, customerTraceNumber, draft: complete(draft, customerTraceNumber) }], leftOut: [] };
    }
    const hold = await readDecidable(journeys, await chooseHold(journeys, runKey, trace, prompter));
    const { customerTraceNumber, attempt = 0, allowedActions } = hold;
    const { attempt: judged = attempt, action = allowedActions[0] } = draft;
    if (action === undefined || allowedActions.includes('seen')) {
      const seen = `credit-journey seen inquiry ${customerTraceNumber}`;
      throw new Error(`nothing is left to decide about it: \`${seen}\` takes it off the list`);
    }
    requireSense(decisionProblem(hold, { attempt: judged, action }));
    showHold(hold, prompter, output);
    const decision = complete(await askForTheRest(hold, draft, prompter), customerTraceNumber);
    return { planned: [{ runKey, customerTraceNumber, hold, draft: decision }], leftOut: [] };
  };
}

/** @throws UsageError where it is not clear which hold is meant */
async function chooseHold(
  journeys: LedgerJourneys,
  runKey: string,
  trace: string | undefined,
  prompter?: Prompter,
): Promise<SaidHold> {
  const rows = await readHolds(await journeys.openedLedger(), { filters: { runKey } }, { kind: 'held' });
  const all = rows.length > 0 ? (rows as unknown as SaidHold[]) : await askRun(journeys, runKey);
  const holds = all.filter(({ customerTraceNumber }) => trace === undefined || customerTraceNumber === trace);
  const [first, ...others] = holds;
  if (!first) {
    throw trace === undefined
      ? new Error(`nothing of ${runName(runKey)} is on hold`)
      : new UsageError('no inquiry with this trace number is on hold there');
  }
  if (others.length === 0) return first;
  if (!prompter) {
    const known = holds.map(({ customerTraceNumber }) => customerTraceNumber).join(', ');
    throw new UsageError(`several inquiries are on hold: name one of ${known}`);
  }
  const chosen = await prompter.choice(
    'Several inquiries are on hold',
    holds.map(({ customerTraceNumber, productCode, reason }) => ({
      value: customerTraceNumber,
      what: `${productCode}, ${reason}`,
    })),
  );
  return holds.find(({ customerTraceNumber }) => customerTraceNumber === chosen) as SaidHold;
}

/** A run whose ledger is another one has no row in this ledger. */
async function askRun(journeys: LedgerJourneys, runKey: string): Promise<SaidHold[]> {
  const { holds } = await journeys.run(runKey).status();
  return holds.map((hold) => ({ ...toListed(runKey, hold), kind: 'held' }));
}

/** Plans the same decision about each hold of one kind. */
async function planSame({ options, output, prompter }: Asked): Promise<Planner> {
  const failureType = readQuery(options).filters.reason as FailureType;
  requireNoProofs(process.env, output);
  const { draft } = await readDraft(options);
  const check = (decision: DraftDecision) => {
    requireSenseForAll(decision, failureType);
    checkDecision({ ...decision, customerTraceNumber: 'T', attempt: 1 }, options);
  };
  requireSenseForAll(draft, failureType);
  if (!prompter) check(draft);
  return async (journeys) => {
    const holds = await readHeld(journeys, options);
    const [first] = holds;
    if (!first) return { planned: [], leftOut: [] };
    let decision = draft;
    if (prompter) {
      const shown = holds.map(({ productCode, attempt, customerTraceNumber, runKey }) => ({
        ...{ productCode, attempt, customerTraceNumber, runKey },
      }));
      prompter.say(rowTable(shown, output.width));
      const example = { ...first, heldBy: 'run' } as DecidableHold;
      decision = await askForTheRest(example, { ...draft, attempt: 1 }, prompter, { ofMany: true });
    }
    check(decision);
    // Each hold gets a decision id of its own, so that no decision can pass for another.
    const drafts = holds.map((hold) => ({
      hold,
      draft: { ...decision, attempt: hold.attempt, decisionId: `D-${randomUUID()}` } as DraftDecision,
    }));
    return judge(journeys, drafts);
  };
}

/** Plans the decisions that a file gives: the provider's answer about each inquiry. */
async function planAnswered({ options, prompter }: Asked): Promise<Planner> {
  const answers = await readAnswers(options.answers as string);
  // Each answer has an id of its own.
  const {
    draft: { decisionId: _, ...defaults },
  } = await readDraft(options);
  const isLacking = (name: string) => answers.some((answer) => !isRecord(answer) || !(name in answer));
  if (prompter && isLacking('by')) defaults.by ??= await prompter.line('Who decides');
  if (prompter && isLacking('reason')) defaults.reason ??= await prompter.line('Why');
  const checked = checkedAnswers(answers, defaults);
  return async (journeys) => {
    const byTrace = new Map((await readHeld(journeys, options)).map((hold) => [hold.customerTraceNumber, hold]));
    const found = checked.map(({ customerTraceNumber, ...draft }) => ({
      ...{ customerTraceNumber, draft, hold: byTrace.get(customerTraceNumber) },
    }));
    const { planned, leftOut } = await judge(
      journeys,
      found.flatMap(({ hold, draft }) => (hold ? [{ hold, draft }] : [])),
    );
    const unknown = found.filter(({ hold }) => !hold);
    const why = 'no hold in the selection is about this inquiry';
    return {
      planned,
      leftOut: [...leftOut, ...unknown.map(({ customerTraceNumber }) => ({ customerTraceNumber, why }))],
    };
  };
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
    if (problem === null) plan.planned.push({ runKey, customerTraceNumber, hold, draft });
    else plan.leftOut.push({ customerTraceNumber, why: problem instanceof Error ? problem.message : problem.reason });
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

/** @throws UsageError */
function requireSense(problem: MessageRefusal | null): void {
  if (problem !== null) throw new UsageError(problem.reason.replace('/providerSaid', '--provider-said'));
}

/** Refuses early a decision that no hold of this kind takes. @throws UsageError */
function requireSenseForAll({ action, outcome, providerSaid }: DraftDecision, failureType: FailureType): void {
  if (action === 'accept' && outcome === 'record') {
    throw new UsageError('--all cannot accept a record: each inquiry has a reference of its own. --answers takes them');
  }
  if (action === undefined) return;
  const hold: DecidableHold = {
    ...{ runKey: '', customerTraceNumber: '', productCode: 'CR', attempt: 1, reason: failureType, heldBy: 'run' },
    allowedActions: FAILURES[failureType].actions,
  };
  requireSense(decisionProblem(hold, { attempt: 1, action, outcome, providerSaid }));
}

/** Shows the plan. Asks on a terminal; elsewhere many decisions need `--yes`. */
async function isAgreed(
  { planned, leftOut }: Plan,
  { options: { yes }, output, prompter }: Asked,
  isOne: boolean,
): Promise<boolean> {
  const rows = planned.map(describePlanned);
  const document = { planned: rows, ...(leftOut.length > 0 ? { leftOut } : {}) };
  const lines = () => [
    ...(isOne ? [] : documentLines({ ...document, planned: rows.map(withoutId) }, output.width)),
    ...consequenceLines(planned, output, isOne),
  ];
  prompter?.say(lines());
  if (planned.length === 0 || yes || (isOne && !prompter)) return true;
  if (!prompter) {
    output.answer(document, lines);
    throw new UsageError(`nothing was decided: --yes decides about these ${planned.length}`);
  }
  const actions = new Set(planned.map(({ draft }) => draft.action));
  const what = actions.size === 1 ? ` ${[...actions].join()}` : '';
  if (await prompter.confirm(`Decide${what}${isOne ? '' : ` about these ${planned.length}`}?`)) return true;
  output.note('nothing was decided');
  return false;
}

function describePlanned({ runKey, customerTraceNumber, hold, draft }: Planned) {
  const { decisionId, action, outcome, providerSaid, attempt } = draft;
  return {
    ...{ runKey, customerTraceNumber, decisionId, attempt, action },
    ...omitUndefined({ productCode: hold?.productCode, outcome, providerSaid }),
  };
}

function withoutId({ decisionId: _, ...row }: ReturnType<typeof describePlanned>): object {
  return row;
}

/** Describes one decision of each kind: the others differ only in their numbers. */
function consequenceLines(planned: readonly Planned[], { width }: Output, isOne: boolean): string[] {
  const toKind = ({ hold, draft }: Planned) => [hold?.reason, hold?.heldBy, draft.action, draft.outcome].join();
  const examples = [...Map.groupBy(planned, toKind).values()].flatMap(([first]) => (first ? [first] : []));
  return examples.flatMap(({ runKey, hold, draft }) =>
    hold ? ['', ...wrap(`${isOne ? '' : `${runKey}: `}${describeConsequences(hold, draft).join(' ')}`, width)] : [],
  );
}

async function sendOne(journeys: LedgerJourneys, { planned }: Plan, output: Output): Promise<number> {
  const [{ runKey, customerTraceNumber, draft }] = planned as [Planned];
  const { decisionId } = draft;
  const made = await decide(journeys, runKey, { ...draft, customerTraceNumber } as Decision);
  const { colors, width } = output;
  output.answer({ decisionId, customerTraceNumber, ...made }, () => [
    colors.green(made.duplicate ? 'decided before: nothing has changed' : `decided, as ${decisionId}`),
    ...(made.recorded ? [] : [colors.yellow('the ledger does not have the decision: the run alone has')]),
    ...(made.heldBy === 'run' ? wrap(`\`credit-journey watch ${runKey}\` shows what follows`, width) : []),
  ]);
  return EXIT.done;
}

async function sendMany(journeys: LedgerJourneys, { planned, leftOut }: Plan, output: Output): Promise<number> {
  const named = planned.map((decision) => ({ ...decision, attempt: decision.draft.attempt ?? 0 }));
  const decided = await decideMany(journeys, named, async ({ draft, customerTraceNumber }) => ({
    decision: { ...draft, customerTraceNumber } as Decision,
  }));
  const inquiries = decided.map(describeDecided);
  const failed = inquiries.filter(({ result }) => result === 'refused' || result === 'failed');
  const document = { inquiries, ...(leftOut.length > 0 ? { leftOut } : {}) };
  output.answer(document, () => [
    ...documentLines(document, output.width),
    `${inquiries.length - failed.length} decided, ${failed.length} failed`,
  ]);
  return failed.length + leftOut.length > 0 ? EXIT.failed : EXIT.done;
}
