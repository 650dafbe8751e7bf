import { activityInfo } from '@temporalio/activity';
import type { Config } from '../config/config.ts';
import { PROFILE_NAME } from '../fields/fields.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { TokenSource } from '../gateway/token-source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { ConsentProofVerifier, DecisionProofVerifier } from '../protection/proofs.ts';
import type { InquiryPermits } from './inquiry-permits.ts';

/** What the worker gives its activities. */
export interface ActivityDependencies {
  config: Pick<Config, 'environment' | 'profiles' | 'protocol' | 'webhooks' | 'portfolioDirectory' | 'runbookUrl'>;
  ledger: Ledger;
  tokens: TokenSource;
  /** By profile name. */
  gateways: ReadonlyMap<string, GatewayClient>;
  /** By profile name: for attempts from both queues. */
  permits: ReadonlyMap<string, InquiryPermits>;
  checkConsentProof: ConsentProofVerifier;
  checkDecisionProof: DecisionProofVerifier;
  /** Those of the project's search attributes that the server has registered. */
  registeredSearchAttributes(): Promise<SearchAttributeName[]>;
}

/**
 * Finds the profile that a start's input names. Where this worker lacks it, another worker may have it, such as in the
 * middle of a deploy: the run says so in its status, and asks again before it fails.
 *
 * @throws ProfileUnknownError for a name that a profile may have
 * @throws InvalidInputError for any other name
 */
export function profileNamed({ config }: ActivityDependencies, name: string): GatewayProfile {
  const profile = config.profiles.get(name);
  if (profile) return profile;
  const known = [...config.profiles.keys()].join(', ');
  const problems = [{ path: '/profile', rule: `must be a configured gateway profile: ${known}` }];
  throw PROFILE_NAME.test(name) ? new ProfileUnknownError(problems) : new InvalidInputError(problems);
}

/** This worker lacks the profile that a start names: the input is wrong unless another worker has it. */
export class ProfileUnknownError extends InvalidInputError {}

/** This worker lacks a profile that another one has prepared a run with, such as in the middle of a deploy. */
export class ProfileMissingError extends Error {
  override readonly name = 'ProfileMissingError';

  constructor() {
    super('this worker lacks the gateway profile of the run: another one has to take it');
  }
}

/**
 * Finds the profile of a prepared run. Where this worker lacks it, the caller's input is not at fault: Temporal repeats
 * the activity until a worker that has the profile takes it.
 *
 * @throws ProfileMissingError
 */
export function preparedProfile(dependencies: ActivityDependencies, name: string): GatewayProfile {
  const profile = dependencies.config.profiles.get(name);
  if (!profile) throw new ProfileMissingError();
  return profile;
}

/** The run that an activity belongs to, as the ledger keeps it beside what was done for it. */
export function callingRun(): { workflowId: string; runId: string } {
  const { workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error('an activity that belongs to no workflow');
  return { workflowId: workflowExecution.workflowId, runId: workflowExecution.runId };
}
