import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Config } from '../config/config.ts';
import { PROFILE_NAME } from '../fields/fields.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { TokenSource } from '../gateway/token-source.ts';
import { LedgerRestoredError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HighWaterMark } from '../model/ledger-watch.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { ConsentProofVerifier, DecisionProofVerifier } from '../protection/proofs.ts';
import type { InquirySlots } from './inquiry-slots.ts';

/** Everything that the worker gives its activities. */
export interface ActivityDependencies {
  config: Pick<Config, 'environment' | 'profiles' | 'protocol' | 'webhooks' | 'portfolioDirectory' | 'runbookUrl'>;
  ledger: Ledger;
  tokens: TokenSource;
  /** By profile name. */
  gateways: ReadonlyMap<string, GatewayClient>;
  /** By profile name. Attempts from the workflow queue and from the gateway queue share a pool. */
  slots: ReadonlyMap<string, InquirySlots>;
  checkConsentProof: ConsentProofVerifier;
  checkDecisionProof: DecisionProofVerifier;
  /** Returns the project's search attributes that the server has registered. */
  registeredSearchAttributes(): Promise<SearchAttributeName[]>;
}

/**
 * Finds the profile that a start's input names. If this worker lacks it, another worker may have it, for example during
 * a deploy. The run says so in its status, and asks again before it fails.
 *
 * @throws ProfileUnknownError for a well-formed name
 * @throws InvalidInputError for a malformed name
 */
export function findProfile({ config }: ActivityDependencies, name: string): GatewayProfile {
  const profile = config.profiles.get(name);
  if (profile) return profile;
  const known = [...config.profiles.keys()].join(', ');
  const problems = [{ path: '/profile', rule: `must be a configured gateway profile: ${known}` }];
  throw PROFILE_NAME.test(name) ? new ProfileUnknownError(problems) : new InvalidInputError(problems);
}

/** Thrown when this worker lacks the profile of a new run. The input is wrong unless another worker has the profile. */
export class ProfileUnknownError extends InvalidInputError {}

/**
 * Finds the profile of a run whose input was accepted before. If this worker lacks it, for example during a deploy,
 * Temporal repeats the activity until a worker that has the profile takes it.
 *
 * @throws `ActivityFailed` (repeated), with a message that the Temporal UI shows meanwhile
 */
export function findPreparedProfile(dependencies: ActivityDependencies, name: string): GatewayProfile {
  const profile = dependencies.config.profiles.get(name);
  if (profile) return profile;
  const message = 'this worker lacks the gateway profile of the run: a worker that has the profile must take it';
  throw ApplicationFailure.create({ type: 'ActivityFailed', message });
}

/** The run that called the activity, in the form that the ledger keeps. */
export function getCallingRun(): { workflowId: string; runId: string } {
  const { workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error('an activity that belongs to no workflow');
  return { workflowId: workflowExecution.workflowId, runId: workflowExecution.runId };
}

/**
 * Returns unless the ledger is an older copy: what that would acknowledge is lost once a newer one is back.
 *
 * @throws LedgerRestoredError
 */
export async function requireNewest(ledger: Ledger, ledgerId: string, highWaterMark?: HighWaterMark): Promise<void> {
  const { lost } = await ledger.watch(ledgerId, highWaterMark);
  if (lost) throw new LedgerRestoredError('an older copy of the ledger may lack what was recorded since');
}
