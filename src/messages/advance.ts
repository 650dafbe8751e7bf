/** `advance`: passes the gate before a stage, or repeats the stage that was answered last by a person's decision. */
import { z } from 'zod';
import { getMessageFields } from '../fields/fields.ts';
import type { Applicant } from '../model/applicant.ts';
import type { Problem } from '../model/problems.ts';
import { MAX_ORDINAL } from '../model/trace-number.ts';
import { defineMessage, type Loose } from './message.ts';

const { journeyId, stage, proof, signature } = getMessageFields();

const SKIPS_OR_ACCEPTS = { anyOf: [{ required: ['acceptAge'] }, { required: ['skip'] }] };

/** For the published schemas: `by` and `reason` say who skips a stage or accepts an old report; nothing else here needs them. */
const SIGNED_DECISIONS = {
  dependentRequired: { acceptAge: ['by', 'reason'], skip: ['by', 'reason'] },
  dependentSchemas: { by: SKIPS_OR_ACCEPTS, reason: SKIPS_OR_ACCEPTS },
};

export function passGateSchema(applicants: z.ZodType<Applicant[]>) {
  return z
    .strictObject({
      journeyId,
      /** The stage behind the gate, not the one that was answered. */
      to: stage.describe('The stage behind the gate.'),
      /** All applicants from this stage on. */
      applicants: z.optional(applicants),
      acceptAge: z
        .literal(true)
        .describe('Beside `to`: even if the latest report is older than maxReportAge. Needs by and reason.')
        .optional(),
      /** A stage before it that is never to be pulled: it has a gate of its own, and has not begun. Needs `by` and `reason`. */
      skip: stage.describe('Beside `to`: an earlier stage to leave out for good. Needs by and reason.').optional(),
      by: signature.by.optional(),
      reason: signature.reason.optional(),
    })
    .meta(SIGNED_DECISIONS);
}

const OCCURRENCE = `must be a whole number from 2 to ${MAX_ORDINAL + 1}`;

export function repeatStageSchema(applicants: z.ZodType<Applicant[]>) {
  return z.strictObject({
    journeyId,
    repeat: stage.describe('One further inquiry for the stage that was answered last.'),
    /** The pull's number within its stage: 2 for the first repeat. The same number again makes no further inquiry. */
    occurrence: z
      .int()
      .min(2, OCCURRENCE)
      .max(MAX_ORDINAL + 1, OCCURRENCE)
      .describe('Beside `repeat`: the number of this pull of the stage, 2 for the first repeat.'),
    ...signature,
    /** All applicants from this pull on. */
    applicants: z.optional(applicants),
    /** Compact JWS over `{ "decision": <see RepeatContent>, "exp": <seconds since 1970>, "iat": … }`. */
    proof: proof.optional(),
  });
}

export type PassGateMessage = z.infer<ReturnType<typeof passGateSchema>>;
export type RepeatStageMessage = z.infer<ReturnType<typeof repeatStageSchema>>;
export type AdvanceMessage = PassGateMessage | RepeatStageMessage;

/** Only to accept an old report, or to skip a stage, needs a named person and a reason. */
function findSignatureProblems(message: Loose): Problem[] {
  const { by, reason } = message;
  const decided = ['skip', 'acceptAge'].find((member) => message[member] !== undefined);
  return Object.entries({ by, reason }).flatMap(([name, value]) => {
    if ((decided === undefined) === (value === undefined)) return [];
    const rule = value === undefined ? `is required with ${decided}` : 'is allowed only with acceptAge or skip';
    return [{ path: `/${name}`, rule }];
  });
}

export const advance = defineMessage({
  to: 'journey',
  updates: {
    advance:
      'Passes the gate before a stage; a message that comes early is kept. Fields: journeyId, to; applicants to replace them; acceptAge (true), by, reason where the report is too old; skip, by, reason to leave out a stage before it. Or pulls the latest stage once more. Fields: journeyId, repeat, occurrence (2 for the first repeat), by, reason; applicants; proof where the profile asks for one. Example: {"journeyId":"LOAN-1","to":"PREAPP"}',
  },
  published: {
    file: 'advance',
    description:
      'Passes the gate before a stage (to), or has the stage that was answered last pulled once more (repeat); ' +
      'applicants replaces all of them.',
  },
  applicants: 'report',
  schema: (applicants: z.ZodType<Applicant[]>) => z.union([passGateSchema(applicants), repeatStageSchema(applicants)]),
  forms: [passGateSchema, repeatStageSchema],
  // One member says which form is meant, so that the problems are those of one form and not of both.
  chooseForm: ({ repeat }) => (repeat === undefined ? passGateSchema : repeatStageSchema),
  rules: (message) => (message.repeat === undefined ? findSignatureProblems(message) : []),
  /** A stage's gate opens once; that an old report will do, or that a stage is skipped, may be said later. Each repeat has its number. */
  key: (message: AdvanceMessage) =>
    'repeat' in message
      ? `advance-${message.repeat}-${message.occurrence}`
      : `advance-${message.to}-1${message.acceptAge ? '-acceptAge' : ''}${message.skip ? `-skip-${message.skip}` : ''}`,
});
