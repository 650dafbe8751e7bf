/** One hold in a run's current details: what happened, what may be on the consumer's file, and what resolves it. Pure. */

import type { HoldStatus, ResolveInquiryMessage } from '../../messages/journey/shapes.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import {
  consequences,
  HOLD_GUIDE,
  inquiryWords,
  RUN_GUIDE,
  runbookPage,
  SENDS_NOTHING,
} from '../../model/hold-guide.ts';
import { ID_NAMES, ownerOf, type RunKind } from '../../model/owner-id.ts';
import type { Problem } from '../../model/problems.ts';
import { resendRule } from '../../model/resend-rule.ts';
import { block, code, pageLink, plain, time } from './markdown.ts';

/** How the provider knows the customer that asks, and where the operator finds the runbook. */
export interface InquirySide {
  customerId: string;
  endUserCode?: string | undefined;
  /** Where the runbook is served. */
  runbookUrl?: string | undefined;
}

interface HoldContext {
  /** As the command line takes it (model/owner-id.ts). */
  ownerId: string;
  run: InquirySide;
  /** Then only what sends nothing is allowed. */
  isEnding: boolean;
}

type Hold = HoldStatus & { applicantIds: readonly string[] };

export function holdSection(hold: Hold, context: HoldContext): string {
  const { attempts, failureType, customerTraceNumber, since } = hold;
  const { happened, file } = HOLD_GUIDE[failureType];
  return [
    `## ${plain(inquiryWords(hold))} · attempt ${attempts}: ${failureType}`,
    `- **What happened:** ${happened}${answerOf(hold)}
- **On the consumer’s file:** **${file[0]}**${file[1]}${refusalOf(hold)}
- **Trace number:** ${code(customerTraceNumber)}, since ${time(since)}${otherNumberOf(hold)}${resendOf(hold)}
- **Runbook:** ${pageLink(runbookPage(failureType), context.run.runbookUrl)}${refusedLine(hold)}`,
    ...problemList(hold.problems),
    ...askPart(hold, context.run),
    `### What resolves it

In a shell, the command; it asks for the rest. Here: _More Actions_, _Send an Update_, \`resolveInquiry\`, with the JSON after filling in what is empty. \`by\` and \`reason\` stay in the ledger: nothing personal about the consumer. \`providerSaid\`: \`posted\`, \`notPosted\`, \`unknown\`, \`notAsked\`. Add \`proof\` where it is needed.`,
    ...actionsOf(hold, context.isEnding).map((action) => actionPart(action, hold, context.ownerId)),
  ].join('\n\n');
}

/** The person who decided may not have waited for the answer. */
function refusedLine({ refusedDecision }: Hold): string {
  if (!refusedDecision) return '';
  const { decisionId, reason, at } = refusedDecision;
  return `\n- **The ledger has refused a decision:** ${code(decisionId)}, ${time(at)}: ${plain(reason)}`;
}

function answerOf({ httpStatus, returnCode, returnReasonCode }: Hold): string {
  const parts = [
    ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`]),
    ...(returnCode === undefined ? [] : [`return code ${plain(returnCode)}`]),
    ...(returnReasonCode === undefined ? [] : [`reason ${plain(returnReasonCode)}`]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function resendOf({ resendFrom }: Hold): string {
  return resendFrom === undefined ? '' : `\n- **Too early for \`resend\`:** ${resendRule(time(resendFrom))}`;
}

/** It may repeat the whole request, so the details name the command alone. */
function refusalOf({ refusalKept, customerTraceNumber, attempts }: Hold): string {
  if (!refusalKept) return '';
  return `\n- **What the gateway wrote** is kept for readers of reports: ${code(`credit-journey report --attempt ${customerTraceNumber}/${attempts}`)}`;
}

/** The query `status` has the rest. */
const PROBLEMS_LISTED = 5;

export function problemList(problems: readonly Problem[] = []): string[] {
  if (problems.length === 0) return [];
  const lines = problems.slice(0, PROBLEMS_LISTED).map(({ path, rule }) => `- ${code(path || '/')} ${plain(rule)}`);
  const more = problems.length > lines.length ? [`- and ${problems.length - lines.length} more`] : [];
  return [[...lines, ...more].join('\n')];
}

function otherNumberOf({ otherTraceNumber }: Hold): string {
  return otherTraceNumber === undefined ? '' : `\n- **The other trace number:** ${code(otherTraceNumber)}`;
}

function actionsOf({ allowedActions }: Hold, isEnding: boolean): HoldAction[] {
  return allowedActions.filter((action) => !isEnding || SENDS_NOTHING.includes(action));
}

function actionPart(action: HoldAction, hold: Hold, ownerId: string): string {
  const command = `credit-journey resolve ${ownerId} \\\n ${hold.customerTraceNumber} \\\n --attempt ${hold.attempts} --action ${action}`;
  return [
    `**\`${action}\`**: ${effectOf(action, hold, ownerOf(ownerId).kind)}`,
    block(command),
    block(JSON.stringify(draft(action, hold, ownerId), null, 1)),
  ].join('\n\n');
}

/** A draft that lacks only what the person knows; the run refuses empty texts. */
function draft(action: HoldAction, hold: Hold, ownerId: string): object {
  const { kind, id } = ownerOf(ownerId);
  const { customerTraceNumber, attempts, since, applicantIds } = hold;
  const message: Omit<ResolveInquiryMessage, 'journeyId' | 'providerSaid'> & { providerSaid: string } = {
    ...{ [ID_NAMES[kind]]: id },
    // The same attempt may be held twice, and each hold takes a decision of its own.
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

/** What the decision leads to, and how to fill in what the draft leaves empty. */
function effectOf(action: HoldAction, hold: Hold, run: RunKind): string {
  const { failureType, attempts: attempt, productCode, shareId } = hold;
  const effects = consequences(action, { run, isRunning: true, failureType, productCode, shareId, attempt });
  return [...effects, ...howToFill(action, hold, run)].join(' ');
}

function howToFill(action: HoldAction, { failureType, productCode }: Hold, run: RunKind): string[] {
  if (action === 'amend') {
    return [
      `As it stands: with the same applicants. Corrected ones: add \`applicants\`, all of them, as at the start (\`${RUN_GUIDE[run].page}\`).`,
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

/** Empty where the provider cannot know anything about the inquiry. */
function askPart(hold: Hold, { customerId, endUserCode }: InquirySide): string[] {
  const { productCode, customerTraceNumber, since, failureType, httpStatus, returnCode } = hold;
  // A stage may have an end user of its own.
  const asked = hold.endUserCode ?? endUserCode;
  const { ask } = HOLD_GUIDE[failureType];
  if (!ask) return [];
  const facts = [
    `customerId ${plain(customerId)}`,
    ...(productCode === 'SECONDUSE' || asked === undefined ? [] : [`endUserCode ${plain(asked)}`]),
    `attempt shortly before ${time(since)}`,
    ...(httpStatus === undefined ? [] : [`HTTP status ${httpStatus}`]),
    ...(returnCode === undefined ? [] : [`returnCode ${plain(returnCode)}`]),
  ];
  const request = `our ${productCode} request with customerTraceNumber ${customerTraceNumber} (${facts.join(', ')})`;
  return [`**To ask the provider:** ${ask[0]} ${request}. ${ask[1]}`];
}
