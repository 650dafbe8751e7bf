/**
 * `holds` lists the work queue, as `GET /v1/holds` has it. `resolve` decides about one hold, or the same about all of a kind:
 * on a terminal it shows them, asks for what the options leave open, and sends the decision after a yes.
 */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { pick } from '../../base/defined.ts';
import { getMessageFields } from '../../fields/fields.ts';
import { findSchemaProblems } from '../../fields/problems.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import type { Loose } from '../../messages/message.ts';
import { type Decision, decision } from '../../messages/resolve-inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { formatRunName, ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import { type Decided, type DecidedRow, holdFilters, MOST_AT_ONCE } from '../../operations/holds.ts';
import { toPage } from '../../operations/pages.ts';
import { describeHold, type Hold } from '../../operator/holds.ts';
import { resolveCommand } from '../../words/holds.ts';
import type { AnyStatus } from '../../words/runs.ts';
import { EXIT, UsageError } from '../output/errors.ts';
import { readObject } from '../output/json-input.ts';
import { formatDocument, formatRowTable, type Output, readDocument, wrap } from '../output/output.ts';
import {
  applyOptions,
  type GivenOptions,
  listSchemaMembers,
  type Member,
  requireAgreement,
  toOptionKey,
} from '../output/schema-options.ts';
import { formatHold } from '../output/status-lines.ts';
import { type CallOperation, type CallOptions, createOperations, readPages } from './call-operation.ts';
import { type Answer, type CommandRow, type Context, parseSince, RUN_ID } from './command.ts';

interface ResolveOptions extends CallOptions, GivenOptions {
  file?: string;
  yes?: boolean;
  all?: boolean;
}

const SINCE = 'only rows since this instant (RFC 3339), or since so long ago (PT2H)';

/** `--since` takes a duration as well. */
const FILTERS: readonly Member[] = listSchemaMembers([holdFilters]).map((member) =>
  member.path === '/since' ? { ...member, words: SINCE } : member,
);

/** An argument names the inquiry, and `--file` gives applicants. */
const MEMBERS = listSchemaMembers([decision.schema(z.array(z.unknown()) as never).omit({ customerTraceNumber: true })]);

/** Options that belong to one inquiry alone. */
const OF_ONE = '--attempt --report-reference-number --requested-at --confirm-consumer-ids --file --proof'.split(' ');

const OF_ALL = FILTERS.map(({ flag }) => flag);

/** The columns of a row on a terminal. */
const COLUMNS = ['kind', 'runKey', 'failureType', 'since', 'productCode', 'attempt', 'command'] as const;

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'holds',
    description: 'list what needs a person, with the command that resolves it: exits with 3 if there is anything',
    members: FILTERS,
    common: ['api', 'output'],
    examples: ['credit-journey holds', 'credit-journey holds --failure-type OutcomeUnknown --since PT2H'],
    async run(context: Context<CallOptions & GivenOptions>) {
      const filters = readFilters(context.options);
      const holds = await listHolds(createOperations(context, 'ledger'), filters);
      const data = holds.map(({ guide: _, decideAt: __, ...hold }) => ({ ...hold, command: resolveCommand(hold) }));
      return {
        answer: toPage(data),
        lines: () => {
          const rows = data.map((hold) => pick(hold, COLUMNS));
          return rows.length === 0 ? ['nothing needs a person'] : formatRowTable(rows, context.output.width);
        },
        exitCode: data.length > 0 ? EXIT.needsPerson : EXIT.done,
      };
    },
  },
  {
    name: 'resolve',
    description: 'decide about an inquiry on hold; on a terminal the command asks for missing options',
    arguments: [
      ['[id]', RUN_ID],
      ['[customerTraceNumber]', 'which inquiry, if the run has several holds'],
    ],
    members: [...MEMBERS, ...FILTERS],
    options: [
      ['--file <path>', 'JSON of the decision, such as {"applicants":[…]} or {"reference":{…}}; - is standard input'],
      ['--all', 'every hold of a --failure-type; one decision each. The options of `holds` go with it'],
      ['--yes', 'do not ask for confirmation'],
    ],
    common: ['api', 'server', 'output'],
    examples: [
      'credit-journey start --sample --lose-answer --journey-id J-1006',
      [
        'credit-journey resolve J-1006 --attempt 1 --action abandon --by ops \\',
        '      --provider-said posted --reason "the applicant has withdrawn"',
      ].join('\n'),
    ],
    async run(context: Context<ResolveOptions>) {
      const { args, options, output, resources } = context;
      const { id: runKey, customerTraceNumber } = args;
      if (options.all && options.failureType === undefined) throw new UsageError('--all needs a --failure-type');
      const foreign = (options.all ? OF_ONE : OF_ALL).filter((flag) => options[toOptionKey(flag)] !== undefined);
      if (foreign.length > 0) {
        throw new UsageError(`${foreign.join(', ')} belongs to ${options.all ? 'one inquiry, not to --all' : '--all'}`);
      }
      if ((runKey === undefined) !== (options.all === true)) throw new UsageError('give either an id or --all');
      const prompter = !output.isJson && process.stdin.isTTY ? createPrompter(resources, output) : undefined;
      const base = { decisionId: `D-${randomUUID()}`, ...(await readObject(options.file)) };
      const draft = applyOptions(MEMBERS, options, base) as DraftDecision;
      const trace = customerTraceNumber ?? draft.customerTraceNumber;
      requireAgreement(base, { ...base, customerTraceNumber: trace });
      // The token says who decides.
      if (options.api !== undefined && options.by === undefined) draft.by = 'token';
      const asked: Asked = { options, output, prompter, draft, call: createOperations(context, 'both') };
      return runKey === undefined ? resolveAll(asked) : resolveOne(runKey, trace, asked);
    },
  },
];

/** A row of the list that waits for a decision. */
type WaitingHold = Hold & Required<Pick<Hold, 'customerTraceNumber' | 'attempt' | 'productCode'>>;

/** A decision as far as it has been given. */
type DraftDecision = Pick<Decision, 'decisionId'> & Partial<Decision>;

interface Asked extends Pick<Context<ResolveOptions>, 'options' | 'output'> {
  /** Present on a terminal. */
  prompter: Prompter | undefined;
  draft: DraftDecision;
  call: CallOperation;
}

async function resolveOne(runKey: string, trace: string | undefined, asked: Asked): Promise<Answer> {
  const { options, output, prompter, draft, call } = asked;
  // Without a trace number every other member can be checked.
  if (!prompter) parseMessage(decision, { ...draft, customerTraceNumber: trace ?? 'T' });
  const hold = prompter || trace === undefined ? await findHold(asked, runKey, trace) : undefined;
  draft.customerTraceNumber = trace ?? hold?.customerTraceNumber;
  if (prompter && hold) {
    const { ask } = hold.guide;
    const question = ask === undefined ? [] : wrap(`To ask the provider: ${ask}`, output.width);
    output.say([formatRunName(runKey), ...formatHold(hold, output.width), ...question]);
    await askForTheRest(hold, draft, prompter);
  }
  parseMessage(decision, draft);
  if (prompter && hold) {
    const gone = (await isRunGone(call, draft, hold)) ? [RUN_GONE] : [];
    output.say(['', ...describeEffects([hold], draft, output), ...gone]);
  }
  if (prompter && !options.yes && !(await isAgreed(`Decide ${draft.action}?`, prompter, output))) {
    return { exitCode: EXIT.needsPerson };
  }
  const made = readDocument(await call('decideInquiry', { ...draft, runKey }, runKey)) as Decided;
  const { decisionId, customerTraceNumber } = draft;
  const { green, yellow } = output.colors;
  return {
    answer: { decisionId, customerTraceNumber, ...made },
    lines: () => [
      green(made.duplicate ? 'decided before: nothing has changed' : `decided, as ${decisionId}`),
      ...(made.recorded ? [] : [yellow('the ledger does not have the decision yet: only the run has it')]),
      made.heldBy === 'run' ? `\`credit-journey watch ${runKey}\` shows what follows` : RUN_GONE,
    ],
  };
}

const RUN_GONE = 'The run is gone: its next start continues with the decision';

/** A preview says so. Each hold may be abandoned, and nothing of one person belongs to that. */
async function isRunGone(call: CallOperation, draft: DraftDecision, hold: WaitingHold): Promise<boolean> {
  const { decisionId, by, reason } = draft;
  const preview = { decisionId, by, reason, action: 'abandon', providerSaid: 'unknown', preview: true } as const;
  const [judged] = await callForEach(call, preview, [hold]);
  return judged?.heldBy === 'ledger';
}

/** @throws UsageError where it is not clear which hold is meant; Error where there is none */
async function findHold({ call, prompter }: Asked, runKey: string, trace: string | undefined) {
  const isMeant = ({ customerTraceNumber }: Hold) => trace === undefined || customerTraceNumber === trace;
  const listed = ((await listHolds(call, { runKey, kind: 'held' })) as WaitingHold[]).filter(isMeant);
  const holds = listed.length > 0 ? listed : (await listUnlisted(call, runKey).catch(() => [])).filter(isMeant);
  if (trace !== undefined) return holds[0];
  if (holds.length === 0) throw new Error(`nothing of ${formatRunName(runKey)} is on hold`);
  if (holds.length === 1) return holds[0];
  if (!prompter) {
    const traces = holds.map(({ customerTraceNumber }) => customerTraceNumber);
    throw new UsageError(`several inquiries are on hold: name one of ${traces.join(', ')}`);
  }
  const chosen = await prompter.choice(
    'Several inquiries are on hold',
    holds.map((hold) => [hold.customerTraceNumber, `${hold.productCode}, ${hold.failureType}`]),
  );
  return holds.find(({ customerTraceNumber }) => customerTraceNumber === chosen);
}

const STATUS = { journey: 'getJourney', pull: 'getPull', share: 'getShare', portfolio: 'getPortfolioReview' } as const;

/** Lists holds that only their run knows: its ledger was away, or Temporal has lost the decision that closed the row. */
async function listUnlisted(call: CallOperation, runKey: string): Promise<WaitingHold[]> {
  const { kind, id } = parseRunKey(runKey);
  const status = readDocument(await call(STATUS[kind], { [ID_NAMES[kind]]: id }, runKey)) as AnyStatus;
  return status.holds.map(({ failureType: reason, attempts: attempt, profile = 'default', ...said }) => {
    return describeHold({ ...said, workId: '', kind: 'held', reason, attempt, runKey, profile }) as WaitingHold;
  });
}

async function resolveAll({ options, output, prompter, draft, call }: Asked): Promise<Answer> {
  const filters = readFilters(options);
  const { width } = output;
  const check = () => parseMessage(decision, { ...draft, attempt: 1, customerTraceNumber: 'T' });
  if (!prompter) check();
  const holds = (await listHolds(call, { ...filters, kind: 'held' })) as WaitingHold[];
  const [first] = holds;
  if (prompter && first) {
    const shown = holds.map((hold) => pick(hold, ['productCode', ...NAMES]));
    output.say(formatRowTable(shown, width));
    await askForTheRest(first, draft, prompter, { ofMany: true });
  }
  check();
  const judged = await callForEach(call, { ...draft, preview: true }, holds);
  const planned = judged.flatMap(({ result, ...row }) => (result === 'decidable' ? [row] : []));
  const others = judged.filter(({ result }) => result !== 'decidable');
  const leftOut = others.map(({ customerTraceNumber, detail: why }) => ({ customerTraceNumber, why }));
  const rest = leftOut.length > 0 ? { leftOut } : {};
  if (first && planned.length > 0 && !options.yes) {
    const { action, outcome, providerSaid } = draft;
    const plan = { action, outcome, providerSaid, planned, ...rest };
    const decidable = holds.filter((_, index) => judged[index]?.result === 'decidable');
    const effects = ['', ...describeEffects(decidable, draft, output)];
    if (!prompter) {
      const problem = new UsageError(`nothing was decided: --yes decides about these ${planned.length}`);
      return { answer: plan, next: effects, problem };
    }
    output.say([...formatDocument(plan, width), ...effects]);
    const question = `Decide ${action} about these ${planned.length}?`;
    if (!(await isAgreed(question, prompter, output))) return { exitCode: EXIT.needsPerson };
  }
  const inquiries: DecidedRow[] = [];
  // An error may come after many decisions: the answer has them.
  const problem = await callForEach(call, draft, planned, inquiries).then(
    () => null,
    (error: Error) => error,
  );
  const failed = inquiries.filter(({ result }) => result === 'refused' || result === 'failed');
  const unsure = planned.length - inquiries.length;
  return {
    answer: { inquiries, ...rest },
    next: [
      `${inquiries.length - failed.length} decided, ${failed.length} failed`,
      ...(unsure > 0 ? [`${unsure} may still wait: the same command decides about those that do`] : []),
    ],
    exitCode: failed.length + leftOut.length > 0 ? EXIT.failed : EXIT.done,
    problem,
  };
}

/** The members that name an attempt on hold. */
const NAMES = ['runKey', 'customerTraceNumber', 'attempt'] as const;

/** Calls an operation with the same decision about all of them. It takes a limited number at once. Adds to `judged`. */
async function callForEach(
  call: CallOperation,
  { attempt: _, customerTraceNumber: __, ...same }: DraftDecision & { preview?: true },
  holds: readonly Pick<DecidedRow, (typeof NAMES)[number]>[],
  judged: DecidedRow[] = [],
): Promise<DecidedRow[]> {
  for (let from = 0; from < holds.length; from += MOST_AT_ONCE) {
    const inquiries = holds.slice(from, from + MOST_AT_ONCE).map((hold) => pick(hold, NAMES));
    const answer = readDocument(await call('decideMany', { ...same, inquiries })) as { inquiries: DecidedRow[] };
    judged.push(...answer.inquiries);
  }
  return judged;
}

async function isAgreed(question: string, prompter: Prompter, output: Output): Promise<boolean> {
  const agrees = await prompter.confirm(question);
  if (!agrees) output.note('nothing was decided');
  return agrees;
}

function readFilters(options: GivenOptions): Loose {
  return applyOptions(FILTERS, { ...options, since: parseSince(options.since as string | undefined) }, {});
}

/** The oldest first. */
function listHolds(call: CallOperation, conditions: Loose): Promise<Hold[]> {
  return Array.fromAsync(readPages<Hold>(call, 'listHolds', conditions));
}

// On a terminal: asks for what the options have left open.

/** Finds the description of a decision, or of its outcome once that is chosen. */
function findDeed({ guide: { actions } }: Hold, { action, outcome }: Partial<Decision>) {
  const chosen = actions.find((candidate) => candidate.action === action);
  return chosen?.outcomes?.find((candidate) => candidate.outcome === outcome) ?? chosen;
}

/** Each effect once: a journey, a pull and a share end in different ways. */
function describeEffects(holds: readonly Hold[], draft: DraftDecision, { width }: Output): string[] {
  return [...new Set(holds.map((hold) => findDeed(hold, draft)?.does ?? ''))].flatMap((does) => wrap(does, width));
}

/**
 * Adds to the decision everything that its action needs.
 *
 * @param ofMany it is about many holds of one kind, so that nothing of one person belongs to it
 */
async function askForTheRest(hold: WaitingHold, draft: DraftDecision, prompter: Prompter, { ofMany = false } = {}) {
  const { actions, providerWords } = hold.guide;
  draft.attempt ??= hold.attempt;
  draft.action ??= await prompter.choice(
    'What may be decided',
    actions.map(({ action, words }) => [action as Decision['action'], words]),
  );
  const { outcomes = [] } = actions.find(({ action }) => action === draft.action) ?? {};
  if (outcomes.length > 0) {
    draft.outcome ??= await prompter.choice(
      'The outcome, as the provider gives it',
      outcomes.flatMap(({ outcome, words }) => (ofMany && outcome === 'record' ? [] : [[outcome, words]])),
    );
  }
  draft.providerSaid ??= await prompter.choice(
    'What the provider says about it',
    (findDeed(hold, draft)?.providerSaid ?? []).map((said) => [said, providerWords[said]]),
  );
  if (draft.outcome === 'record' && !ofMany) draft.reference ??= await askReference(prompter);
  draft.by ??= await prompter.line('Who decides');
  draft.reason ??= await prompter.line('Why');
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
class PromptClosedError extends Error {
  override readonly name = 'PromptClosedError';
}

type Prompter = ReturnType<typeof createPrompter>;

/** Its methods throw `PromptClosedError` once the input has ended. */
function createPrompter(resources: AsyncDisposableStack, { say }: Output) {
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
    choice: async <T extends string>(question: string, choices: readonly (readonly [T, string])[]): Promise<T> => {
      say([`${question}:`, ...choices.map(([value, what], index) => `  ${index + 1}  ${value}: ${what}`)]);
      const values = choices.map(([value]) => value);
      const find = (text: string) => values.find((value, index) => text === value || text === String(index + 1));
      const text = await line('Number or word', (answer) => (find(answer) ? null : `one of ${values.join(', ')}`));
      return find(text) as T;
    },
    /** Defaults to no. */
    confirm: async (question: string) => /^y(es)?$/i.test(await ask(`${question} [y/N] `)),
  };
}
