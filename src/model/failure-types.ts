/**
 * The failure types of the inquiry protocol, and what a person may decide about each: the one table of
 * reason × allowed actions (docs/protocol.md prints it). Pure; see docs/protocol.md.
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
  'UnexpectedResponse',
  'ReturnCodeUnknown',
  'ProfileChanged',
  'RequestDiffers',
  'AnotherNumber',
  'LedgerChanged',
  'LedgerRestored',
  'InvalidInput',
  'ActivityFailed',
] as const;
export type FailureType = (typeof FAILURE_TYPES)[number];

export const HOLD_ACTIONS = ['resend', 'accept', 'amend', 'abandon'] as const;
export type HoldAction = (typeof HOLD_ACTIONS)[number];

/** What the ledger keeps as a decision: about a hold, or that a stage is pulled once more. */
export type DecisionAction = HoldAction | 'repeat';

/**
 * What may be decided about a hold, by its reason.
 *
 * - `resend`: try again under the same trace number. Where nothing was claimed, it only means "go on".
 * - `accept`: the provider says what came of it; go on with that.
 * - `amend`: a new inquiry under a new trace number, with corrected applicants.
 * - `abandon`: nothing more is ever sent under this trace number.
 */
export const ALLOWED_ACTIONS: Record<FailureType, readonly HoldAction[]> = {
  OutcomeUnknown: ['resend', 'accept', 'abandon'],
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
  // The next five are retried by themselves; they become holds only when `giveUpAfter` is over.
  TokenUnavailable: ['resend', 'abandon'],
  LedgerUnavailable: ['resend', 'abandon'],
  LedgerRestored: ['resend', 'abandon'],
  GatewayUnreachable: ['resend', 'abandon'],
  Throttled: ['resend', 'abandon'],
  // A second refusal is CredentialsRefused; listed so that the table is whole.
  TokenRejected: ['resend', 'abandon'],
};

/** Nothing was posted and trying again needs nobody: the allow-list of the workflow's retry loop. */
export const RETRIED_BY_THEMSELVES = [
  'TokenUnavailable',
  'LedgerUnavailable',
  'LedgerRestored',
  'GatewayUnreachable',
  'TokenRejected',
  'Throttled',
] as const satisfies readonly FailureType[];

export function isFailureType(value: unknown): value is FailureType {
  return (FAILURE_TYPES as readonly unknown[]).includes(value);
}
