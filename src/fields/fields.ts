/** The fields that several messages share, as zod schemas. Fields of the gateway's tables follow those tables. */
import { z } from 'zod';
import { COMPACT_JWS, MAX_PROOF_LENGTH } from '../base/compact-jws.ts';
import { parseDurationMs } from '../base/durations.ts';
import { parseInstantMs } from '../base/instants.ts';
import { DURATION, INSTANT, OPAQUE_ID, PRINTABLE } from '../base/portable-patterns.ts';
import {
  EVIDENCE_REFERENCE,
  MAX_ID_LENGTH,
  MAX_SCHEDULE_ID_LENGTH,
  MAX_SHARE_ID_LENGTH,
  mayHoldSsn,
  opaqueIdProblem,
} from '../model/opaque-id.ts';
import { consentOwnerProblem } from '../model/owner-id.ts';
import { STAGES } from '../model/products.ts';
import { applicantSchema, reportRequestSchema, secondUseRequestSchema } from './request-schemas.ts';

/** A limit on every wait of a gate, a share or a journey: far above any offer's validity. */
const MAX_DURATION_DAYS = 3_650;

const MS_PER_DAY = 24 * 60 * 60 * 1000;

/** Control, format, surrogate, private and unassigned characters, line and paragraph separators. */
const FORBIDDEN_CHARACTER = /[\p{C}\p{Zl}\p{Zp}]/u;

const SSN_LOOK = 'a social security number (ddd-dd-dddd, or nine digits in a row)';

function opaqueId(maxLength: number) {
  return z
    .string()
    .superRefine((text, context) => {
      const rule = opaqueIdProblem(text, maxLength);
      if (rule) context.addIssue({ code: 'custom', message: rule });
    })
    .meta({ maxLength, pattern: OPAQUE_ID, description: `Opaque: nothing that looks like ${SSN_LOOK}.` });
}

/** A text for people: not blank, no control characters. */
export function text(maxLength: number) {
  return z
    .string()
    .refine((value) => value.trim() !== '', 'must not be empty or blank')
    .refine((value) => value.length <= maxLength, `must have at most ${maxLength} characters`)
    .refine((value) => !FORBIDDEN_CHARACTER.test(value), 'must not hold control characters')
    .meta({ maxLength, pattern: PRINTABLE });
}

export const journeyId = opaqueId(MAX_ID_LENGTH);
/** The owner of a consent's share: a journey's id, or `share:<shareId>` of a report shared at any time. */
export const consentOwner = z
  .string()
  .superRefine((value, context) => {
    const rule = consentOwnerProblem(value);
    if (rule) context.addIssue({ code: 'custom', message: rule });
  })
  .meta({
    maxLength: MAX_ID_LENGTH,
    pattern: OPAQUE_ID.replace('^', '^(?:share:)?'),
    description: `Opaque: nothing that looks like ${SSN_LOOK}. share:<shareId> for the workflow shareReport.`,
  });
export const pullId = opaqueId(MAX_ID_LENGTH);
export const reviewId = opaqueId(MAX_ID_LENGTH);
export const scheduleId = opaqueId(MAX_SCHEDULE_ID_LENGTH);
export const consentId = opaqueId(MAX_ID_LENGTH);
export const decisionId = opaqueId(MAX_ID_LENGTH);
export const shareId = opaqueId(MAX_SHARE_ID_LENGTH);

export const instant = z
  .string()
  .refine((value) => parseInstantMs(value) !== null, 'must be an RFC 3339 instant with offset')
  .meta({ format: 'date-time', pattern: INSTANT });

export const duration = z
  .string()
  .superRefine((value, context) => {
    const ms = parseDurationMs(value);
    if (ms === null) {
      const message = 'must be an ISO 8601 duration in days and time, such as P30D or PT24H, longer than zero';
      context.addIssue({ code: 'custom', message });
    } else if (ms > MAX_DURATION_DAYS * MS_PER_DAY) {
      context.addIssue({ code: 'custom', message: `must be at most P${MAX_DURATION_DAYS}D` });
    }
  })
  .meta({
    pattern: DURATION,
    description: `ISO 8601 in days and time, longer than zero, at most P${MAX_DURATION_DAYS}D.`,
  });

export const stage = z.enum(STAGES);

const report = reportRequestSchema(1).shape;
const secondUse = secondUseRequestSchema(1).shape;

/** Interface 2.3 and 2.6. */
export const endUserCode = report.endUserCode;
export const permissiblePurposeCode = report.permissiblePurposeCode;
export const customerTraceNumber = report.customerTraceNumber;
export const reportReferenceNumber = secondUse.reportReferenceNumber;
export const consumerId = secondUse.applicants.element.shape.consumerId;
export const applicantId = applicantSchema.shape.applicantId;

/** A secondary user. A rule beside the schema checks that at least one of the two is given. */
export const secondaryUserFields = {
  endUserCode: endUserCode.exactOptional(),
  endUser: secondUse.endUser,
};

/** Where the proof of a consent can be found: never personal itself. */
export const evidence = z.strictObject({
  method: text(40),
  textVersion: text(40),
  capturedAt: instant,
  reference: text(100)
    .refine((value) => EVIDENCE_REFERENCE.test(value), 'must be printable characters without spaces and "@"')
    .refine((value) => !mayHoldSsn(value), 'must be opaque: it looks as if it held a social security number')
    .meta({ pattern: EVIDENCE_REFERENCE.source, description: `Never personal: nothing that looks like ${SSN_LOOK}.` }),
});

/** An activity judges what it proves. */
export const proof = z
  .string()
  .max(MAX_PROOF_LENGTH, `must have at most ${MAX_PROOF_LENGTH} characters`)
  .regex(COMPACT_JWS, 'must be a compact JWS');

/** The name of a gateway profile, which is part of a task queue's name. */
export const PROFILE_NAME = /^[a-z][a-z0-9-]{0,30}$/;

export const profileName = z
  .string()
  .refine((value) => PROFILE_NAME.test(value), 'must be 1 to 31 lower-case letters, digits or dashes')
  .meta({ pattern: PROFILE_NAME.source });
