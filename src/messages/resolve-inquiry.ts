/** An operator's decision about an inquiry on hold, for each kind of run. */
import { z } from 'zod';
import { getMessageFields } from '../fields/fields.ts';
import type { Applicant, FailsafeApplicant } from '../model/applicant.ts';
import { HOLD_ACTIONS } from '../model/failure-types.ts';
import type { Problem } from '../model/problems.ts';
import { PROVIDER_SAID } from '../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../model/report-outcome.ts';
import { ID_NAMES, type RunKind } from '../model/run-key.ts';
import { defineMessage, hasValue, implies, type Loose, type MessageOf, SIGNATURE_EXAMPLES } from './message.ts';

const { journeyId, pullId, shareId, reviewId, ...fields } = getMessageFields();

/** A limit against typing errors: a run holds long before it has made so many attempts. */
const MAX_ATTEMPT = 100_000;

const action = z.enum(HOLD_ACTIONS);

const identity = {
  decisionId: fields.decisionId,
  /** The trace number in the hold. */
  customerTraceNumber: fields.customerTraceNumber,
  attempt: z.int().min(1).max(MAX_ATTEMPT).describe('The attempt that the decision is about, as the hold shows it.'),
};

const reasons = {
  ...fields.signature,
  /**
   * The answer of the gateway's provider when you asked about the inquiry. docs/protocol.md, "What a person may
   * decide", says which answer permits which action.
   */
  providerSaid: z.enum(PROVIDER_SAID),
  outcome: z.enum(REPORT_OUTCOMES).describe('For `accept`.').optional(),
  reference: fields.reference.describe('For `accept` with `outcome: "record"`.').optional(),
  confirmConsumerIds: z
    .literal(true)
    .describe('Confirms the consumerIds of a reference, which the ledger has for other applicants only.')
    .optional(),
};

/** Compact JWS over `{ "decision": <see DecisionContent>, "exp": <seconds since 1970>, "iat": … }`. */
const proof = fields.proof.optional();

function decisionFields<Applicants extends z.ZodType>(applicants: Applicants) {
  return {
    ...identity,
    /** One of the hold's `allowedActions`. `resend` posts another inquiry. */
    action,
    ...reasons,
    /** For `amend`: the whole list, corrected. Without it the new inquiry names the same applicants. */
    applicants: z.optional(applicants),
    proof,
  };
}

/** Without `amend`, which has nothing to correct: a share sends a reference, not applicants. */
const ofShare = z.strictObject({ shareId, ...identity, ...reasons, proof, action: action.exclude(['amend']) });

function rules(message: Loose): Problem[] {
  const { action, outcome, reference, providerSaid, confirmConsumerIds, applicants } = message;
  const isSaid = typeof action === 'string';
  const accepts = action === 'accept';
  const withRecord = accepts && outcome === 'record';
  const isSaidOtherwise = providerSaid !== undefined && providerSaid !== 'posted';
  const isConfirmed = confirmConsumerIds !== undefined;
  const checks: [isBroken: boolean, path: string, rule: string][] = [
    [accepts && outcome === undefined, '/outcome', 'is required for accept'],
    [withRecord && reference === undefined, '/reference', 'is required for accept with a record'],
    [withRecord && isSaidOtherwise, '/providerSaid', 'must be posted for accept with a record'],
    [isConfirmed && reference === undefined, '/confirmConsumerIds', 'is allowed only with a reference'],
    [isSaid && !accepts && outcome !== undefined, '/outcome', 'is allowed only with accept'],
    [isSaid && !withRecord && reference !== undefined, '/reference', 'is allowed only with accept of a record'],
    [isSaid && action !== 'amend' && applicants !== undefined, '/applicants', 'is allowed only with amend'],
  ];
  return checks.filter(([isBroken]) => isBroken).map(([, path, rule]) => ({ path, rule }));
}

/** JSON Schema: `member` may only occur with one value of another member. */
function onlyWith(condition: object, member: string): object {
  return implies(condition, { required: [member] }, { not: { required: [member] } });
}

const WITHOUT_APPLICANTS = [
  onlyWith(hasValue('action', 'accept'), 'outcome'),
  onlyWith(hasValue('outcome', 'record'), 'reference'),
  implies(hasValue('outcome', 'record'), { properties: { providerSaid: { const: 'posted' } } }),
  { dependentRequired: { confirmConsumerIds: ['reference'] } },
];
const allOf = [...WITHOUT_APPLICANTS, implies({ required: ['applicants'] }, hasValue('action', 'amend'))];

type Identity = { customerTraceNumber: string; attempt: number; decisionId: string };

/** Returns the members that the message to each kind of run has alike. */
function describeFor<const To extends RunKind>(
  to: To,
  file: string,
  description = 'An operator’s decision about one attempt on hold.',
  conditions: readonly object[] = allOf,
) {
  const inquiry = { decisionId: 'D-1', customerTraceNumber: '…00', attempt: 1 };
  const example = { ...SIGNATURE_EXAMPLES[to], ...inquiry, action: 'abandon', providerSaid: 'posted' };
  return {
    to,
    updates: {
      resolveInquiry: `Decides about an inquiry on hold. The current details (User Metadata) name inquiry, attempt and actions. Fields: ${ID_NAMES[to]}, decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid (posted, notPosted, unknown, notAsked); accept: outcome, reference; amend (not of a share): applicants; proof where the profile asks for one. Example: ${JSON.stringify(example)}`,
    },
    published: { file, description, allOf: conditions },
    rules,
    key: ({ customerTraceNumber, attempt, decisionId }: Identity) =>
      `resolve-${customerTraceNumber}-${attempt}-${decisionId}`,
  };
}

export const resolveInquiry = defineMessage({
  ...describeFor(
    'journey',
    'resolve-inquiry',
    'An operator’s decision about one attempt of an inquiry on hold. No two applicants of a reference share an applicantId or a consumerId.',
  ),
  applicants: 'report',
  schema: (applicants: z.ZodType<Applicant[]>) => z.strictObject({ journeyId, ...decisionFields(applicants) }),
});

export const resolvePull = defineMessage({
  ...describeFor(
    'pull',
    'resolve-pull',
    'An operator’s decision about one attempt on hold. Applicants are those of the product.',
  ),
  // The run itself knows which product's table the applicants of `amend` must follow: they may lack what FAILSAFE's may lack.
  applicants: 'failsafe',
  schema: (applicants: z.ZodType<FailsafeApplicant[]>) => z.strictObject({ pullId, ...decisionFields(applicants) }),
});

export const resolvePortfolio = defineMessage({
  ...describeFor('portfolio', 'resolve-portfolio'),
  applicants: 'report',
  schema: (applicants: z.ZodType<Applicant[]>) => z.strictObject({ reviewId, ...decisionFields(applicants) }),
});

export const resolveShareReport = defineMessage({
  ...describeFor('share', 'resolve-share-report', undefined, WITHOUT_APPLICANTS),
  schema: () => ofShare,
});

/** A decision by itself, for any kind of run. */
export const decision = {
  applicants: 'failsafe',
  schema: (applicants: z.ZodType<FailsafeApplicant[]>) => z.strictObject(decisionFields(applicants)),
  rules,
} as const;

export type ResolveInquiryMessage = MessageOf<typeof resolveInquiry>;
export type Decision = MessageOf<typeof decision>;
