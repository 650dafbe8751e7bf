/** Turns a line into a row, or into its problems. */

import { isRecord } from '../base/is-record.ts';
import { parseJson, surveyJson } from '../base/json-safety.ts';
import { madeUpProblems } from '../gateway/made-up-applicants.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { parseApplicants } from '../messages/inputs/parse-message.ts';
import type { PortfolioFormat } from '../messages/inputs/portfolio-review.ts';
import type { PortfolioRow } from '../messages/portfolio/shapes.ts';
import { MAX_ID_LENGTH, opaqueIdProblem } from '../model/opaque-id.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { type Column, csvFields, csvRow } from './csv.ts';
import { type Line, MAX_LINE_BYTES } from './lines.ts';

/** The parts of the profile that decide which rows are valid. */
export type RowProfile = Pick<GatewayProfile, 'environment' | 'ssnsWithNine'> & {
  limits: Pick<GatewayProfile['limits'], 'maxApplicants'>;
};

/** How a file's lines are written. */
export interface RowForm {
  format: PortfolioFormat;
  /** For CSV: its header. */
  columns?: readonly Column[];
}

/** For rows that were examined before. Each request is judged by the profile's limits before it is sent. */
const NO_LIMITS = { maxApplicants: Number.POSITIVE_INFINITY };

/** `null`: an empty line, which is no row. */
type ReadRow = { row: PortfolioRow } | { problems: Problem[] } | null;

/** The members of a row that may not occur twice in its JSON. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...['accountId', 'applicants', 'applicantId', 'names', 'first', 'middle', 'last', 'gen', 'ssn', 'dob', 'phones'],
  ...['phoneNumber', 'phoneType', 'emailAddress', 'ipAddress', 'addresses', 'addressIdentifier', 'line1', 'line2'],
  ...['city', 'state', 'zip', 'zip4'],
]);

/** @param profile judges the row; without it the row's form alone does */
export function readRow(form: RowForm, { bytes, line, offset, isTerminated }: Line, profile?: RowProfile): ReadRow {
  if (bytes === null) return bad('', `is longer than ${MAX_LINE_BYTES} bytes`);
  if (bytes.length === 0) return null;
  // A program that writes lines ends them. A last line without its end may lack more than that.
  if (!isTerminated) return bad('', 'has no line end: the file may be cut off');
  const text = utf8(bytes);
  if (text === null) return bad('', 'must be UTF-8');
  const value = form.format === 'csv' ? csvValue(form.columns ?? [], text) : jsonValue(text);
  return 'problems' in value ? value : checkedRow(value.value, { line, offset }, profile);
}

function csvValue(
  columns: readonly Column[],
  text: string,
): { value: Record<string, unknown> } | { problems: Problem[] } {
  const fields = csvFields(text);
  if (!fields) return bad('', 'has a quotation mark that is not closed, or that stands where none may');
  if (fields.length !== columns.length) {
    return bad('', `must have ${columns.length} fields, as the header has; it has ${fields.length}`);
  }
  return { value: csvRow(columns, fields) };
}

function jsonValue(text: string): { value: Record<string, unknown> } | { problems: Problem[] } {
  const parsed = parseJson(text);
  if (!parsed || !isRecord(parsed[0])) return bad('', 'must be a JSON object');
  const [repeated] = surveyJson(text, MEMBERS).repeated;
  if (repeated !== undefined) return bad('', `gives the member ${repeated} twice`);
  return { value: parsed[0] };
}

function checkedRow(
  value: Record<string, unknown>,
  place: { line: number; offset: number },
  profile: RowProfile | undefined,
): { row: PortfolioRow } | { problems: Problem[] } {
  const { accountId, applicants, ...others } = value;
  const problems: Problem[] = Object.keys(others).length === 0 ? [] : [{ path: '', rule: 'has unknown members' }];
  const rule = typeof accountId === 'string' ? opaqueIdProblem(accountId, MAX_ID_LENGTH) : 'is required';
  if (rule) problems.push({ path: '/accountId', rule });
  try {
    const checked = parseApplicants(applicants, profile?.limits ?? NO_LIMITS);
    const row = { accountId: accountId as string, ...place, applicants: checked };
    if (profile) problems.push(...madeUpProblems(profile, row.applicants));
    return problems.length > 0 ? { problems } : { row };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { problems: [...problems, ...error.problems] };
  }
}

/** The text; `null` where it is not UTF-8. A byte-order mark in the middle of a file stays, and no name may contain one. */
export function utf8(bytes: Buffer): string | null {
  try {
    return DECODER.decode(bytes);
  } catch {
    return null;
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bad(path: string, rule: string): { problems: Problem[] } {
  return { problems: [{ path, rule }] };
}
