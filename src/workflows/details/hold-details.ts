/** One hold in a run's current details: what happened, what may be on the consumer's file, and what resolves it. Pure. */

import type { HoldStatus, ResolveInquiryMessage } from '../../messages/journey/shapes.ts';
import type { FailureType, HoldAction } from '../../model/failure-types.ts';
import { ATTEMPT_STATE_OF_FAILURE } from '../../model/inquiry.ts';
import { ID_NAMES, ownerOf, type RunKind } from '../../model/owner-id.ts';
import { block, code, plain, time } from './markdown.ts';

/** How the provider knows the customer that asks. */
export interface InquirySide {
  customerId: string;
  endUserCode?: string | undefined;
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
  const { productCode, shareId, attempts, failureType, customerTraceNumber, since } = hold;
  const share = shareId === undefined ? '' : ` · share ${plain(shareId)}`;
  const { happened, file } = STORIES[failureType];
  return [
    `## ${plain(productCode)}${share} · attempt ${attempts}: ${failureType}`,
    `- **What happened:** ${happened}${answerOf(hold)}
- **On the consumer’s file:** ${file}
- **Trace number:** ${code(customerTraceNumber)}, since ${time(since)}${otherNumberOf(hold)}${resendOf(hold)}
- **Runbook:** \`docs/runbook/${kebab(failureType)}.md\`${refusedLine(hold)}`,
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

function answerOf({ httpStatus, returnCode }: Hold): string {
  const parts = [
    ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`]),
    ...(returnCode === undefined ? [] : [`return code ${plain(returnCode)}`]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function resendOf({ resendFrom }: Hold): string {
  return resendFrom === undefined
    ? ''
    : `\n- **\`resend\` is taken from:** ${time(resendFrom)}; until then the first request may still arrive`;
}

function otherNumberOf({ otherTraceNumber }: Hold): string {
  return otherTraceNumber === undefined ? '' : `\n- **The other trace number:** ${code(otherTraceNumber)}`;
}

function actionsOf({ allowedActions }: Hold, isEnding: boolean): HoldAction[] {
  return allowedActions.filter((action) => !isEnding || action === 'accept' || action === 'abandon');
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
  return action === 'amend' ? { ...message, applicants: [] } : message;
}

function effectOf(action: HoldAction, hold: Hold, run: RunKind): string {
  const { failureType, attempts, productCode, shareId } = hold;
  switch (action) {
    case 'resend':
      if (failureType === 'AnotherNumber') {
        return `the inquiry is posted under this number all the same, once. If the other one was posted, that is a second inquiry on the consumer’s file.${
          run === 'portfolio' ? ' One decision is about every row of this review that stands so.' : ''
        }`;
      }
      if (ATTEMPT_STATE_OF_FAILURE[failureType] === null) return `the ${run} goes on with attempt ${attempts}.`;
      return `the inquiry is sent once more, as attempt ${attempts + 1} under the same trace number.${
        failureType === 'OutcomeUnknown'
          ? ' If it was posted after all, that is a second inquiry on the consumer’s file: ask first (`notAsked` is refused).'
          : ''
      }`;
    case 'accept':
      return `nothing is sent; the ${run} goes on with what the provider says came of it. ${
        productCode === 'SECONDUSE'
          ? '`record` means posted, and so does `providerSaid`; `requestedAt` is when (RFC 3339); `consumerId` as in the query `references`. `noRecord` or `noReport` (then leave `reference` out) means that it was not: the share ends as `notPosted`.'
          : '`outcome` is `record` (then `providerSaid` must be `posted`, and `reference` is needed; `requestedAt` as RFC 3339), `noRecord` or `noReport` (then leave `reference` out).'
      }`;
    case 'amend':
      return `a new inquiry under a new trace number, with corrected applicants: all of them, as at the start (\`docs/${run}s.md\`).`;
    case 'abandon':
      if (run !== 'journey') return `nothing more is ever sent under this trace number, and the ${run} ends with it.`;
      return shareId === undefined
        ? 'nothing more is ever sent under this trace number, and the journey ends with this stage.'
        : 'nothing more is ever sent under this trace number; the journey goes on without this share.';
  }
}

/** Empty where the provider cannot know anything about the inquiry. */
function askPart(hold: Hold, { customerId, endUserCode }: InquirySide): string[] {
  const { productCode, customerTraceNumber, since, failureType, httpStatus, returnCode } = hold;
  const { ask } = STORIES[failureType];
  if (!ask) return [];
  const facts = [
    `customerId ${plain(customerId)}`,
    ...(productCode === 'SECONDUSE' || endUserCode === undefined ? [] : [`endUserCode ${plain(endUserCode)}`]),
    `attempt shortly before ${time(since)}`,
    ...(httpStatus === undefined ? [] : [`HTTP status ${httpStatus}`]),
    ...(returnCode === undefined ? [] : [`returnCode ${plain(returnCode)}`]),
  ];
  const request = `our ${productCode} request with customerTraceNumber ${customerTraceNumber} (${facts.join(', ')})`;
  return [`**To ask the provider:** ${ask[0]} ${request}. ${ask[1]}`];
}

function kebab(failureType: FailureType): string {
  return failureType.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}

interface Story {
  happened: string;
  /** What may have been posted by this attempt. */
  file: string;
  /** Before and after what names the request. */
  ask?: readonly [string, string];
}

const NOTHING = 'nothing by this attempt: it was not sent, or not processed. The ledger was asked for earlier ones.';
const REFUSED = 'nothing, as far as a refusal tells; the interface does not say so.';
const POSTED = 'one inquiry.';

const WAS_IT_POSTED = [
  'We have no usable answer to',
  'Was an inquiry posted for it? If so: with which returnCode, which reportReferenceNumber, and which consumerId for each applicant?',
] as const;
const WHAT_CAME_OF_IT = [
  'We cannot use the answer to',
  'What came of it: which returnCode (and what does it mean), which reportReferenceNumber, and which consumerId for each applicant?',
] as const;
const WHY_REFUSED = ['You refused', 'Was it refused without an inquiry being posted, and what has to change?'] as const;
const MAY_WE_GO_ON = [
  'We could not get through with',
  'Do you know of it at all, and is there anything wrong with our access or with your service?',
] as const;

const STORIES: Record<FailureType, Story> = {
  OutcomeUnknown: {
    happened: 'the request was at least partly sent, and no usable answer came.',
    file: '**0 or 1 inquiry: nobody here knows.** Ask the provider before you decide.',
    ask: WAS_IT_POSTED,
  },
  UnexpectedResponse: {
    happened: 'the answer says that it was processed, but its content may not be trusted.',
    file: POSTED,
    ask: WHAT_CAME_OF_IT,
  },
  ReturnCodeUnknown: {
    happened: 'the answer has a return code that the product’s table lacks.',
    file: POSTED,
    ask: WHAT_CAME_OF_IT,
  },
  RequestRefused: { happened: 'the gateway refused the request.', file: REFUSED, ask: WHY_REFUSED },
  NotEntitled: {
    happened: 'the gateway says that this request is not allowed to us.',
    file: REFUSED,
    ask: WHY_REFUSED,
  },
  CredentialsRefused: {
    happened: 'the token service or the gateway refused our credentials, or this address is not allow-listed.',
    file: NOTHING,
    ask: MAY_WE_GO_ON,
  },
  TokenRejected: { happened: 'the gateway refused the token.', file: NOTHING, ask: MAY_WE_GO_ON },
  TokenUnavailable: {
    happened: 'the token service did not answer for longer than retries go on.',
    file: NOTHING,
    ask: MAY_WE_GO_ON,
  },
  GatewayUnreachable: {
    happened: 'the gateway could not be reached for longer than retries go on.',
    file: NOTHING,
    ask: MAY_WE_GO_ON,
  },
  GatewayUntrusted: {
    happened: 'the gateway’s TLS certificate, name or protocol was refused: a configuration error, or worse.',
    file: NOTHING,
    ask: MAY_WE_GO_ON,
  },
  Throttled: {
    happened: 'the gateway told us to wait for longer than retries go on.',
    file: NOTHING,
    ask: MAY_WE_GO_ON,
  },
  LedgerUnavailable: {
    happened: 'our ledger could not be reached for longer than retries go on; without it nothing is sent.',
    file: 'not known until the ledger can be asked: an earlier run may have made an attempt. This run has sent nothing since.',
  },
  LedgerChanged: {
    happened: 'the ledger is not the one that this run has used, or an older copy of it.',
    file: 'not known: what this run’s attempts have posted is not in this ledger.',
    ask: WAS_IT_POSTED,
  },
  LedgerRestored: {
    happened: 'an older copy of our ledger was put back, and nobody has accepted it for longer than retries go on.',
    file: 'not known: what was posted since that copy was made is not in this ledger.',
  },
  ProfileChanged: {
    happened: 'the gateway profile’s addresses or customer are not those that this run started with.',
    file: NOTHING,
  },
  RequestDiffers: {
    happened: 'the ledger has another request under this trace number, of another run with other data.',
    file: 'nothing by this attempt; the other request may have been posted.',
    ask: WAS_IT_POSTED,
  },
  AnotherNumber: {
    happened: 'the ledger has this very inquiry under another trace number: it was made for another `customerId`.',
    file: 'nothing by this attempt; the other one may have been posted. `credit-journey inquiries` says what came of it.',
  },
  InvalidInput: {
    happened: 'the request cannot be built from this input.',
    file: NOTHING,
  },
  ActivityFailed: {
    happened: 'the attempt failed before it was claimed; the ledger has none of it. The timeline shows how.',
    file: NOTHING,
  },
};
