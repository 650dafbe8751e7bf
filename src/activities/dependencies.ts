import type { Config } from '../config-shape.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { TokenSource } from '../gateway/token-source.ts';
import type { Ledger } from '../ledger/port.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { ConsentProofVerifier } from '../protection/consent-proof.ts';

/** What the worker gives its activities. */
export interface ActivityDependencies {
  config: Pick<Config, 'environment' | 'profiles' | 'protocol' | 'webhooks' | 'portfolioDirectory'>;
  ledger: Ledger;
  tokens: TokenSource;
  /** By profile name. */
  gateways: ReadonlyMap<string, GatewayClient>;
  checkConsentProof: ConsentProofVerifier;
  /** Those of the project's search attributes that the server has registered. */
  registeredSearchAttributes(): Promise<SearchAttributeName[]>;
  /** Whether this run's input lies encrypted in Temporal's database. */
  startedEncrypted(execution: { workflowId: string; runId: string }): Promise<boolean>;
}

/** Of a start's input. @throws InvalidInputError where the configuration has no such profile. */
export function profileNamed(dependencies: ActivityDependencies, name: string): GatewayProfile {
  const profile = dependencies.config.profiles.get(name);
  if (!profile) {
    const known = [...dependencies.config.profiles.keys()].join(', ');
    throw new InvalidInputError([{ path: '/profile', rule: `must be a configured gateway profile: ${known}` }]);
  }
  return profile;
}

/** This worker lacks a profile that another one has prepared a run with, such as in the middle of a deploy. */
export class ProfileMissingError extends Error {
  override readonly name = 'ProfileMissingError';
}

/**
 * Of a run that was prepared. The caller's input is not to blame where this worker lacks it, so the activity is repeated
 * until a worker has it that does not.
 *
 * @throws ProfileMissingError
 */
export function preparedProfile(dependencies: ActivityDependencies, name: string): GatewayProfile {
  const profile = dependencies.config.profiles.get(name);
  if (!profile) throw new ProfileMissingError('this worker lacks the profile of the run');
  return profile;
}
