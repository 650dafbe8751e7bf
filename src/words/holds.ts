/**
 * Words for each hold: its meaning, the possible effect on the consumer's file, and the effect of each decision. Their
 * one source: the Temporal UI, the command line and the runbook show them, and a test compares the docs. Pure.
 */

import type { AnsweredInquiry, HoldStatus } from '../messages/journey/shapes.ts';
import { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import {
  type DecisionAction,
  FAILURES,
  type FailureType,
  type HoldAction,
  isFailureType,
} from '../model/failure-types.ts';
import type { Problem } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import {
  describeResendRule,
  listPermittingStatements,
  PROVIDER_SAID,
  type ProviderSaid,
} from '../model/provider-word.ts';
import { type ApplicantOutcome, REPORT_OUTCOMES, type ReportOutcome } from '../model/report-outcome.ts';
import { RUN_NAMES, type RunKind } from '../model/run-key.ts';
import { capitalize, splitCamelCase, type Writer } from './writer.ts';

/** The only decisions that an ending run takes. */
export const SENDS_NOTHING: readonly DecisionAction[] = ['accept', 'abandon'];
export const ENDING_RULE = `the run is ending: only ${SENDS_NOTHING.join(' and ')} send nothing`;

export const PROVIDER_WORDS: Readonly<Record<ProviderSaid, string>> = {
  posted: 'it was posted',
  notPosted: 'it was not posted',
  unknown: 'they cannot say',
  notAsked: 'the provider was not asked',
};

/** Cases that an operator must look at although no run waits for a decision. A run shows `what` and `advice` around their place. */
export const ATTENTION_GUIDE = {
  lateAnswer: { meaning: 'Answered too late.' },
  ssnMismatch: {
    meaning: 'Another SSN.',
    what: 'The report has another SSN than the request:',
    advice: 'It may be another person’s.',
  },
  reportChanged: {
    meaning: 'The report changed.',
    what: 'The report differs from the one before by more than `attentionAbove` allows:',
    advice: 'Look at it before closing.',
  },
  revokedAfterPosting: {
    meaning: 'Consent withdrawn.',
    what: 'Consent withdrawn after posting:',
    advice: 'The gateway takes nothing back.',
  },
  [PORTFOLIO_UNAVAILABLE]: {
    meaning: 'The file of a portfolio review cannot be read or written. The review continues once it can be.',
  },
} as const;

/** The runbook's page about a hold or a flag: `OutcomeUnknown` has `docs/runbook/outcome-unknown.md`. */
export function toRunbookPage(reason: FailureType | keyof typeof ATTENTION_GUIDE): string {
  return `docs/runbook/${reason.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()}.md`;
}

/** The row that a run on hold shows in the Temporal UI's timeline. */
export function formatHoldRow(reason: string, what: string): string {
  return `ON HOLD · ${reason} · ${what} · see User Metadata`;
}

/** `SECONDUSE of share S-1` */
export function formatInquiryName(inquiry: Pick<HoldStatus, 'productCode' | 'shareId' | 'accountId'>): string {
  const { productCode, shareId, accountId } = inquiry;
  if (shareId !== undefined) return `${productCode} of share ${shareId}`;
  return accountId === undefined ? productCode : `${productCode} of account ${accountId}`;
}

/** A case that needs an operator, as the ledger, a run or a list has it. */
export interface HeldInquiry
  extends Pick<
    HoldStatus,
    | ('customerTraceNumber' | 'productCode' | 'shareId' | 'accountId' | 'endUserCode' | 'httpStatus' | 'returnCode')
    | ('returnReasonCode' | 'refusalKept' | 'otherTraceNumber' | 'resendFrom' | 'refusedDecision')
  > {
  /** Or, of a flagged row, a name of `ATTENTION_GUIDE`. */
  failureType: string;
  problems?: readonly Problem[];
  /** RFC 3339. Unknown for a share that a running journey flags. */
  since?: string;
  /** The attempt that a decision judges. */
  attempt?: number;
}

/** The command that resolves a row; on a terminal it asks for the options that are missing. */
export function resolveCommand(
  row: Partial<Pick<HeldInquiry, 'customerTraceNumber' | 'attempt'>> &
    Pick<HeldInquiry, 'failureType'> & { runKey: string; allowedActions: readonly (HoldAction | 'seen')[] },
): string {
  const { runKey, failureType, customerTraceNumber, attempt, allowedActions } = row;
  if (allowedActions.includes('seen')) {
    const about =
      customerTraceNumber === undefined ? `run ${runKey} --flag ${failureType}` : `inquiry ${customerTraceNumber}`;
    return `credit-journey seen ${about} --by <name> --reason <why>`;
  }
  // The cause of other flags has to be mended.
  if (customerTraceNumber === undefined) return `credit-journey status ${runKey}`;
  return `credit-journey resolve ${runKey} ${customerTraceNumber} --attempt ${attempt}`;
}

/** `PREQUAL · OutcomeUnknown · attempt 1` */
export function formatHoldTitle(hold: HeldInquiry, w: Writer): string {
  const attempt = hold.attempt === undefined ? [] : [`attempt ${hold.attempt}`];
  return [w.plain(formatInquiryName(hold)), hold.failureType, ...attempt].join(' · ');
}

/** The query `status` has the rest. */
const PROBLEMS_LISTED = 5;

/** Returns all known facts of the hold, each under its name. */
export function listHoldFacts(hold: HeldInquiry, w: Writer): [name: string, fact: string][] {
  const { failureType, customerTraceNumber, attempt, since, refusedDecision, problems = [] } = hold;
  const { otherTraceNumber, resendFrom } = hold;
  const { meaning, page } = describeReason(failureType);
  const answer = listAnswerParts(hold, w);
  const facts: [string, string | undefined | false][] = [
    ['What happened', meaning],
    ['The gateway answered', answer.join(', ')],
    ['On the consumer’s file', isFailureType(failureType) && FAILURES[failureType].file.join('')],
    ['Trace number', `${w.code(customerTraceNumber)}${since === undefined ? '' : `, since ${w.time(since)}`}`],
    ['Already made under', otherTraceNumber !== undefined && w.code(otherTraceNumber)],
    [
      'What the gateway wrote',
      hold.refusalKept &&
        `kept for readers of reports: ${w.code(`credit-journey refusal ${customerTraceNumber} ${attempt ?? 0}`)}`,
    ],
    ['Too early for resend', resendFrom !== undefined && describeResendRule(w.time(resendFrom))],
    [
      'The ledger has refused a decision',
      refusedDecision &&
        `${w.code(refusedDecision.decisionId)}, ${w.time(refusedDecision.at)}: ${w.plain(refusedDecision.reason)}`,
    ],
    ...problems.slice(0, PROBLEMS_LISTED).map((problem): [string, string] => ['Problem', describeProblem(problem, w)]),
    ['Further problems', problems.length > PROBLEMS_LISTED && String(problems.length - PROBLEMS_LISTED)],
    ['Runbook', page !== undefined && w.page(page)],
  ];
  return facts.flatMap(([name, fact]) => (fact ? [[name, fact]] : []));
}

export function describeProblem({ path, rule }: Problem, { code, plain }: Writer): string {
  return `${code(path || '/')} ${plain(rule)}`;
}

interface Answered extends AnsweredInquiry {
  httpStatus?: number;
}

/** Returns the codes, the outcomes of several applicants, and the number of an answer without a record. */
export function listAnswerParts(answered: Answered, { plain, reference }: Writer): string[] {
  const { httpStatus, returnCode, returnReasonCode, applicantOutcomes = [], noRecordReference } = answered;
  return [
    ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`]),
    ...(returnCode === undefined ? [] : [`return code ${plain(returnCode)}`]),
    ...(returnReasonCode === undefined ? [] : [`reason ${plain(returnReasonCode)}`]),
    ...(applicantOutcomes.length > 1 ? applicantOutcomes.map((outcome) => plain(describeOutcome(outcome))) : []),
    ...(noRecordReference === undefined ? [] : [reference(noRecordReference)]),
  ];
}

function describeOutcome({ applicantId, outcome, returnCode, returnReasonCode }: ApplicantOutcome): string {
  const codes = [returnCode, returnReasonCode].filter((code) => code !== undefined);
  return `${applicantId} ${splitCamelCase(outcome)}${codes.length === 0 ? '' : ` (${codes.join(' ')})`}`;
}

/** Describes a hold or a flag by its reason: the event in a sentence, and the runbook's page. */
export function describeReason(reason: string): { meaning: string; page?: string } {
  if (isFailureType(reason)) return { meaning: capitalize(FAILURES[reason].happened), page: toRunbookPage(reason) };
  if (!isFlag(reason)) return { meaning: `${capitalize(reason)}.` };
  return { meaning: ATTENTION_GUIDE[reason].meaning, page: toRunbookPage(reason) };
}

function isFlag(reason: string): reason is keyof typeof ATTENTION_GUIDE {
  return Object.hasOwn(ATTENTION_GUIDE, reason);
}

/** Returns the question for the provider; `undefined` if the provider cannot know anything about the inquiry. */
export function describeQuestion(hold: HeldInquiry, w: Writer, customerId?: string): string | undefined {
  const { failureType, productCode, customerTraceNumber, endUserCode, since } = hold;
  const ask = isFailureType(failureType) ? FAILURES[failureType].ask : null;
  if (!ask) return undefined;
  const facts = [
    ...(customerId === undefined ? [] : [`customerId ${w.plain(customerId)}`]),
    ...(productCode === 'SECONDUSE' || endUserCode === undefined ? [] : [`endUserCode ${w.plain(endUserCode)}`]),
    ...(since === undefined ? [] : [`attempt shortly before ${w.time(since)}`]),
    ...listAnswerParts(hold, w),
  ];
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `${ask[0]} our ${productCode} request with customerTraceNumber ${customerTraceNumber}${about}. ${ask[1]}`;
}

export interface DecidedInquiry {
  run: RunKind;
  /** `null` for late news, which is no failure. */
  failureType: FailureType | null;
  productCode: ProductCode;
  shareId?: string | undefined;
  attempt: number;
}

/** A decision's effect in a few words, for a list of choices. */
const ACTION_WORDS: Readonly<Record<Exclude<HoldAction, 'resend'> | 'seen', string>> = {
  accept: 'the provider says what the outcome is; continue with that',
  amend: 'a new inquiry, with corrected applicants or the same ones',
  abandon: 'give it up; nothing more is ever sent under it',
  seen: 'an operator has looked into it',
};

function describeHoldAction(action: HoldAction | 'seen', { failureType }: Pick<DecidedInquiry, 'failureType'>): string {
  if (action !== 'resend') return ACTION_WORDS[action];
  if (failureType === 'AnotherNumber') return 'post it under this number too, once';
  return wasClaimed(failureType)
    ? 'send it once more under the same trace number'
    : 'continue; the ledger decides whether anything is sent';
}

/** An outcome that the provider may report in a few words, for a list of choices. */
const OUTCOME_WORDS: Readonly<Record<ReportOutcome, string>> = {
  record: 'there is a report, with a reference',
  noRecord: 'there is no record of the consumer',
  noReport: 'it was answered without a report',
};

/** Describes a decision's effect in sentences. Where the run is gone, its next start does what they say of the run. */
export function describeEffects(
  action: HoldAction | 'seen',
  inquiry: DecidedInquiry,
  { outcome, isPosted = true }: { outcome?: string; isPosted?: boolean } = {},
): string[] {
  const { attempt, productCode } = inquiry;
  const name = RUN_NAMES[inquiry.run];
  switch (action) {
    case 'resend':
      return describeResendEffects(inquiry, name);
    case 'accept':
      return [
        `The ${name} continues with the outcome that the provider gives for attempt ${attempt}${outcome === undefined ? '' : `: ${outcome}`}.`,
        'Nothing is sent.',
        ...(productCode === 'SECONDUSE' && !isPosted ? ['The share ends as `notPosted`.'] : []),
        ...(productCode !== 'SECONDUSE' && !isPosted && inquiry.run === 'journey'
          ? ['Without a record the journey stops here, unless its input says `onNoRecord`: `continue`.']
          : []),
      ];
    case 'amend':
      return ['A new inquiry is sent under a new trace number, with the applicants of the decision, or else the same.'];
    case 'abandon':
      return ['Nothing more is ever sent under this trace number.', describeAbandonEffect(inquiry)];
    case 'seen':
      return ['It is taken off the list of what needs a person. Nothing else changes.'];
  }
}

/** Describes a decision that an operator may make: its effect, and the facts that it requires. */
export function describeAction(action: HoldAction | 'seen', inquiry: DecidedInquiry) {
  const { failureType, productCode } = inquiry;
  const listStatements = (outcome?: ReportOutcome): ProviderSaid[] =>
    action === 'seen' || failureType === null
      ? []
      : [...listPermittingStatements({ failureType, productCode }, { action, outcome })];
  const outcomes =
    action === 'accept'
      ? REPORT_OUTCOMES.map((outcome) => ({
          outcome,
          words: outcome === 'record' && productCode === 'SECONDUSE' ? 'it was posted' : OUTCOME_WORDS[outcome],
          does: describeEffects(action, inquiry, { outcome, isPosted: outcome === 'record' }).join(' '),
          providerSaid: listStatements(outcome),
          needs: outcome === 'record' ? ['reference' as const] : undefined,
        }))
      : undefined;
  const providerSaid = outcomes
    ? PROVIDER_SAID.filter((word) => outcomes.some((outcome) => outcome.providerSaid.includes(word)))
    : listStatements();
  return {
    action,
    words: describeHoldAction(action, inquiry),
    does: describeEffects(action, inquiry).join(' '),
    providerSaid,
    needs: outcomes && ['outcome' as const],
    outcomes,
    needsProviderSaid: providerSaid.length > 0 && !providerSaid.includes('notAsked'),
  };
}

function describeResendEffects({ failureType, attempt, run }: DecidedInquiry, name: string): string[] {
  if (failureType === 'AnotherNumber') {
    return [
      'The inquiry is posted under this number all the same, once.',
      'If the other one was posted, that is a second inquiry on the consumer’s file.',
      ...(run === 'portfolio' ? ['The decision is about every row of this review in the same state.'] : []),
    ];
  }
  if (!wasClaimed(failureType)) {
    return [`The ${name} continues with attempt ${attempt}; the ledger decides whether it is sent.`];
  }
  const doubt = 'If it was posted after all, that is a second inquiry on the consumer’s file.';
  return [
    `The inquiry is sent once more, as attempt ${attempt + 1} under the same trace number.`,
    ...(failureType === 'OutcomeUnknown' ? [doubt] : []),
  ];
}

function wasClaimed(failureType: FailureType | null): boolean {
  return failureType === null || FAILURES[failureType].state !== null;
}

function describeAbandonEffect({ run, shareId }: DecidedInquiry): string {
  switch (run) {
    case 'journey':
      if (shareId !== undefined) return 'The journey continues without this share.';
      return 'The journey ends with this stage; after a repeat it continues with the earlier report.';
    case 'pull':
    case 'share':
      return `The ${run} ends with it.`;
    case 'portfolio':
      return 'The review continues with its other rows.';
  }
}
