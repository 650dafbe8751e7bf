/** Sends runs the consents that the ledger has and the runs have lost. The ledger recognizes the repeated messages. */
import { omitUndefined } from '../base/defined.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { CreditJourneys } from '../client/credit-journeys.ts';
import type { AuditedConsent } from '../ledger/audit/audited.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { parseRunKey } from '../model/run-key.ts';
import type { BehindRun } from './temporal-behind.ts';

export interface SentConsents {
  sent: number;
  /** The error's own words name a path and a rule at most. */
  failed: { runKey: string; shareId: string; consentId: string; error: string }[];
}

const AT_ONCE = 8;

/**
 * Sends the consents of one run in the order in which the ledger took them, and serves several runs in parallel. The
 * ledger keeps a refusal and applies it to each claim, even if the run never receives it again.
 */
export async function sendConsents(journeys: CreditJourneys, behind: readonly BehindRun[]): Promise<SentConsents> {
  const told: SentConsents = { sent: 0, failed: [] };
  const open = behind.filter(({ kind, consents }) => kind === 'behind' && consents.length > 0);
  await inParallel(open, AT_ONCE, async ({ runKey, consents }) => {
    for (const consent of consents) {
      const error = await send(journeys, consent);
      if (error === undefined) told.sent++;
      else told.failed.push({ runKey, shareId: consent.shareId, consentId: consent.consentId, error });
    }
  });
  return told;
}

/** Returns why the run did not take the consent, or `undefined` if it did. */
async function send(journeys: CreditJourneys, consent: AuditedConsent): Promise<string | undefined> {
  const { kind, id } = parseRunKey(consent.journeyId);
  const message = toMessage(consent);
  try {
    if (kind === 'share') await journeys.getShare(id).recordConsent(message);
    else await journeys.get(id).recordConsent({ ...message, shareId: consent.shareId });
    return undefined;
  } catch (error) {
    if (error instanceof CreditJourneyError || (error instanceof Error && error.name === 'InvalidInputError')) {
      return error.message;
    }
    throw error;
  }
}

function toMessage({ applicantId, consentId, decision, decidedAt, ...consent }: AuditedConsent) {
  const { evidence, proof, endUserCode, endUser } = consent;
  return {
    ...{ applicantId, consentId, decision, decidedAt },
    secondaryUser: endUserCode === undefined ? { endUser: endUser ?? '' } : { endUserCode },
    ...omitUndefined({ evidence, proof }),
  };
}
