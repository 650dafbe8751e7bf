/** What configuration decides for all inquiries of a profile: which refusals count as unprocessed. */
import type { GatewayProfile } from '../../gateway/profile.ts';
import type { Check } from './check.ts';
import { pass } from './finding.ts';

export function standingDecisionChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].map(statusesCheck);
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
