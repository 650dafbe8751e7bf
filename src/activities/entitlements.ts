import type { GatewayProfile } from '../gateway/profile.ts';
import type { Problem } from '../model/problems.ts';
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
  const purposes = allowed?.permissiblePurposeCodes;
  if (purpose !== undefined && purposes?.includes(purpose) === false) {
    const rule = `must be a purpose that the profile allows for ${asked.productCode}: ${purposes.join(', ')}`;
    problems.push({ path: asked.purposePath, rule });
  }
  return problems;
}
