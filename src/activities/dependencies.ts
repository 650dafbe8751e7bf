import { activityInfo } from '@temporalio/activity';
import type { Config } from '../config/config-shape.ts';
import { PROFILE_NAME } from '../fields/fields.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { TokenSource } from '../gateway/token-source.ts';
import type { Ledger } from '../ledger/port.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { ConsentProofVerifier } from '../protection/proofs/consent-proof.ts';
import type { DecisionProofVerifier } from '../protection/proofs/decision-proof.ts';

/** What the worker gives its activities. */
export interface ActivityDependencies {
  config: Pick<Config, 'environment' | 'profiles' | 'protocol' | 'webhooks' | 'portfolioDirectory'>;
  ledger: Ledger;
  tokens: TokenSource;
  /** By profile name. */
  gateways: ReadonlyMap<string, GatewayClient>;
  checkConsentProof: ConsentProofVerifier;
  checkDecisionProof: DecisionProofVerifier;
  /** Those of the project's search attributes that the server has registered. */
  registeredSearchAttributes(): Promise<SearchAttributeName[]>;
  /** Whether another worker polls the gateway queue of a profile that this one lacks. */
  isServedElsewhere(profile: string): Promise<boolean>;
  /** Whether this run's input lies encrypted in Temporal's database. */
  startedEncrypted(execution: { workflowId: string; runId: string }): Promise<boolean>;
}

/**
 * At this attempt of a start's check its profile may be called unknown, 7 s after the first: by then the workers poll
 * again after a restart of the server, which has forgotten them.
 */
const LOOKS_FOR_A_PROFILE = 4;

/**
 * Finds the profile that a start's input names. Where this worker lacks it, another worker that has it is to take the
 * check. Only a profile that no worker has is the caller's mistake.
 *
 * @throws ProfileMissingError (repeated) where another worker has it, or may have it
 * @throws InvalidInputError where no worker has it
 */
export async function profileNamed(dependencies: ActivityDependencies, name: string): Promise<GatewayProfile> {
  const { config, isServedElsewhere } = dependencies;
  const profile = config.profiles.get(name);
  if (profile) return profile;
  // No gateway queue has such a name, and a queue's name is bounded.
  const mayExist = PROFILE_NAME.test(name);
  if (mayExist && (activityInfo().attempt < LOOKS_FOR_A_PROFILE || (await isServedElsewhere(name)))) {
    throw new ProfileMissingError();
  }
  const known = [...config.profiles.keys()].join(', ');
  throw new InvalidInputError([{ path: '/profile', rule: `must be a configured gateway profile: ${known}` }]);
}

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
