import { canonicalRequest } from '../gateway/requests.ts';
import type { ConsentRecord } from '../ledger/port.ts';
import { parseConsent } from '../validation/messages.ts';
import type { JourneyActivities, RecordConsentsResult } from './contract.ts';
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
): Pick<
  JourneyActivities,
  'lookUpInquiry' | 'recordOutcome' | 'recordDecision' | 'recordConsents' | 'recordLateConsentMessage'
> {
  const { ledger } = dependencies;

  async function record(
    ledgerId: string,
    consents: ConsentRecord[],
    refusals: ConsentRecord[],
  ): Promise<RecordConsentsResult> {
    await ledger.recordConsents(ledgerId, consents);
    let postedSharesFlagged = 0;
    for (const refusal of refusals) postedSharesFlagged += await ledger.flagPostedShares(ledgerId, refusal);
    return { postedSharesFlagged };
  }

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

    recordConsents: ({ ledgerId, consents, refusalsAfterPosting }) =>
      translating(() => record(ledgerId, consents, refusalsAfterPosting)),

    recordLateConsentMessage: ({ consent, receivedAt }) =>
      translating(() => {
        const late = { ...parseConsent(consent), receivedAt };
        return record(ledger.identity.ledgerId, [late], late.decision === 'granted' ? [] : [late]);
      }),
  };
}
