/**
 * Checks messages and inputs outside workflow code, by their definitions. Returns the message in its normal form (ZIP codes
 * apart, states in capitals) or throws `InvalidInputError` with all problems at once: JSON pointers and rules, never values.
 * Unknown fields and `null` are refused everywhere. The workflow itself judges what depends on a run's state.
 */
import type { z } from 'zod';
import { isRecord } from '../../base/is-record.ts';
import {
  applicantsSchema,
  failsafeApplicantsSchema,
  findApplicantLimitProblems,
} from '../../fields/applicant-schemas.ts';
import { parseWith } from '../../fields/problems.ts';
import { applyRules, type Checked, type MessageOf } from '../message.ts';

/** A profile's limit (interface 8: typically 1 to 2), which workers alone know. */
interface ApplicantLimit {
  maxApplicants?: number;
}

const TABLES = { report: applicantsSchema, failsafe: failsafeApplicantsSchema };

/** The schema of a definition, or of one of its forms, with the interface's table of applicants. */
export function completeSchema<Form extends Checked['schema']>(
  { applicants }: Pick<Checked, 'applicants'>,
  form: Form,
) {
  return form((applicants && TABLES[applicants]) as never) as ReturnType<Form>;
}

// Building a schema costs far more than using it.
const built = new Map<Checked['schema'], z.ZodType>();

export function parseMessage<D extends Checked>(
  definition: D,
  value: unknown,
  { maxApplicants = Number.POSITIVE_INFINITY }: ApplicantLimit = {},
): MessageOf<D> {
  const { form, broken } = applyRules(definition, value);
  const complete = built.get(form) ?? completeSchema(definition, form);
  built.set(form, complete);
  const tooMany = findApplicantLimitProblems(isRecord(value) ? value.applicants : undefined, maxApplicants);
  return parseWith(complete, value, '', [...tooMany, ...broken]) as MessageOf<D>;
}

/** A list of applicants by itself; paths are under `/applicants`. */
export function parseApplicants<Table extends keyof typeof TABLES>(
  table: Table,
  value: unknown,
  { maxApplicants = Number.POSITIVE_INFINITY }: ApplicantLimit = {},
): z.infer<(typeof TABLES)[Table]> {
  const schema: z.ZodType = TABLES[table];
  const tooMany = findApplicantLimitProblems(value, maxApplicants);
  return parseWith(schema, value, '/applicants', tooMany) as z.infer<(typeof TABLES)[Table]>;
}
