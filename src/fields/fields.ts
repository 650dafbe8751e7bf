/**
 * The fields that messages and the interface's request tables share, as zod schemas. Workflow code checks messages by
 * them (messages/message.ts): no clock, nothing of Node, and schemas leave this module through functions alone.
 */
import { z } from 'zod';
import { parseDurationMs, parseInstantMs } from '../base/instants.ts';
import { isRecord } from '../base/is-record.ts';
import { DURATION, INSTANT, OPAQUE_ID, PRINTABLE, REVIEW_ID } from '../base/portable-patterns.ts';
import {
  checkOpaqueId,
  checkReviewId,
  EVIDENCE_REFERENCE,
  MAX_ID_LENGTH,
  MAX_SHARE_ID_LENGTH,
  mayHoldSsn,
} from '../model/opaque-id.ts';
import { STAGES } from '../model/products.ts';
import { checkConsentOwner } from '../model/run-key.ts';
import { alphanumeric, checkPlainText, code, ruledText } from './alphanumeric.ts';

/** A limit on every wait of a gate, a share or a journey: far above any offer's validity. */
const MAX_DURATION_DAYS = 3_650;

const MS_PER_DAY = 24 * 60 * 60 * 1000;

const SSN_LOOK = 'a social security number (ddd-dd-dddd, or nine digits in a row)';

/** @param what the beginning of its description, as a sentence */
function opaqueId(maxLength: number, what: string) {
  const description = `${what} Opaque: nothing that looks like ${SSN_LOOK}.`;
  return ruledText((text) => checkOpaqueId(text, maxLength)).meta({ maxLength, pattern: OPAQUE_ID, description });
}

/**
 * Characters that change how a text reads without being seen. Control, surrogate and private characters change with no
 * version of Unicode. Soft hyphens, zero-width characters and those that turn the direction of writing are here by their
 * numbers. So every runtime agrees on the list, and it may decide about a signal that is judged again on replay.
 */
const HIDDEN_CHARACTER =
  /[\p{Cc}\p{Cs}\p{Co}\u{ad}\u{61c}\u{180e}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0001}\u{e0020}-\u{e007f}]/u;

/** A text for people, which is not blank and has no control characters. Fields of the interface are `alphanumeric`. */
export function text(maxLength: number) {
  return ruledText((value) => checkPlainText(value, maxLength, HIDDEN_CHARACTER)).meta({
    maxLength,
    pattern: PRINTABLE,
  });
}

const reviewId = ruledText(checkReviewId).meta({
  maxLength: MAX_ID_LENGTH,
  pattern: REVIEW_ID,
  description: `Your own id of the portfolio review. Opaque: nothing that looks like ${SSN_LOOK}. A Temporal Schedule adds its time to it.`,
});

const consentOwner = ruledText(checkConsentOwner).meta({
  maxLength: MAX_ID_LENGTH,
  pattern: OPAQUE_ID.replace('^', '^(?:share:)?'),
  description: `Opaque: nothing that looks like ${SSN_LOOK}. share:<shareId> for the workflow shareReport.`,
});

/** @param missing the rule that an instant breaks which is not given */
export function requiredInstant(missing = 'is required') {
  return z
    .string({ error: ({ input }) => (input === undefined ? missing : undefined) })
    .refine((value) => parseInstantMs(value) !== null, 'must be an RFC 3339 instant with offset')
    .meta({ format: 'date-time', pattern: INSTANT });
}

const instant = requiredInstant();

const DURATION_FORM = `ISO 8601 in days and time, longer than zero, at most P${MAX_DURATION_DAYS}D.`;

const duration = ruledText((value) => {
  const ms = parseDurationMs(value);
  if (ms === null) return 'must be an ISO 8601 duration in days and time, such as P30D or PT24H, longer than zero';
  return ms > MAX_DURATION_DAYS * MS_PER_DAY ? `must be at most P${MAX_DURATION_DAYS}D` : null;
}).meta({ pattern: DURATION, description: DURATION_FORM });

/** A reference to the proof of a consent; never personal itself. */
const evidence = z.strictObject({
  method: text(40).describe('How the grant was given.'),
  textVersion: text(40).describe('Which text was shown.'),
  capturedAt: instant.describe('When the grant was captured.'),
  reference: text(100)
    .refine((value) => EVIDENCE_REFERENCE.test(value), 'must be printable characters without spaces and "@"')
    .refine((value) => !mayHoldSsn(value), 'must be opaque: it looks as if it held a social security number')
    .meta({
      pattern: EVIDENCE_REFERENCE.source,
      description: `Where the evidence is kept. Never personal: nothing that looks like ${SSN_LOOK}.`,
    }),
});

/** Limits everything. A message over seven ids with two signatures' worth of headers is far shorter. */
const MAX_PROOF_LENGTH = 8_192;

/** A compact JWS (RFC 7515, 7.1), as far as the shape of a message shows it. An activity judges what it proves. */
const proof = z
  .string()
  .max(MAX_PROOF_LENGTH, `must have at most ${MAX_PROOF_LENGTH} characters`)
  .regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/, 'must be a compact JWS')
  .describe('The compact JWS that proves the message.');

/** The name of a gateway profile, which is part of a task queue's name. */
export const PROFILE_NAME = /^[a-z][a-z0-9-]{0,30}$/;

export const profileName = z
  .string()
  .regex(PROFILE_NAME, 'must be 1 to 31 lower-case letters, digits or dashes')
  .describe('The name of a gateway profile.');

const FIELDS = {
  journeyId: opaqueId(MAX_ID_LENGTH, 'Your own id of the loan.'),
  /** The owner of a consent's share: a journey's id, or `share:<shareId>` of a report shared at any time. */
  consentOwner,
  pullId: opaqueId(MAX_ID_LENGTH, 'Your own id of the pull.'),
  reviewId,
  consentId: opaqueId(
    MAX_ID_LENGTH,
    'The consent system’s own id of this decision: another decision takes another id.',
  ),
  decisionId: opaqueId(MAX_ID_LENGTH, 'Your own id of the decision: sent twice, it decides once.'),
  shareId: opaqueId(MAX_SHARE_ID_LENGTH, 'Your own id of the share.'),
  /** Default: the profile of the name `default`. */
  profile: profileName.optional(),
  instant,
  duration,
  stage: z.enum(STAGES),
  evidence,
  proof,
  // Interface 2.3 and 2.6, which do not show the list of purpose codes: a profile may list those that it allows.
  endUserCode: code(16),
  endUser: code(30),
  permissiblePurposeCode: code(2).describe('The permissible purpose.'),
  customerTraceNumber: alphanumeric(30),
  reportReferenceNumber: alphanumeric(30),
  consumerId: alphanumeric(16),
  applicantId: alphanumeric(2).describe('One of the run’s applicants.'),
};

/** A refinement of a list: no value of these fields occurs in two entries. @param what the name of an entry */
export function refuseRepeated<K extends string>(fields: readonly K[], what = 'applicant') {
  return (entries: readonly Partial<Record<K, unknown>>[], context: z.core.$RefinementCtx) => {
    for (const field of fields) {
      const seen = new Set<unknown>();
      for (const [index, entry] of entries.entries()) {
        const value = entry[field];
        if (value !== undefined && seen.has(value)) {
          const why = field === 'ssn' ? ': an answer is matched to its applicant by it' : '';
          const message = `must differ from that of every other ${what}${why}`;
          context.addIssue({ code: 'custom', path: [index, field], message });
        }
        seen.add(value);
      }
    }
  };
}

const hasName = (user: unknown) => !isRecord(user) || user.endUserCode !== undefined || user.endUser !== undefined;

/** Interface 4.2, rule 5: a secondary user has a code, a name, or both. The object's other problems do not hide this one. */
export function requireSecondaryUser<Schema extends z.ZodObject>(schema: Schema): Schema {
  const error = 'is required, unless endUser is given: name endUserCode, endUser or both';
  const anyOf = [{ required: ['endUserCode'] }, { required: ['endUser'] }];
  return schema.refine(hasName, { path: ['endUserCode'], error, when: () => true }).meta({ anyOf });
}

/** A secondary user. `requireSecondaryUser` checks that at least one of the two is given. */
const secondaryUserFields = {
  /** The gateway's code of the company that gets the report. Give it where there is one: a name alone is weaker. */
  endUserCode: FIELDS.endUserCode.describe('The secondary user, by code.').optional(),
  /** Its name, where it has no code, or beside the code. */
  endUser: FIELDS.endUser.describe('The secondary user, by name.').optional(),
};

const consentWaits = {
  awaitConsentFor: FIELDS.duration
    .describe(`How long the share waits for consent, once its report exists. Default P30D. ${DURATION_FORM}`)
    .optional(),
  consentValidFor: FIELDS.duration
    .describe(`How old a grant may be when an attempt is scheduled. Default: any age. ${DURATION_FORM}`)
    .optional(),
};

const share = requireSecondaryUser(
  z.strictObject({
    /** Your own, unique in its journey, 1 to 40 characters. Consents name it. */
    shareId: FIELDS.shareId,
    ...secondaryUserFields,
    permissiblePurposeCode: FIELDS.permissiblePurposeCode
      .describe('The permissible purpose. Default: the journey’s for SECONDUSE.')
      .optional(),
    /** The stage whose report is shared: its newest, if the stage was repeated. Default: the last stage with a record. */
    reportOf: FIELDS.stage
      .describe('The stage whose report is shared. Default: the last one with a record.')
      .optional(),
    ...consentWaits,
  }),
).meta({ id: 'share' });

const reference = z.strictObject({
  reportReferenceNumber: FIELDS.reportReferenceNumber.describe('The reference of the report.'),
  requestedAt: FIELDS.instant.describe('When the report was requested, RFC 3339.'),
  applicants: z
    .array(z.strictObject({ applicantId: FIELDS.applicantId, consumerId: FIELDS.consumerId }))
    .min(1, 'must be a list that is not empty')
    // A `consumerId` of two applicants is a typing error, and would share the wrong person's report.
    .superRefine(refuseRepeated(['applicantId', 'consumerId'])),
});

const SHARED = {
  ...FIELDS,
  secondaryUserFields,
  consentWaits,
  share,
  reference,
  signature: {
    by: text(100).describe('The person who decides.'),
    reason: text(500).describe('Why; kept in the ledger, so nothing personal about the consumer.'),
  },
};

/** Every field by its name, and groups of them. */
export function getMessageFields(): typeof SHARED {
  return SHARED;
}
