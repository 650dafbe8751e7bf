/** The input of `lendingJourney`. */
import { z } from 'zod';
import { isRecord } from '../../base/is-record.ts';
import { getMessageFields, refuseRepeated } from '../../fields/fields.ts';
import type { Applicant } from '../../model/applicant.ts';
import type { Problem } from '../../model/problems.ts';
import { COMPARED_STAGES, GATED_STAGES, isStage, STAGES, type StageCode } from '../../model/products.ts';
import { listOwnUsers, OWN_END_USER } from '../../model/stage-end-user.ts';
import { COUNTED_CHANGES } from '../journey/change-summary.ts';
import { type Checked, implies, type Loose, type MessageOf } from '../message.ts';

const fields = getMessageFields();

/** The most shares of one journey, as its handlers count them. A limit on everything. */
const MAX_SHARES = 20;

const gateSchema = z.strictObject({
  /** `manual` waits for `advance`. Default `manual`. */
  pass: z.enum(['manual', 'auto']).optional(),
  /** The journey ends as `expired` after so long at the gate: ISO 8601 in days and time. Default P30D. */
  expiresAfter: fields.duration.optional(),
});

/** A field of each of these names. */
function byName<Name extends string, Field extends z.ZodType>(names: readonly Name[], field: Field) {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, field])) as Record<Name, Field>);
}

function lendingJourneySchema(applicants: z.ZodType<Applicant[]>) {
  return z.strictObject({
    /**
     * Your own id of the loan, 1 to 64 letters, digits, `.`, `_`, `~`, `-`. It lies in the clear in Temporal: nothing
     * personal.
     */
    journeyId: fields.journeyId,
    profile: fields.profile,
    /** The gateway's code of the lender that the reports are for; of a secondary user see `shares`. */
    endUserCode: fields.endUserCode,
    /** Another lender's code for single stages. Default: `endUserCode`. */
    endUserCodes: byName(STAGES, fields.endUserCode.optional()).optional(),
    /** One for each of `stages`, and `SECONDUSE` where a share has none of its own. */
    permissiblePurposeCodes: byName([...STAGES, 'SECONDUSE'], fields.permissiblePurposeCode.optional()),
    /** Everyone who applies, each with an `applicantId` and an SSN of their own. */
    applicants,
    /** In this order. Default: all three. Each posts an inquiry. */
    stages: z.array(fields.stage).min(1).optional(),
    /** Before the gated stages; a journey's first stage waits only where its gate is given. */
    gates: byName(GATED_STAGES, gateSchema.optional()).optional(),
    /** Whether a stage without a report ends the journey as `stopped`. Default `stop`. */
    onNoRecord: z.enum(['stop', 'continue']).optional(),
    shares: z
      .array(fields.share)
      .max(MAX_SHARES)
      .superRefine(refuseRepeated(['shareId'], 'share'))
      .optional(),
    /** How long the journey stays open for further shares after everything else has ended. Default: not at all. */
    sharesOpenFor: fields.duration.optional(),
    /** How long it stays open for a repeat of its last stage, counted again after each repeat. Default: not at all. */
    repeatsOpenFor: fields.duration.optional(),
    /**
     * How old the latest report may be when a gate is passed; with an older one a person must accept its age.
     * Default: any age.
     */
    maxReportAge: fields.duration.optional(),
    /**
     * A preclose report with more changes than that of any kind named needs a person's attention; so does one that could
     * not be compared. By the names of `counts` in a stage's `changes`.
     */
    attentionAbove: byName(COUNTED_CHANGES, z.int().min(0).optional()).optional(),
  });
}

interface Journey {
  input: Loose;
  /** The stages that will run; `null` if the list is malformed. */
  stages: readonly StageCode[] | null;
}

function findLendingJourneyProblems(input: Loose): Problem[] {
  const stages = readStages(input.stages);
  const shares = Array.isArray(input.shares) ? (input.shares as unknown[]) : [];
  return [
    ...findStageOrderProblems(input.stages),
    ...findPurposeCodeProblems(input.permissiblePurposeCodes, stages, shares),
    ...findUnlistedProblems('endUserCodes', STAGES, 'end user', { input, stages }),
    ...findUnlistedProblems('gates', GATED_STAGES, 'gate', { input, stages }),
    ...findAttentionProblems(input, stages),
    ...shares.flatMap((share, index) => findShareProblems(share, `/shares/${index}`, { input, stages })),
  ];
}

function readStages(value: unknown): readonly StageCode[] | null {
  if (value === undefined) return STAGES;
  return Array.isArray(value) && value.every(isStage) ? value : null;
}

function findStageOrderProblems(value: unknown): Problem[] {
  if (!Array.isArray(value)) return [];
  const ranks = value.map((stage) => STAGES.indexOf(stage));
  const misplaced = ranks.findIndex(
    (rank, index) => rank >= 0 && ranks.slice(0, index).some((earlier) => earlier >= rank),
  );
  if (misplaced < 0) return [];
  return [{ path: `/stages/${misplaced}`, rule: `must keep the order ${STAGES.join(', ')}, without repeats` }];
}

function findPurposeCodeProblems(codes: unknown, stages: readonly StageCode[] | null, shares: unknown[]): Problem[] {
  if (!isRecord(codes)) return [];
  const problems: Problem[] = (stages ?? [])
    .filter((stage) => codes[stage] === undefined)
    .map((stage) => ({ path: `/permissiblePurposeCodes/${stage}`, rule: 'is required, since the stage is listed' }));
  const needed = shares.some((share) => isRecord(share) && share.permissiblePurposeCode === undefined);
  if (needed && codes.SECONDUSE === undefined) {
    const rule = 'is required, since a share has no permissiblePurposeCode of its own';
    problems.push({ path: '/permissiblePurposeCodes/SECONDUSE', rule });
  }
  return problems;
}

function findUnlistedProblems(
  member: 'endUserCodes' | 'gates',
  named: readonly StageCode[],
  what: string,
  { input, stages }: Journey,
): Problem[] {
  const byStage = input[member];
  if (!isRecord(byStage) || !stages) return [];
  const unlisted = named.filter((stage) => byStage[stage] !== undefined && !stages.includes(stage));
  return unlisted.map((stage) => ({
    path: `/${member}/${stage}`,
    rule: `must be the ${what} of a stage that is listed`,
  }));
}

function findAttentionProblems({ attentionAbove }: Loose, stages: readonly StageCode[] | null): Problem[] {
  if (attentionAbove === undefined || !stages || COMPARED_STAGES.some((stage) => stages.includes(stage))) return [];
  return [{ path: '/attentionAbove', rule: `needs the stage ${COMPARED_STAGES.join(' or ')}` }];
}

function findShareProblems(share: unknown, path: string, { input, stages }: Journey): Problem[] {
  if (!isRecord(share)) return [];
  const problems: Problem[] = [];
  const own = listOwnUsers(input, share.reportOf, stages ?? STAGES);
  if (typeof share.endUserCode === 'string' && own.includes(share.endUserCode)) {
    problems.push({ path: `${path}/endUserCode`, rule: OWN_END_USER });
  }
  if (stages && isStage(share.reportOf) && !stages.includes(share.reportOf)) {
    problems.push({ path: `${path}/reportOf`, rule: 'must be a stage that is listed' });
  }
  return problems;
}

function needsPurposeCode(product: string): object {
  return { properties: { permissiblePurposeCodes: { required: [product] } } };
}

/** For the published schema: required for each stage that will run (the listed ones, or all), and for a share without a code of its own. */
const PURPOSE_CODES = [
  ...STAGES.map((stage) => {
    const isListed = { properties: { stages: { contains: { const: stage } } } };
    return implies({ anyOf: [{ not: { required: ['stages'] } }, isListed] }, needsPurposeCode(stage));
  }),
  implies(
    {
      required: ['shares'],
      properties: { shares: { contains: { not: { required: ['permissiblePurposeCode'] } } } },
    },
    needsPurposeCode('SECONDUSE'),
  ),
];

export const lendingJourney = {
  published: {
    file: 'lending-journey-input',
    description:
      `Stages keep the order ${STAGES.join(', ')}. A gate is that of a stage that is listed; so are endUserCodes and a share’s ` +
      `reportOf. Shares differ in shareId, and none names the end user of its report. attentionAbove needs the stage ${COMPARED_STAGES.join(' or ')}.`,
    allOf: PURPOSE_CODES,
  },
  applicants: 'report',
  schema: lendingJourneySchema,
  rules: findLendingJourneyProblems,
} satisfies Checked;

export type LendingJourneyInput = MessageOf<typeof lendingJourney>;
export type GateInput = z.infer<typeof gateSchema>;
