import { canonicalRequest } from '../gateway/requests.ts';
import type { JourneyActivities } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translating } from './failures.ts';
import { buildRequest, profileOfRun } from './inquiry-request.ts';

/**
 * Activities that only read or write the ledger: each is idempotent, so Temporal may repeat it without limit.
 *
 * @throws `LedgerUnavailable` (repeated), `LedgerChanged` (final).
 */
export function createLedgerActivities(
  dependencies: ActivityDependencies,
): Pick<JourneyActivities, 'lookUpInquiry' | 'recordOutcome' | 'recordDecision'> {
  const { ledger } = dependencies;

  return {
    lookUpInquiry: ({ run, ...content }) =>
      translating(async () => {
        const profile = profileOfRun(dependencies, run);
        const digest = ledger.digest(canonicalRequest(buildRequest(profile, content, new Date())));
        return ledger.lookUp(run.ledgerId, content.inquiry.customerTraceNumber, digest);
      }),

    recordOutcome: (record) => translating(() => ledger.recordOutcome(record)),

    recordDecision: ({ ledgerId, inquiry, decision }) =>
      translating(() => ledger.recordDecision(ledgerId, inquiry, decision)),
  };
}
