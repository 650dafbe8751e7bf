/**
 * `resolve` makes a list of decisions, shows it, and sends it once the operator has agreed. Options and questions make the
 * list: about one hold, or the same about all of a kind. A file of the provider's answers makes it, too.
 */
import { randomUUID } from 'node:crypto';
import { describeDecided } from '../../api/routes/decisions.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { WorkFilters } from '../../ledger/holds/work.ts';
import type { Decision } from '../../messages/resolve-inquiry.ts';
import { formatRunName } from '../../model/run-key.ts';
import {
  decide,
  decideMany,
  type NamedInquiry,
  previewMany,
  readDecidable,
  readUnlisted,
} from '../../operator/decide.ts';
import type { Hold } from '../../operator/holds.ts';
import { readHolds } from '../../operator/holds.ts';
import { type DecidableHold, type JudgedDecision, validateDecision } from '../../operator/judge-decision.ts';
import type { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, formatDocument, formatRowTable, type Output, wrap } from '../output/output.ts';
import { createPrompter, isAsking, type Prompter } from '../output/prompts.ts';
import { parseAnswers, readAnswers } from './answers-file.ts';
import { askForTheRest, describeConsequences, showHold } from './ask-decision.ts';
import { checkDecision, type DraftDecision, type ResolveOptions, readDraft, readFilters } from './decision-flags.ts';
import { requireRunKey, withJourneys } from './journey-action.ts';

interface Planned extends NamedInquiry {
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
  /** The conditions of `--all`. */
  filters: WorkFilters;
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
  const prompter = isAsking(output) && options.answers !== '-' ? createPrompter() : undefined;
  const asked: Asked = { options, filters: readFilters(options), output, prompter };
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

async function planOne(
  { runKey, trace }: { runKey: string; trace: string | undefined },
  { options, output, prompter }: Asked,
): Promise<Planner> {
  requireRunKey(runKey);
  const draft = await readDraft(options);
  // Without a trace number every other member can be checked.
  if (!prompter) checkDecision(draft, trace ?? 'T', options);
  return async (journeys) => {
    const customerTraceNumber = trace ?? (await chooseInquiry(journeys, runKey, prompter));
    const inquiry = { runKey, customerTraceNumber };
    const hold = prompter && ((await readDecidable(journeys, inquiry)) ?? (await readUnlisted(journeys, inquiry)));
    if (!prompter || !hold) {
      checkDecision(draft, customerTraceNumber, options);
      return { planned: [{ ...inquiry, draft }], leftOut: [] };
    }
    if (hold.allowedActions.includes('seen')) {
      const seen = `credit-journey seen inquiry ${customerTraceNumber}`;
      throw new Error(`nothing is left to decide about it: \`${seen}\` takes it off the list`);
    }
    const { attempt = hold.attempt, action = hold.allowedActions[0] } = draft;
    const problem = validateDecision(hold, { attempt, action } as JudgedDecision);
    if (problem) throw new UsageError(problem.reason);
    showHold(hold, prompter, output);
    const decision = await askForTheRest(hold, draft, prompter);
    checkDecision(decision, customerTraceNumber, options);
    return { planned: [{ ...inquiry, hold, draft: decision }], leftOut: [] };
  };
}

/** @throws UsageError where it is not clear which hold is meant */
async function chooseInquiry(journeys: LedgerJourneys, runKey: string, prompter?: Prompter): Promise<string> {
  const holds = await readHeld(journeys, { runKey });
  const choices = holds.map(({ customerTraceNumber: value = '', productCode, reason }) => ({
    ...{ value, what: `${productCode}, ${reason}` },
  }));
  const [first, ...others] = choices;
  if (!first) throw new Error(`nothing of ${formatRunName(runKey)} is on hold`);
  if (others.length === 0) return first.value;
  if (prompter) return prompter.choice('Several inquiries are on hold', choices);
  throw new UsageError(`several inquiries are on hold: name one of ${choices.map(({ value }) => value).join(', ')}`);
}

/** Plans the same decision about each hold of one kind. */
async function planSame({ options, filters, output, prompter }: Asked): Promise<Planner> {
  const draft = await readDraft(options);
  if (!prompter) checkDecision({ ...draft, attempt: 1 }, 'T', options);
  return async (journeys) => {
    const holds = await readHeld(journeys, filters);
    const [first] = holds;
    if (!first) return { planned: [], leftOut: [] };
    let decision = draft;
    if (prompter) {
      const shown = holds.map(({ productCode, attempt, customerTraceNumber, runKey }) => ({
        ...{ productCode, attempt, customerTraceNumber, runKey },
      }));
      prompter.say(formatRowTable(shown, output.width));
      decision = await askForTheRest(first, draft, prompter, { ofMany: true });
    }
    checkDecision({ ...decision, attempt: 1 }, 'T', options);
    // Each hold gets a decision id of its own, so that no decision can pass for another.
    const drafts = holds.map(({ runKey, customerTraceNumber = '', attempt }) => ({
      ...{ runKey, customerTraceNumber },
      draft: { ...decision, attempt, decisionId: `D-${randomUUID()}` } as DraftDecision,
    }));
    return judge(journeys, drafts);
  };
}

/** Plans the decisions that a file gives: the provider's answer about each inquiry. */
async function planAnswered({ options, filters, prompter }: Asked): Promise<Planner> {
  const answers = await readAnswers(options.answers as string);
  // Each answer has an id of its own.
  const { decisionId: _, ...defaults } = await readDraft(options);
  if (prompter && answers.some(({ by }) => by === undefined)) defaults.by ??= await prompter.line('Who decides');
  if (prompter && answers.some(({ reason }) => reason === undefined)) defaults.reason ??= await prompter.line('Why');
  const checked = parseAnswers(answers, defaults);
  return async (journeys) => {
    const byTrace = new Map((await readHeld(journeys, filters)).map((hold) => [hold.customerTraceNumber, hold]));
    const drafts = checked.flatMap(({ customerTraceNumber, ...draft }) => {
      const { runKey } = byTrace.get(customerTraceNumber) ?? {};
      return runKey === undefined ? [] : [{ runKey, customerTraceNumber, draft }];
    });
    const { planned, leftOut } = await judge(journeys, drafts);
    const unknown = checked.filter(({ customerTraceNumber }) => !byTrace.has(customerTraceNumber));
    const why = 'no hold in the selection is about this inquiry';
    return {
      planned,
      leftOut: [...leftOut, ...unknown.map(({ customerTraceNumber }) => ({ customerTraceNumber, why }))],
    };
  };
}

async function readHeld(journeys: LedgerJourneys, filters: WorkFilters): Promise<Hold[]> {
  return readHolds(await journeys.getLedger(), { ...filters, kind: 'held' });
}

/** Leaves out decisions that a run, or the ledger, would refuse. */
async function judge(journeys: LedgerJourneys, drafts: readonly Planned[]): Promise<Plan> {
  const plan: Plan = { planned: [], leftOut: [] };
  for (const judged of await previewMany(journeys, drafts, ({ draft }) => draft as JudgedDecision)) {
    const { customerTraceNumber, error } = judged;
    if (!error) plan.planned.push(judged);
    else plan.leftOut.push({ customerTraceNumber, why: 'reason' in error ? String(error.reason) : error.message });
  }
  return plan;
}

/** Shows the plan. Asks on a terminal; elsewhere many decisions need `--yes`. */
async function isAgreed(
  { planned, leftOut }: Plan,
  { options: { yes }, output, prompter }: Asked,
  isOne: boolean,
): Promise<boolean> {
  const rows = planned.map(({ runKey, customerTraceNumber, hold, draft }) => {
    const { action, outcome, providerSaid, attempt } = draft;
    const { productCode } = hold ?? {};
    return omitUndefined({ runKey, customerTraceNumber, attempt, action, productCode, outcome, providerSaid });
  });
  const document = { planned: rows, ...(leftOut.length > 0 ? { leftOut } : {}) };
  const lines = () => [
    ...(isOne ? [] : formatDocument(document, output.width)),
    ...formatConsequences(planned, output, isOne),
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

/** Describes one decision of each kind: the others differ only in their numbers. */
function formatConsequences(planned: readonly Planned[], { width }: Output, isOne: boolean): string[] {
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
    ...formatDocument(document, output.width),
    `${inquiries.length - failed.length} decided, ${failed.length} failed`,
  ]);
  return failed.length + leftOut.length > 0 ? EXIT.failed : EXIT.done;
}
