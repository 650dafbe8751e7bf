/** The current details of a run: the words of `src/words` as Markdown for the Temporal UI. Pure. */

import type { RunConfig } from '../../activities/contract.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { ResolveInquiryMessage } from '../../messages/resolve-inquiry.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import { ID_NAMES, parseRunKey, RUN_NAMES, type RunKind } from '../../model/run-key.ts';
import { type GateWay, listGateWays } from '../../words/gate-ways.ts';
import {
  describeEffects,
  describeProblem,
  describeQuestion,
  formatHoldTitle,
  listHoldFacts,
  RUN_PAGES,
  SENDS_NOTHING,
} from '../../words/holds.ts';
import {
  ASKING_OTHERS,
  describeAttention,
  describeEnd,
  describeNews,
  describeParts,
  describeStanding,
  type RunSection,
  type RunView,
  readRunKey,
  readRunKind,
} from '../../words/runs.ts';
import { countWords, createMarkdownWriter, formatCodeBlock, type Writer } from '../../words/writer.ts';
import type { Run } from './run.ts';

/** How the provider knows the customer that asks, and where the operator finds the runbook. */
export interface InquirySide {
  customerId: string;
  endUserCode?: string | undefined;
  runbookUrl?: string | undefined;
}

type DetailedRun = Pick<
  Run<object, RunConfig, string, object>,
  'config' | 'isEnding' | 'hasEndedBeforeAcceptance' | 'problems' | 'holds' | 'status'
>;

/** Facts of a kind of run beside its status. */
export type ShownDetails = Omit<RunView, 'status' | 'holds'> & Pick<InquirySide, 'endUserCode'>;

/** Describes a run without personal data. Input that is not checked may be anything: none of it is shown. */
export function describeRun(run: DetailedRun, details: () => ShownDetails): string {
  if (!run.config) return writeUncheckedDetails(run);
  const { customerId, runbookUrl } = run.config;
  const { endUserCode, ...known } = details();
  const view = { status: run.status(), holds: run.holds.view, isEnding: run.isEnding, ...known };
  return writeRunDetails(view, { customerId, endUserCode, runbookUrl });
}

export function writeUncheckedDetails({
  hasEndedBeforeAcceptance,
  problems: { problems = [] },
}: Pick<DetailedRun, 'hasEndedBeforeAcceptance' | 'problems'>): string {
  const isAskingOthers = problems.length > 0;
  const checking = isAskingOthers ? `**${ASKING_OTHERS}**` : '**The input is being checked.**';
  const standing = hasEndedBeforeAcceptance
    ? '**It ended before its input was taken.** Nothing was posted. Its failure says why.'
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
    ...(hold ? [describeHold(hold, { view, side, w })] : []),
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
    '### What passes the gate',
    'In a shell the command; here _More Actions_, _Send an Update_, `advance`, with the JSON.',
    ...ways.flatMap(({ words, command, input }) => [
      ...(words === undefined ? [] : [words]),
      formatCodeBlock(command),
      formatCodeBlock(JSON.stringify(input, null, 1)),
    ]),
  ];
}

function resetTerminateCancel(name: string): string {
  return `## Reset, Terminate, Cancel

- **Reset** repeats steps; nothing is sent twice, since the ledger answers for what was sent, and a decision is spent once.
- **Terminate** leaves an attempt in flight to be posted; the ledger keeps it for \`credit-journey holds\`. The ${name} may be started again.
- **Cancel** lets attempts in flight land. A hold stays undecided, in the ledger. To end a ${name}, send \`withdraw\`.`;
}

// One hold, with the drafts of the decisions that resolve it.

interface HoldContext {
  view: RunView;
  side: InquirySide;
  w: Writer;
}

function describeHold(hold: HoldStatus, { view, side, w }: HoldContext): string {
  const runKey = readRunKey(view.status);
  // A stage may have an end user of its own.
  const { endUserCode = side.endUserCode } = hold;
  const held = { ...hold, reason: hold.failureType, attempt: hold.attempts };
  const question = describeQuestion(endUserCode === undefined ? held : { ...held, endUserCode }, w, side.customerId);
  return [
    `## ${formatHoldTitle(held, w)}`,
    listHoldFacts(held, w)
      .map(([name, fact]) => `- **${name}:** ${fact}`)
      .join('\n'),
    ...(question === undefined ? [] : [`**To ask the provider:** ${question}`]),
    `### What resolves it

In a shell, the command; it asks for the rest. Here: _More Actions_, _Send an Update_, \`resolveInquiry\`, with the JSON after filling in what is empty. \`by\` and \`reason\` stay in the ledger: nothing personal about the consumer. \`providerSaid\`: \`posted\`, \`notPosted\`, \`unknown\`, \`notAsked\`. Add \`proof\` where it is needed.`,
    ...hold.allowedActions
      .filter((action) => !view.isEnding || SENDS_NOTHING.includes(action))
      .map((action) => formatAction(action, hold, runKey)),
  ].join('\n\n');
}

function formatAction(action: HoldAction, hold: HoldStatus, runKey: string): string {
  const command = `credit-journey resolve ${runKey} \\\n ${hold.customerTraceNumber} \\\n --attempt ${hold.attempts} --action ${action}`;
  return [
    `**\`${action}\`**: ${describeEffect(action, hold, parseRunKey(runKey).kind)}`,
    formatCodeBlock(command),
    formatCodeBlock(JSON.stringify(draft(action, hold, runKey), null, 1)),
  ].join('\n\n');
}
/** A draft of the decision without the operator's facts. The run refuses empty texts. */
function draft(action: HoldAction, hold: HoldStatus, runKey: string): object {
  const { kind, id } = parseRunKey(runKey);
  const { customerTraceNumber, attempts, since, applicantIds = [] } = hold;
  const message: Omit<ResolveInquiryMessage, 'journeyId' | 'providerSaid'> & { providerSaid: string } = {
    ...{ [ID_NAMES[kind]]: id },
    // An attempt may be held twice, and each hold takes a decision of its own.
    decisionId: `ui-${Date.parse(since).toString(36)}-${action}`,
    customerTraceNumber,
    attempt: attempts,
    action,
    by: '',
    reason: '',
    providerSaid: '',
  };
  if (action === 'accept') {
    const applicants = applicantIds.map((applicantId) => ({ applicantId, consumerId: '' }));
    const reference = { reportReferenceNumber: '', requestedAt: '', applicants };
    return { ...message, outcome: hold.productCode === 'SECONDUSE' ? 'record' : '', reference };
  }
  return message;
}

/** Says what the decision leads to, and how to fill in what the draft leaves empty. */
function describeEffect(action: HoldAction, hold: HoldStatus, run: RunKind): string {
  const { failureType, attempts: attempt, productCode, shareId } = hold;
  const effects = describeEffects(action, { run, isRunning: true, failureType, productCode, shareId, attempt });
  return [...effects, ...listFormFields(action, hold, run)].join(' ');
}

function listFormFields(action: HoldAction, { failureType, productCode }: HoldStatus, run: RunKind): string[] {
  if (action === 'amend') {
    return [
      `As it stands: with the same applicants. Corrected ones: add \`applicants\`, all of them, as at the start (\`${RUN_PAGES[run]}\`).`,
    ];
  }
  if (action === 'resend' && failureType === 'OutcomeUnknown') return ['Ask first: `notAsked` is refused.'];
  if (action !== 'accept') return [];
  return [
    productCode === 'SECONDUSE'
      ? '`record` means posted, and so does `providerSaid`; `requestedAt` is when (RFC 3339); `consumerId` as in the query `references`. `noRecord` or `noReport` (then leave `reference` out) means that it was not: the share ends as `notPosted`.'
      : '`outcome` is `record` (then `providerSaid` must be `posted`, and `reference` is needed; `requestedAt` as RFC 3339), `noRecord` or `noReport` (then leave `reference` out).',
  ];
}
