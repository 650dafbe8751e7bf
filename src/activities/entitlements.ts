import { MOST_TO_CHOOSE_FROM } from '../consent/share-consumers.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { ClaimRequest } from '../ledger/records.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';

/** One product asked for one end user under one purpose, and where the caller wrote the two. */
interface Entitlement {
  productCode: ProductCode;
  endUserCode?: string | undefined;
  permissiblePurposeCode?: string | undefined;
  endUserPath: string;
  purposePath: string;
}

/**
 * Finds what the profile does not allow. What its configuration leaves out may not be asked for; without one,
 * everything may.
 */
export function entitlementProblems(profile: GatewayProfile, asked: Entitlement): Problem[] {
  const allowed = profile.allowed[asked.productCode];
  const problems: Problem[] = [];
  if (asked.endUserCode !== undefined && allowed?.endUserCodes?.includes(asked.endUserCode) === false) {
    problems.push({
      path: asked.endUserPath,
      rule: `must be an end user that the profile allows for ${asked.productCode}`,
    });
  }
  const purpose = asked.permissiblePurposeCode;
  if (purpose !== undefined && allowed?.permissiblePurposeCodes?.includes(purpose) === false) {
    problems.push({
      path: asked.purposePath,
      rule: `must be a purpose that the profile allows for ${asked.productCode}`,
    });
  }
  return problems;
}

/** What is asked of a share's consumers, and where the caller wrote it. */
interface AskedConsumers {
  consumers?: 'all' | 'consented' | undefined;
  /** Of the report; where it is not known yet, the limit is not judged. */
  applicants?: number;
  path: string;
}

/** Why a share may not be for those alone who consent. */
export function consumersProblems(
  { subsetSharesConfirmed }: GatewayProfile,
  { consumers = 'all', applicants = 0, path }: AskedConsumers,
): Problem[] {
  if (consumers === 'all') return [];
  if (!subsetSharesConfirmed) {
    return [{ path, rule: 'must be all: the gateway profile has no subsetSharesConfirmed' }];
  }
  if (applicants <= MOST_TO_CHOOSE_FROM) return [];
  return [{ path, rule: `must be all: the report is about more than ${MOST_TO_CHOOSE_FROM} applicants` }];
}

/**
 * For the claim: whom the share leaves out, and the confirmation that permits it as it is configured now.
 *
 * @throws InvalidInputError where the profile has none
 */
export function subsetOf(
  profile: GatewayProfile,
  leftOut: readonly string[] | undefined,
): ClaimRequest['subset'] | undefined {
  if (!leftOut) return undefined;
  const problems = consumersProblems(profile, { consumers: 'consented', path: '/consumers' });
  const { subsetSharesConfirmed: confirmed } = profile;
  if (!confirmed) throw new InvalidInputError(problems);
  return { leftOut, confirmation: { reference: confirmed.reference, at: confirmed.at } };
}
