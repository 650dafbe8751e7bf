/**
 * The catalogue of failures of the inquiry protocol: one row for each type. Messages, retries, holds, decisions and
 * words are read from it; docs/protocol.md prints the decisions. Pure.
 */
import type { WaitsFor } from './search-attributes.ts';

export const HOLD_ACTIONS = ['resend', 'accept', 'amend', 'abandon'] as const;
export type HoldAction = (typeof HOLD_ACTIONS)[number];

/** A decision that the ledger keeps: about a hold, or to pull a stage once more. */
export type DecisionAction = HoldAction | 'repeat';

/** The attempt's states (`ATTEMPT_STATES`) that a failure may lead to. */
type FailedState =
  | ('notSent' | 'notProcessed' | 'unknown' | 'refused' | 'notEntitled')
  | ('credentialsRefused' | 'untrusted' | 'answered');

interface Failure {
  /** The message of Temporal's failure and of the gateway's error. Histories and logs keep it in the clear. */
  message: string;
  source: 'gateway' | 'answer' | 'ledger' | 'worker';
  /** The state that it gives a claimed attempt in the ledger. `null`: nothing was claimed. */
  state: FailedState | null;
  /** Whether the attempt has posted an inquiry. Unless it is `none`, an operator decides even if no run waits. */
  posting: 'none' | 'possible' | 'certain';
  /** How the run repeats it without an operator: nothing was posted. `null`: it becomes a hold at once. */
  retry: {
    /** `unclaimed`: only where the attempt was not claimed. */
    if: 'always' | 'unclaimed';
    /** Follows `waiting 5 s: `, except of a pause. */
    why: string;
    /** The reason in lists; `null` if they show none. */
    waitsFor: WaitsFor | null;
  } | null;
  /**
   * The decisions that are allowed about its hold.
   *
   * - `resend`: try again under the same trace number. If nothing was claimed, the run only continues.
   * - `accept`: the provider has reported the outcome; continue with it.
   * - `amend`: a new inquiry under a new trace number, with corrected applicants, or with the same ones.
   * - `abandon`: nothing more is ever sent under this trace number.
   */
  actions: readonly HoldAction[];
  happened: string;
  /** The possible postings of this attempt: in short, as the runbook has it, and the rest of the sentence. */
  file: readonly [brief: string, more: string];
  /** The question for the provider, before and after the request's name. `null` if the provider cannot know. */
  ask: readonly [string, string] | null;
}

const NOTHING = [
  'nothing by this attempt',
  ': it was not sent, or not processed. The ledger was asked for earlier ones.',
] as const;
const REFUSED = ['nothing, as far as a refusal shows', '; the interface does not say so.'] as const;

const WAS_IT_POSTED = [
  'We have no usable answer to',
  'Was an inquiry posted for it? If so: with which returnCode, which reportReferenceNumber, and which consumerId for each applicant?',
] as const;
const WHAT_CAME_OF_IT = [
  'We cannot use the answer to',
  'Which returnCode did it get (and what does it mean), which reportReferenceNumber, and which consumerId for each applicant?',
] as const;
const WHY_REFUSED = ['You refused', 'Was it refused without an inquiry being posted, and what has to change?'] as const;
const MAY_WE_GO_ON = [
  'We could not get through with',
  'Do you know of it at all, and is there anything wrong with our access or with your service?',
] as const;

/** Most failures: nothing was claimed or posted, and an operator can only repeat the attempt or give it up. */
const NOT_POSTED = {
  state: null,
  posting: 'none',
  retry: null,
  actions: ['resend', 'abandon'],
  file: NOTHING,
  ask: null,
} as const satisfies Partial<Failure>;

const GATEWAY_FAILED = { ...NOT_POSTED, source: 'gateway', ask: MAY_WE_GO_ON } as const;

/** The inquiry was posted, and its answer is of no use. */
const POSTED_ANSWER = {
  source: 'answer',
  state: 'answered',
  posting: 'certain',
  retry: null,
  actions: ['accept', 'abandon'],
  file: ['one inquiry', '.'],
  ask: WHAT_CAME_OF_IT,
} as const satisfies Partial<Failure>;

const CATALOGUE = {
  TokenUnavailable: {
    ...GATEWAY_FAILED,
    message: 'the token service cannot be reached or is not answering',
    retry: { if: 'always', why: 'the token service is not answering', waitsFor: 'gateway' },
    happened: 'the token service did not answer for longer than the retries last.',
  },
  CredentialsRefused: {
    ...GATEWAY_FAILED,
    message:
      'the credentials or the token were refused; check the secret, and that this address is on the provider’s allow-list',
    state: 'credentialsRefused',
    happened: 'the token service or the gateway refused our credentials, or this address is not allow-listed.',
  },
  LedgerUnavailable: {
    ...NOT_POSTED,
    message: 'the ledger cannot be reached',
    source: 'ledger',
    retry: { if: 'always', why: 'the ledger cannot be reached', waitsFor: 'ledger' },
    happened: 'our ledger could not be reached for longer than the retries last; without it nothing is sent.',
    file: [
      'not known until the ledger can be asked',
      ': an earlier run may have made an attempt. This run has sent nothing since.',
    ],
  },
  GatewayUnreachable: {
    ...GATEWAY_FAILED,
    message: 'the gateway cannot be reached; nothing was sent',
    state: 'notSent',
    retry: { if: 'always', why: 'the gateway cannot be reached', waitsFor: 'gateway' },
    happened: 'the gateway could not be reached for longer than the retries last.',
  },
  GatewayUntrusted: {
    ...GATEWAY_FAILED,
    message: 'the worker refused the gateway’s certificate or protocol; nothing was sent',
    state: 'untrusted',
    happened: 'the worker refused the gateway’s TLS certificate, name or protocol: a configuration error, or worse.',
  },
  TokenRejected: {
    ...GATEWAY_FAILED,
    message: 'the gateway said 401; by a standing decision the inquiry was not processed',
    state: 'notProcessed',
    // Repeated at once with a new token. A second refusal is `CredentialsRefused`.
    retry: { if: 'always', why: 'the gateway refused the token', waitsFor: null },
    happened: 'the gateway refused the token.',
  },
  Throttled: {
    ...GATEWAY_FAILED,
    message: 'the gateway said to wait; by a standing decision the inquiry was not processed',
    state: 'notProcessed',
    retry: { if: 'always', why: 'the gateway said to wait', waitsFor: 'gateway' },
    happened: 'the gateway told us to wait for longer than the retries last.',
  },
  NotEntitled: {
    ...GATEWAY_FAILED,
    message: 'the gateway said 403: this customer may not ask for that',
    state: 'notEntitled',
    happened: 'the gateway says that this request is not allowed to us.',
    file: REFUSED,
    ask: WHY_REFUSED,
  },
  RequestRefused: {
    ...GATEWAY_FAILED,
    message: 'the gateway refused the request as it stands',
    state: 'refused',
    actions: ['amend', 'abandon'],
    happened: 'the gateway refused the request.',
    file: REFUSED,
    ask: WHY_REFUSED,
  },
  OutcomeUnknown: {
    message: 'the request was begun and its answer is lost: it may have posted an inquiry',
    source: 'gateway',
    state: 'unknown',
    posting: 'possible',
    retry: null,
    actions: ['resend', 'accept', 'abandon'],
    happened: 'the request was at least partly sent, and no usable answer came.',
    file: ['0 or 1 inquiry', '. Only the provider knows which: ask before you decide.'],
    ask: WAS_IT_POSTED,
  },
  AnsweredLate: {
    ...POSTED_ANSWER,
    message: 'an attempt that an operator had given up was answered late: it was posted',
    state: 'unknown',
    happened:
      'an answer to this attempt came after an operator had decided to send the inquiry again. No attempt after it was posted.',
  },
  UnexpectedResponse: {
    ...POSTED_ANSWER,
    message: 'the inquiry was posted, and its answer cannot be trusted as it stands',
    happened: 'the answer says that it was processed, but its content may not be trusted.',
  },
  ReturnCodeUnknown: {
    ...POSTED_ANSWER,
    message: 'the inquiry was posted, and its returnCode is not in the product’s table',
    actions: ['accept', 'amend', 'abandon'],
    happened: 'the answer has a return code that the product’s table lacks.',
  },
  ProfileChanged: {
    ...NOT_POSTED,
    message: 'the gateway profile is not the one that the run started with; nothing was sent',
    source: 'worker',
    happened:
      'the gateway profile’s addresses, API version, audience or customer are not those that this run started with, and the profile does not name them as former ones.',
  },
  RequestDiffers: {
    ...NOT_POSTED,
    message: 'another request was made under this trace number',
    source: 'ledger',
    actions: ['amend', 'abandon'],
    happened: 'the ledger has another request under this trace number, of another run with other data.',
    file: ['nothing by this attempt', '; the other request may have been posted.'],
    ask: WAS_IT_POSTED,
  },
  AnotherNumber: {
    ...NOT_POSTED,
    message: 'the ledger has this inquiry under another trace number; nothing was sent',
    source: 'ledger',
    // Its resend permits this number beside the other one, once.
    happened: 'the ledger has this very inquiry under another trace number: it was made for another `customerId`.',
    file: [
      'nothing by this attempt',
      '; the other one may have been posted. `credit-journey inquiries` shows its outcome.',
    ],
  },
  LedgerChanged: {
    ...NOT_POSTED,
    message: 'this is not the ledger that the run has used',
    source: 'ledger',
    happened: 'the ledger is not the one that this run has used, or an older copy of it.',
    file: ['not known', ': what this run’s attempts have posted is not in this ledger.'],
    ask: WAS_IT_POSTED,
  },
  LedgerRestored: {
    ...NOT_POSTED,
    message: 'this is an older copy of the ledger, which no operator has accepted; nothing is sent',
    source: 'ledger',
    retry: {
      if: 'always',
      why: 'an older copy of the ledger was put back, which an operator has to accept',
      waitsFor: 'ledger',
    },
    happened:
      'an older copy of our ledger was put back, and no operator has accepted it for longer than the retries last.',
    file: ['not known', ': what was posted since that copy was made is not in this ledger.'],
  },
  Paused: {
    ...NOT_POSTED,
    message: 'an operator has paused inquiries; nothing was sent',
    source: 'ledger',
    // Waits for as long as the pause lasts, and never becomes a hold.
    retry: { if: 'always', why: 'inquiries are paused until an operator resumes them', waitsFor: 'pause' },
    happened: 'an operator has paused inquiries. The run continues by itself once they are resumed.',
  },
  InvalidInput: {
    ...NOT_POSTED,
    message: 'the input is invalid; nothing was sent',
    source: 'worker',
    actions: ['resend', 'amend', 'abandon'],
    happened: 'the request cannot be built from this input.',
  },
  ActivityFailed: {
    ...NOT_POSTED,
    message: 'the activity could not be carried out',
    source: 'worker',
    retry: { if: 'unclaimed', why: 'the attempt failed before it was claimed', waitsFor: null },
    happened: 'the attempt failed before it was claimed; the ledger has none of it. The timeline shows how.',
  },
} as const satisfies Record<string, Failure>;

export type FailureType = keyof typeof CATALOGUE;
export const FAILURE_TYPES = Object.keys(CATALOGUE) as FailureType[];

export const FAILURES: Readonly<Record<FailureType, Failure>> = CATALOGUE;

export function isFailureType(value: unknown): value is FailureType {
  return typeof value === 'string' && Object.hasOwn(FAILURES, value);
}

/** The types that the gateway and its token service can cause. */
export type GatewayFailureType = {
  [Type in FailureType]: (typeof CATALOGUE)[Type]['source'] extends 'gateway' ? Type : never;
}[FailureType];

/** Holds whose inquiry may have been posted: an operator decides about them even if no run waits. */
export const MAY_BE_POSTED: readonly FailureType[] = FAILURE_TYPES.filter((type) => FAILURES[type].posting !== 'none');
