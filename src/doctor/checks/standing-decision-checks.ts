/** What configuration decides for all inquiries of a profile: refusals that count as unprocessed, and subset shares. */
import type { GatewayProfile } from '../../gateway/profile.ts';
import type { Check } from './check.ts';
import { pass } from './finding.ts';

export function standingDecisionChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].flatMap((profile) => [statusesCheck(profile), subsetSharesCheck(profile)]);
}

function statusesCheck({ name, notProcessedStatuses }: GatewayProfile): Check {
  return {
    name: `standing-decisions/${name}`,
    needs: ['GATEWAY_NOT_PROCESSED_', 'GATEWAY_PROFILES_FILE'],
    run: async () =>
      pass(
        notProcessedStatuses.length === 0
          ? 'none: whatever the gateway refuses without saying why is an unknown outcome'
          : `${notProcessedStatuses.join(', ')} mean “not processed”, and are sent again without a person`,
      ),
  };
}

function subsetSharesCheck({ name, subsetSharesConfirmed: confirmed }: GatewayProfile): Check {
  return {
    name: `subset-shares/${name}`,
    needs: ['GATEWAY_PROFILES_FILE'],
    run: async () =>
      pass(
        confirmed
          ? `taken: a share may be for those alone who consented, as ${confirmed.by} confirmed on ${confirmed.at} (${confirmed.reference})`
          : 'refused: a share is for all applicants of its report, or for none',
      ),
  };
}
