/**
 * Checks messages and inputs outside workflow code, by their definitions. Returns the message in its normal form (ZIP codes
 * apart, states in capitals) or throws `InvalidInputError` with all problems at once: JSON pointers and rules, never values.
 * Unknown fields and `null` are refused everywhere. The workflow itself judges what depends on a run's state.
 */
import type { z } from 'zod';
import { isRecord } from '../../base/is-record.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { parseWith } from '../../fields/problems.ts';
import { perMaximum } from '../../fields/request-schemas.ts';
import type { Applicant, FailsafeApplicant } from '../../model/applicant.ts';
import { InvalidInputError } from '../../model/problems.ts';
import type { Checked, MessageOf } from '../message.ts';

/** A profile's limit (interface 8: typically 1 to 2). */
interface ApplicantLimit {
  maxApplicants: number;
}

const TABLES = { report: perMaximum(applicantsSchema), failsafe: perMaximum(failsafeApplicantsSchema) };

// Building a schema costs far more than using it, and a process meets one or two limits.
const built = new Map<Checked['schema'], (maxApplicants: number) => z.ZodType>();

/** @param limit of the profile; only a message without applicants does without it */
export function parseMessage<D extends Checked>(
  { schema, forms = [schema], chooseForm, rules, applicants }: D,
  value: unknown,
  ...[limit]: D extends { applicants: string } ? [ApplicantLimit] : [ApplicantLimit?]
): MessageOf<D> {
  const form = (isRecord(value) ? chooseForm?.(value) : forms[0]) ?? schema;
  const make = built.get(form) ?? perMaximum((most) => form((applicants && TABLES[applicants](most)) as never));
  built.set(form, make);
  const crossProblems = rules && isRecord(value) ? rules(value) : [];
  try {
    const parsed = parseWith(make(limit?.maxApplicants ?? 1), value);
    if (crossProblems.length === 0) return parsed as MessageOf<D>;
  } catch (error) {
    if (error instanceof InvalidInputError) throw new InvalidInputError([...error.problems, ...crossProblems]);
    throw error;
  }
  throw new InvalidInputError(crossProblems);
}

/** A list of applicants by itself; paths are under `/applicants`. */
export function parseApplicants(value: unknown, limit: ApplicantLimit): Applicant[] {
  return parseWith(TABLES.report(limit.maxApplicants), value, '/applicants');
}

/** FAILSAFE's applicants by themselves; paths are under `/applicants`. */
export function parseFailsafeApplicants(value: unknown, limit: ApplicantLimit): FailsafeApplicant[] {
  return parseWith(TABLES.failsafe(limit.maxApplicants), value, '/applicants');
}
