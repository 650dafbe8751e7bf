/**
 * The failure types of the inquiry protocol, and the decisions that are allowed about each. docs/protocol.md prints
 * this table of reason × allowed actions. Pure.
 */

export const FAILURE_TYPES = [
  'TokenUnavailable',
  'CredentialsRefused',
  'LedgerUnavailable',
  'GatewayUnreachable',
  'GatewayUntrusted',
  'TokenRejected',
  'Throttled',
  'NotEntitled',
  'RequestRefused',
  'OutcomeUnknown',
  'AnsweredLate',
  'UnexpectedResponse',
  'ReturnCodeUnknown',
  'ProfileChanged',
  'RequestDiffers',
  'AnotherNumber',
  'LedgerChanged',
  'LedgerRestored',
  'Paused',
  'InvalidInput',
  'ActivityFailed',
] as const;
export type FailureType = (typeof FAILURE_TYPES)[number];

export const HOLD_ACTIONS = ['resend', 'accept', 'amend', 'abandon'] as const;
export type HoldAction = (typeof HOLD_ACTIONS)[number];

/** A decision that the ledger keeps: about a hold, or to pull a stage once more. */
export type DecisionAction = HoldAction | 'repeat';

/**
 * The decisions that are allowed about a hold, by its reason.
 *
 * - `resend`: try again under the same trace number. If nothing was claimed, the run only continues.
 * - `accept`: the provider has reported the outcome; continue with it.
 * - `amend`: a new inquiry under a new trace number, with corrected applicants, or with the same ones.
 * - `abandon`: nothing more is ever sent under this trace number.
 */
export const ALLOWED_ACTIONS: Record<FailureType, readonly HoldAction[]> = {
  OutcomeUnknown: ['resend', 'accept', 'abandon'],
  AnsweredLate: ['accept', 'abandon'],
  RequestRefused: ['amend', 'abandon'],
  UnexpectedResponse: ['accept', 'abandon'],
  ReturnCodeUnknown: ['accept', 'amend', 'abandon'],
  RequestDiffers: ['amend', 'abandon'],
  // Here a resend permits this number beside the other one, once.
  AnotherNumber: ['resend', 'abandon'],
  InvalidInput: ['resend', 'amend', 'abandon'],
  NotEntitled: ['resend', 'abandon'],
  CredentialsRefused: ['resend', 'abandon'],
  GatewayUntrusted: ['resend', 'abandon'],
  ProfileChanged: ['resend', 'abandon'],
  LedgerChanged: ['resend', 'abandon'],
  ActivityFailed: ['resend', 'abandon'],
  // The run retries the next five without a decision; they become holds only when `giveUpAfter` is over.
  TokenUnavailable: ['resend', 'abandon'],
  LedgerUnavailable: ['resend', 'abandon'],
  LedgerRestored: ['resend', 'abandon'],
  GatewayUnreachable: ['resend', 'abandon'],
  Throttled: ['resend', 'abandon'],
  // A second refusal is CredentialsRefused; listed so that the table is whole.
  TokenRejected: ['resend', 'abandon'],
  // Waits for as long as the pause lasts, and never becomes a hold; listed so that the table is whole.
  Paused: ['resend', 'abandon'],
};

/** Holds whose inquiry may have been posted: an operator decides about them even if no run waits. */
export const MAY_BE_POSTED: readonly FailureType[] = [
  'OutcomeUnknown',
  'AnsweredLate',
  'UnexpectedResponse',
  'ReturnCodeUnknown',
];

/** The failures that the workflow's retry loop may retry. Nothing was posted, and a new attempt needs no operator. */
export const RETRIED_BY_THEMSELVES = [
  'TokenUnavailable',
  'LedgerUnavailable',
  'LedgerRestored',
  'Paused',
  'GatewayUnreachable',
  'TokenRejected',
  'Throttled',
] as const satisfies readonly FailureType[];

export function isFailureType(value: unknown): value is FailureType {
  return (FAILURE_TYPES as readonly unknown[]).includes(value);
}
