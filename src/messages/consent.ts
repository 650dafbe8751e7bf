/** A consent, denial or revocation: to a journey, to a share by itself, and to the ledger where no run is open. */
import { z } from 'zod';
import { getMessageFields, requiredInstant, requireSecondaryUser } from '../fields/fields.ts';
import type { Problem } from '../model/problems.ts';
import { parseRunKey } from '../model/run-key.ts';
import { defineMessage, hasValue, implies, type Loose } from './message.ts';

const fields = getMessageFields();

const schema = z.strictObject({
  journeyId: fields.consentOwner,
  shareId: fields.shareId,
  /** The applicant who decided, by the id in the journey's `applicants`. Each consents alone. */
  applicantId: fields.applicantId.describe('The applicant who decided.'),
  consentId: fields.consentId,
  decision: z.enum(['granted', 'denied', 'revoked']),
  decidedAt: requiredInstant(
    'is required: the time of sending, with decidedNow: true, where the sender has none',
  ).describe('When the person decided.'),
  decidedNow: z
    .literal(true)
    .describe('No time was given: decidedAt is when the message was sent. A repeat keeps the time of the first.')
    .optional(),
  /** For whom: the same `endUserCode` as the share's. A name alone permits nothing to a share with a code. */
  secondaryUser: requireSecondaryUser(z.strictObject(fields.secondaryUserFields)).meta({ id: 'secondaryUser' }),
  /** Required for a grant; never personal. */
  evidence: fields.evidence.optional(),
  /** Compact JWS over `{ "consent": <all of the above>, "exp": <seconds since 1970>, "iat"?: … }`. */
  proof: fields.proof.optional(),
});

export type ConsentMessage = z.infer<typeof schema>;

function rules(message: Loose): Problem[] {
  const problems: Problem[] = [];
  const owner = typeof message.journeyId === 'string' ? parseRunKey(message.journeyId) : undefined;
  if (owner?.kind === 'share' && typeof message.shareId === 'string' && owner.id !== message.shareId) {
    problems.push({ path: '/shareId', rule: 'must be the one that journeyId names' });
  }
  if (message.decision === 'granted' && message.evidence === undefined) {
    problems.push({ path: '/evidence', rule: 'is required for a grant' });
  }
  return problems;
}

function words(journeyId: string, shareId: string) {
  const example = `{"journeyId":"${journeyId}","shareId":"${shareId}","applicantId":"1A","consentId":"C-1","decision":"granted","decidedAt":"2026-01-05T10:00:00Z","secondaryUser":{"endUserCode":"EU999"},"evidence":{"method":"web","textVersion":"v1","capturedAt":"2026-01-05T10:00:00Z","reference":"doc-1"}}`;
  return {
    updates: {
      recordConsent: `Records that an applicant granted, denied or revoked consent to a share; refuses what makes no sense. A grant needs evidence (never personal). Example: ${example}`,
    },
    signals: {
      consent: `The same as recordConsent, without an answer: the query status shows what the run refuses. Example: ${example}`,
    },
  };
}

const shared = {
  schema: () => schema,
  rules,
  key: ({ shareId, applicantId, consentId, decision }: ConsentMessage) =>
    `consent-${shareId}-${applicantId}-${consentId}-${decision}`,
  // A refusal of consent only stops something.
  inTheClear: ({ decision }: Loose) => decision === 'denied' || decision === 'revoked',
};

export const consent = defineMessage({
  ...shared,
  to: 'journey',
  ...words('LOAN-1', 'INVESTOR-1'),
  published: {
    file: 'consent',
    description: 'One applicant’s decision about one share with one secondary user; also for the workflow shareReport.',
    allOf: [implies(hasValue('decision', 'granted'), { required: ['evidence'] })],
  },
});

export const consentToShare = defineMessage({
  ...shared,
  to: 'share',
  address: 'journeyId',
  ...words('share:S-1', 'S-1'),
});
