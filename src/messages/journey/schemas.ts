/**
 * The schema of each message of docs/journeys.md, field by field: its type, its JSON Schema and its checks follow from
 * it. Rules between fields: cross-rules.ts. The schema of `applicants` is the caller's, so that workflow code can do
 * without the interface's table. Schemas leave this module through functions alone (messages/checks.ts).
 */
import { z } from 'zod';
import { messageFields, text } from '../../fields/fields.ts';
import { HOLD_ACTIONS } from '../../model/failure-types.ts';
import { PROVIDER_SAID } from '../../model/provider-word.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';

const fields = messageFields();

/** The most shares of one journey, as its handlers count them. A limit on everything. */
const MAX_SHARES = 20;

/** A limit against typing errors: a run holds long before it has made so many attempts. */
const MAX_ATTEMPT = 100_000;

/** Interface 4.2, rule 5, for the published schemas. The parser checks it beside the schema, with all other rules. */
export const ONE_OF_TWO_NAMES = { anyOf: [{ required: ['endUserCode'] }, { required: ['endUser'] }] };

/** A secondary user. A rule beside the schema checks that at least one of the two is given. */
const secondaryUserFields = {
  /** The gateway's code of the company that gets the report. Give it where there is one: a name alone is weaker. */
  endUserCode: fields.endUserCode.exactOptional(),
  /** Its name, where it has no code, or beside the code. */
  endUser: fields.endUser.exactOptional(),
};

const secondaryUserSchema = z.strictObject(secondaryUserFields).meta({ id: 'secondaryUser', ...ONE_OF_TWO_NAMES });

const share = z
  .strictObject({
    /** Your own, unique in its journey, 1 to 40 characters. Consents name it. */
    shareId: fields.shareId,
    ...secondaryUserFields,
    /** Default: the journey's `permissiblePurposeCodes.SECONDUSE`. */
    permissiblePurposeCode: fields.permissiblePurposeCode.exactOptional(),
    /**
     * The stage whose report is shared: its newest, if the stage was repeated. Default: the last stage with a record.
     */
    reportOf: fields.stage.exactOptional(),
    /** How long the share waits for consent once its report exists: ISO 8601 in days and time. Default P30D. */
    awaitConsentFor: fields.duration.exactOptional(),
    /** How old a grant may be when an attempt is scheduled. Default: any age. */
    consentValidFor: fields.duration.exactOptional(),
  })
  .meta({ id: 'share', ...ONE_OF_TWO_NAMES });

const gateSchema = z.strictObject({
  /** `manual` waits for `advance`. Default `manual`. */
  pass: z.enum(['manual', 'auto']).exactOptional(),
  /** The journey ends as `expired` after so long at the gate: ISO 8601 in days and time. Default P30D. */
  expiresAfter: fields.duration.exactOptional(),
});

const purposeCodesSchema = z.strictObject({
  PREQUAL: fields.permissiblePurposeCode.exactOptional(),
  PREAPP: fields.permissiblePurposeCode.exactOptional(),
  PRECLOSE: fields.permissiblePurposeCode.exactOptional(),
  SECONDUSE: fields.permissiblePurposeCode.exactOptional(),
});

const most = z.int().min(0).exactOptional();

/** By the names of `counts` in a stage's `changes`. */
const attentionAboveSchema = z.strictObject({
  ...{ applicantsJoined: most, applicantsLeft: most, newAccounts: most, vanishedAccounts: most, closedAccounts: most },
  ...{ reopenedAccounts: most, statusChanges: most, balanceMoves: most, creditLimitMoves: most, newNames: most },
  ...{ vanishedNames: most, newAddresses: most, vanishedAddresses: most, unreadable: most },
});

const endUserCodesSchema = z.strictObject({
  PREQUAL: fields.endUserCode.exactOptional(),
  PREAPP: fields.endUserCode.exactOptional(),
  PRECLOSE: fields.endUserCode.exactOptional(),
});

export function lendingJourneySchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({
    /**
     * Your own id of the loan, 1 to 64 letters, digits, `.`, `_`, `~`, `-`. It lies in the clear in Temporal: nothing
     * personal.
     */
    journeyId: fields.journeyId,
    /** Name of a gateway profile. Default `default`. */
    profile: fields.profileName.exactOptional(),
    /** The gateway's code of the lender that the reports are for; of a secondary user see `shares`. */
    endUserCode: fields.endUserCode,
    /** Another lender's code for single stages. Default: `endUserCode`. */
    endUserCodes: endUserCodesSchema.exactOptional(),
    /** One for each of `stages`, and `SECONDUSE` where a share has none of its own. */
    permissiblePurposeCodes: purposeCodesSchema,
    /** Everyone who applies, each with an `applicantId` and an SSN of their own. */
    applicants,
    /** In this order. Default: all three. Each posts an inquiry. */
    stages: z.array(fields.stage).min(1).exactOptional(),
    /** Before `PREAPP` and `PRECLOSE`; a journey's first stage waits only where its gate is given. */
    gates: z.strictObject({ PREAPP: gateSchema.exactOptional(), PRECLOSE: gateSchema.exactOptional() }).exactOptional(),
    /** Whether a stage without a report ends the journey as `stopped`. Default `stop`. */
    onNoRecord: z.enum(['stop', 'continue']).exactOptional(),
    shares: z.array(share).max(MAX_SHARES).exactOptional(),
    /** How long the journey stays open for further shares after everything else has ended. Default: not at all. */
    sharesOpenFor: fields.duration.exactOptional(),
    /** How long it stays open for a repeat of its last stage, counted anew after each repeat. Default: not at all. */
    repeatsOpenFor: fields.duration.exactOptional(),
    /**
     * How old the latest report may be when a gate is passed; with an older one a person must accept its age.
     * Default: any age.
     */
    maxReportAge: fields.duration.exactOptional(),
    /**
     * A preclose report with more changes than that of any kind named needs a person's attention; so does one that could
     * not be compared.
     */
    attentionAbove: attentionAboveSchema.exactOptional(),
  });
}

const consent = z.strictObject({
  /** A journey's id; of a share by itself `share:<shareId>`. */
  journeyId: fields.consentOwner,
  shareId: fields.shareId,
  /** Who decided, as the journey's `applicants` have it. Each consents alone. */
  applicantId: fields.applicantId,
  /** The consent system's own id of this decision: another decision takes another id. */
  consentId: fields.consentId,
  decision: z.enum(['granted', 'denied', 'revoked']),
  /** When the person decided, not when the message is sent: RFC 3339 with an offset. */
  decidedAt: fields.instant,
  /**
   * The sender gave no time: `decidedAt` is when the message was sent. A repeated message keeps the time of the
   * first.
   */
  decidedNow: z
    .literal(true)
    .describe('No time was given: decidedAt is when the message was sent. A repeat keeps the time of the first.')
    .exactOptional(),
  /** For whom: the same `endUserCode` as the share's. A name alone permits nothing to a share with a code. */
  secondaryUser: secondaryUserSchema,
  /** Required for a grant; never personal. */
  evidence: fields.evidence.exactOptional(),
  /** Compact JWS over `{ "consent": <all of the above>, "exp": <seconds since 1970>, "iat"?: … }`. */
  proof: fields.proof.exactOptional(),
});

const SKIPS_OR_ACCEPTS = { anyOf: [{ required: ['acceptAge'] }, { required: ['skip'] }] };

/** For the published schemas: `by` and `reason` say who skips a stage or accepts an old report; nothing else here needs them. */
const SIGNED_DECISIONS = {
  dependentRequired: { acceptAge: ['by', 'reason'], skip: ['by', 'reason'] },
  dependentSchemas: { by: SKIPS_OR_ACCEPTS, reason: SKIPS_OR_ACCEPTS },
};

export function passGateSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z
    .strictObject({
      journeyId: fields.journeyId,
      /** The stage behind the gate, not the one that was answered. */
      to: fields.stage,
      /** All applicants from this stage on. */
      applicants: z.exactOptional(applicants),
      /** Accepts a latest report that is older than `maxReportAge`; needs `by` and `reason`. */
      acceptAge: z.literal(true).exactOptional(),
      /** A stage before it that is never to be pulled: it has a gate of its own, and has not begun. Needs `by` and `reason`. */
      skip: fields.stage.exactOptional(),
      by: text(100).exactOptional(),
      reason: text(500).exactOptional(),
    })
    .meta(SIGNED_DECISIONS);
}

const OCCURRENCE = `must be a whole number from 2 to ${MAX_ORDINAL + 1}`;

export function repeatStageSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({
    journeyId: fields.journeyId,
    repeat: fields.stage,
    /** The pull's number within its stage: 2 for the first repeat. The same number again makes no further inquiry. */
    occurrence: z
      .int()
      .min(2, OCCURRENCE)
      .max(MAX_ORDINAL + 1, OCCURRENCE),
    by: text(100),
    reason: text(500),
    /** All applicants from this pull on. */
    applicants: z.exactOptional(applicants),
    /** Compact JWS over `{ "decision": <see RepeatContent>, "exp": <seconds since 1970>, "iat": … }`. */
    proof: fields.proof.exactOptional(),
  });
}

export function advanceSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.union([passGateSchema(applicants), repeatStageSchema(applicants)]);
}

const withdraw = z.strictObject({
  journeyId: fields.journeyId,
  by: text(100),
  reason: text(500),
});

/** For the published schemas: only a share that replaces another needs a named person and a reason. */
const SIGNED_WHERE_IT_REPLACES = {
  dependentRequired: { replaces: ['by', 'reason'], by: ['replaces'], reason: ['replaces'] },
};

const requestShare = z
  .strictObject({
    journeyId: fields.journeyId,
    share,
    /** A share that is withdrawn for this one, before it is sent. Consents to it are none to this one. */
    replaces: fields.shareId.exactOptional(),
    by: text(100).exactOptional(),
    reason: text(500).exactOptional(),
  })
  .meta(SIGNED_WHERE_IT_REPLACES);

const withdrawShare = z.strictObject({
  journeyId: fields.journeyId,
  /** The share that is not to be sent. A corrected one takes another id. */
  shareId: fields.shareId,
  by: text(100),
  reason: text(500),
});

/** What every extension says: who makes which wait longer, and until when. */
const extension = {
  /** The wait lasts until then, at least: later than it would, RFC 3339 with an offset. */
  until: fields.instant,
  by: text(100),
  reason: text(500),
};

const extend = z
  .strictObject({
    journeyId: fields.journeyId,
    /** The stage behind the gate that the journey waits at. This, or `shareId`. */
    gate: fields.stage.exactOptional(),
    /** The share that waits for consent. */
    shareId: fields.shareId.exactOptional(),
    ...extension,
  })
  .meta({ oneOf: [{ required: ['gate'] }, { required: ['shareId'] }] });

const reference = z.strictObject({
  reportReferenceNumber: fields.reportReferenceNumber,
  requestedAt: fields.instant,
  applicants: z
    .array(z.strictObject({ applicantId: fields.applicantId, consumerId: fields.consumerId }))
    .min(1, 'must be a list that is not empty'),
});

export function resolveInquirySchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({
    journeyId: fields.journeyId,
    /** Your own id of this decision. The same again is the same decision; a corrected one takes another id. */
    decisionId: fields.decisionId,
    /** As the hold names it. */
    customerTraceNumber: fields.customerTraceNumber,
    /** The attempt that the decision is about, as the hold names it. */
    attempt: z.int().min(1).max(MAX_ATTEMPT),
    /** One of the hold's `allowedActions`. `resend` posts another inquiry. */
    action: z.enum(HOLD_ACTIONS),
    /** The person who decides. */
    by: text(100),
    reason: text(500),
    /**
     * What the gateway's provider said of the inquiry when you asked. Which word permits which action:
     * docs/protocol.md, "What a person may decide".
     */
    providerSaid: z.enum(PROVIDER_SAID),
    /** For `accept`. */
    outcome: z.enum(['record', 'noRecord', 'noReport']).exactOptional(),
    /** For `accept` with `outcome: "record"`. */
    reference: reference.exactOptional(),
    /**
     * For `accept` with a reference whose `consumerId`s the ledger knows only from other people's inquiries: confirms
     * that they are right.
     */
    confirmConsumerIds: z.literal(true).exactOptional(),
    /** For `amend`: the whole list, corrected. Without it the new inquiry names the same applicants. */
    applicants: z.exactOptional(applicants),
    /** Compact JWS over `{ "decision": <see DecisionContent>, "exp": <seconds since 1970>, "iat": … }`. */
    proof: fields.proof.exactOptional(),
  });
}

const SCHEMAS = {
  ...{ secondaryUserFields, reference, extension },
  ...{ consent, extend, requestShare, withdraw, withdrawShare },
};

/** The schemas of the messages without applicants, and parts of other messages. */
export function journeySchemas(): typeof SCHEMAS {
  return SCHEMAS;
}
