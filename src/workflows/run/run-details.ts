/** The current details of a run: the words of `src/words` as Markdown for the Temporal UI. Pure. */

import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import { selectShownProblems } from '../../model/problems.ts';
import { parseRunKey, RUN_NAMES } from '../../model/run-key.ts';
import {
  describeEffects,
  describeProblem,
  describeQuestion,
  formatHoldTitle,
  listHoldFacts,
  SENDS_NOTHING,
} from '../../words/holds.ts';
import {
  ASKING_OTHERS,
  describeAttention,
  describeEnd,
  describeNews,
  describeParts,
  describeStanding,
  describeUnacceptedEnd,
  type GateWay,
  listGateWays,
  type RunSection,
  type RunView,
  readRunKey,
  readRunKind,
} from '../../words/runs.ts';
import { countWords, createMarkdownWriter, formatCodeBlock, type Writer } from '../../words/writer.ts';
import type { AnyRun } from './run.ts';

/** How the provider knows the customer that asks, and where the operator finds the runbook. */
export interface InquirySide {
  customerId: string;
  endUserCode?: string | undefined;
  runbookUrl?: string | undefined;
}

/** Describes a run without personal data. Input that is not checked may be anything: none of it is shown. */
export function describeRun(run: AnyRun): string {
  if (!run.config) return writeUncheckedDetails(run);
  const { customerId, runbookUrl } = run.config;
  const { endUserCode, ...known } = run.details;
  const view = { status: run.status(), holds: run.holds.view, isEnding: run.isEnding, ...known };
  return writeRunDetails(view, { customerId, endUserCode, runbookUrl });
}

export function writeUncheckedDetails({ endedAs, inputProblems = [] }: Pick<AnyRun, 'endedAs' | 'inputProblems'>) {
  const problems = selectShownProblems(inputProblems);
  const checking = problems.length > 0 ? `**${ASKING_OTHERS}**` : '**The input is being checked.**';
  const standing = endedAs
    ? `**${describeUnacceptedEnd(problems)}** Its failure says why.`
    : `${checking} Nothing has been posted.`;
  return [standing, ...problems.map((problem) => `- ${describeProblem(problem, createMarkdownWriter())}`)].join('\n');
}

/**
 * The UI hands the whole text to its own server in the query string of a URL. Proxies take 8 kB of it, and logs keep
 * all. So one hold is shown in full, long lists are cut, and references are only recognisable.
 */
const HOLDS_LISTED = 5;
const PARTS_LISTED: Record<string, number> = { Stages: -6, Shares: 4 };

export function writeRunDetails(view: RunView, side: InquirySide): string {
  const { status } = view;
  const kind = readRunKind(status);
  const w = createMarkdownWriter(side.runbookUrl);
  const [hold, ...others] = view.holds.filter(({ isDecided }) => !isDecided);
  const listed = others.slice(0, HOLDS_LISTED).map(({ productCode, customerTraceNumber, failureType }) => {
    return `- ${w.plain(productCode)} ${w.code(customerTraceNumber)}: ${failureType}`;
  });
  const total = status.refusedMessagesTotal;
  return [
    w.strong(describeStanding(view, w)),
    ...(hold ? [describeHold(hold, view, side, w)] : []),
    ...(listed.length > 0
      ? [`## ${others.length} more on hold\n\n${listed.join('\n')}\n\n\`credit-journey holds\` has all.`]
      : []),
    ...formatGateWays(listGateWays(view)),
    ...describeAttention(view, w).slice(0, HOLDS_LISTED),
    ...describeParts(view, w).map(formatSection),
    ...describeNews(view, w),
    ...(total > 0 ? [`${countWords(total, 'message')} refused; the query \`status\` says which and why.`] : []),
    ...(describeEnd(kind, status.state) === null ? [resetTerminateCancel(RUN_NAMES[kind])] : []),
  ].join('\n\n');
}

function formatSection({ title, rows }: RunSection): string {
  const most = PARTS_LISTED[title] ?? rows.length;
  const shown = most < 0 ? rows.slice(most) : rows.slice(0, most);
  const rest = rows.length - shown.length;
  return [
    `### ${title}\n`,
    ...shown.map(([name, ...facts]) => `- **${name}**: ${facts.filter((fact) => fact !== '').join(', ')}`),
    ...(rest > 0 ? [`- ${rest} more: the query \`status\` has all.`] : []),
  ].join('\n');
}

function formatGateWays(ways: readonly GateWay[]): string[] {
  if (ways.length === 0) return [];
  return [
    '### How to pass the gate',
    'In a shell; or in this UI: _More Actions_, _Send an Update_, `advance`, whose description has an example.',
    ...ways.flatMap(({ words, command }) => [...(words === undefined ? [] : [words]), formatCodeBlock(command)]),
  ];
}

function resetTerminateCancel(name: string): string {
  return `## Reset, Terminate, Cancel

- **Reset** repeats steps; nothing is sent twice, since the ledger answers for what was sent, and a decision is spent once.
- **Terminate** leaves an attempt in flight to be posted; the ledger keeps it for \`credit-journey holds\`. The ${name} may be started again.
- **Cancel** lets attempts in flight finish. A hold stays undecided, in the ledger. To end a ${name}, send \`withdraw\`.`;
}

/** One hold, with the decisions that resolve it. */
function describeHold(hold: HoldStatus, view: RunView, side: InquirySide, w: Writer): string {
  const runKey = readRunKey(view.status);
  // A stage may have an end user of its own.
  const { endUserCode = side.endUserCode } = hold;
  const held = { ...hold, attempt: hold.attempts };
  const question = describeQuestion({ ...held, endUserCode }, w, side.customerId);
  return [
    `## ${formatHoldTitle(held, w)}`,
    listHoldFacts(held, w)
      .map(([name, fact]) => `- **${name}:** ${fact}`)
      .join('\n'),
    ...(question === undefined ? [] : [`**To ask the provider:** ${question}`]),
    `### How to resolve it

In a shell, the command; it asks for the rest. Here: _More Actions_, _Send an Update_, \`resolveInquiry\`, whose description has an example. The ledger keeps \`by\` and \`reason\`: write nothing personal about the consumer in them.`,
    ...hold.allowedActions
      .filter((action) => !view.isEnding || SENDS_NOTHING.includes(action))
      .map((action) => formatAction(action, hold, runKey)),
  ].join('\n\n');
}

function formatAction(action: HoldAction, hold: HoldStatus, runKey: string): string {
  const { customerTraceNumber, failureType, attempts: attempt, productCode, shareId } = hold;
  const command = `credit-journey resolve ${runKey} \\\n ${customerTraceNumber} \\\n --attempt ${attempt} --action ${action}`;
  const run = parseRunKey(runKey).kind;
  const effects = describeEffects(action, { run, failureType, productCode, shareId, attempt });
  return [`**\`${action}\`**: ${effects.join(' ')}`, formatCodeBlock(command)].join('\n\n');
}
