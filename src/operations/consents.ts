/** Listings of the applicants' consents: all of them, and the unmatched ones. */
import { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import { type AuditedConsent, auditedConsent, instant, text } from '../ledger/audit/audited.ts';
import { UNMATCHED, type UnmatchedConsent } from '../ledger/consents/consents.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReadersReach } from '../ledger/owners.ts';
import { describeConsent } from '../words/records.ts';
import { defineListing, recordFilters } from './operation.ts';

export const consents = defineListing({
  name: 'consents',
  summary: 'list consents: who granted or refused what, when and with which evidence, posted or not',
  scope: 'inquiries:read',
  input: z.strictObject({
    ...recordFilters,
    proofs: z
      .enum(['true'])
      .exactOptional()
      .describe('With the proofs (compact JWS) that consent systems have signed.'),
  }),
  output: auditedConsent,
  order: ['recordedAt', 'journeyId', 'shareId', 'applicantId', 'consentId', 'decision'],
  owner: 'journeyId',
  read: readConsents,
  describe: describeConsent,
});

/** The content of a proof belongs to the consent system, and is long. The reader gets it only on request. */
async function* readConsents(
  ledger: Ledger,
  { proofs, ...query }: Parameters<Ledger['consentsBetween']>[0] & { proofs?: 'true' },
): AsyncGenerator<AuditedConsent> {
  for await (const { proof, ...row } of ledger.consentsBetween(query)) {
    yield { ...row, ...omitUndefined({ proof: proofs && proof }) };
  }
}

export const unmatchedConsents = defineListing({
  name: 'unmatched-consents',
  path: '/v1/unmatched-consents',
  summary: 'list the consents that match no journey, share or applicant, the oldest first',
  description:
    'The ledger keeps them, and they count once it knows what they name. The API cannot tell which token an unknown id will ' +
    'belong to, so only a token for all profiles and end users sees such an id.',
  scope: 'holds:read',
  input: z.strictObject({}),
  output: z
    .object({
      since: instant,
      journeyId: text.meta({ description: 'The id in the consent: a journeyId, or share:<shareId>.' }),
      ...{ shareId: text, applicantId: text, consentId: text, decision: auditedConsent.shape.decision },
      unmatched: z.enum(UNMATCHED).meta({ description: 'What the ledger does not know yet.' }),
    })
    .meta({ id: 'unmatchedConsent' }),
  order: ['since', 'journeyId', 'shareId', 'applicantId', 'consentId', 'decision'],
  owner: 'journeyId',
  read: readUnmatched,
  describe: (consent) => ({
    at: consent.since,
    text: `Consent ${consent.decision} by applicant ${consent.applicantId}: share ${consent.shareId}, ${consent.consentId}. It matches no ${consent.unmatched} that the ledger knows.`,
    runKey: consent.journeyId,
    facts: [],
  }),
});

const READ_AT_ONCE = 200;

async function* readUnmatched(
  ledger: Ledger,
  { from, ...reach }: ReadersReach & { from?: string },
): AsyncGenerator<UnmatchedConsent> {
  const nothing = { journeyId: '', shareId: '', applicantId: '', consentId: '', decision: '' };
  let after = from === undefined ? undefined : ({ ...nothing, since: from } as unknown as UnmatchedConsent);
  for (let isFull = true; isFull; ) {
    const rows = await ledger.consents.unmatched({ limit: READ_AT_ONCE, ...omitUndefined({ after }), ...reach });
    yield* rows;
    after = rows.at(-1);
    isFull = rows.length === READ_AT_ONCE;
  }
}
