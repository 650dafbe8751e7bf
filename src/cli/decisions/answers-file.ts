/** The provider's answers about many inquiries, from a file: which decision about which trace number. */
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { omitUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/is-record.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import { parseJson, readText } from '../output/json-input.ts';
import { optionKey } from '../output/option-names.ts';
import { applyOptions } from '../output/schema-options.ts';
import { checkDecision, DECISION_MEMBERS, type DraftDecision } from './decision-flags.ts';

/** A decision about one inquiry, checked by itself; whether its hold allows it is judged later. */
export type AnsweredInquiry = DraftDecision &
  Required<Pick<DraftDecision, 'attempt' | 'action'>> & {
    customerTraceNumber: string;
  };

/** Each member of a decision that an option gives is a column, under the option's name in camel case. */
const COLUMNS = DECISION_MEMBERS.map(({ flag }) => optionKey(flag));
const FLAGS = DECISION_MEMBERS.filter(({ kind }) => kind === 'flag').map(({ flag }) => optionKey(flag));

/** `consumerId:1A`: one column for each applicant. */
const CONSUMER_COLUMN = /^consumerId:(?=.)/;

/**
 * Reads a JSON list of decisions, or CSV with one decision a line. Options supply members that an answer lacks.
 *
 * @throws UsageError, InvalidInputError with every problem: its path is the answer's place, from 0, and the member
 */
export async function readAnswers(file: string): Promise<unknown[]> {
  const content = await readText(file, '--answers');
  if (!/^\s*[[{]/.test(content)) return answersOfCsv(content);
  const answers = parseJson(content);
  if (!Array.isArray(answers)) throw new InvalidInputError([{ path: '', rule: 'must be a list of decisions' }]);
  return answers;
}

/** @throws InvalidInputError as `readAnswers` */
export function checkedAnswers(answers: readonly unknown[], defaults: Partial<DraftDecision>): AnsweredInquiry[] {
  const decisions = answers.map((answer) => withDefaults(answer, defaults));
  const problems: Problem[] = decisions.length === 0 ? [{ path: '', rule: 'must have at least one answer' }] : [];
  const seen = new Set<unknown>();
  for (const [index, decision] of decisions.entries()) {
    problems.push(...listProblems(decision).map(({ path, rule }) => ({ path: `/${index}${path}`, rule })));
    const trace = isRecord(decision) ? decision.customerTraceNumber : undefined;
    if (trace !== undefined && seen.has(trace)) {
      problems.push({ path: `/${index}/customerTraceNumber`, rule: 'must differ from that of every other answer' });
    }
    seen.add(trace);
  }
  if (problems.length > 0) throw new InvalidInputError(problems);
  return decisions as AnsweredInquiry[];
}

function listProblems(decision: unknown): readonly Problem[] {
  try {
    checkDecision(decision);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.problems;
    throw error;
  }
}

function withDefaults(answer: unknown, { outcome, ...defaults }: Partial<DraftDecision>): unknown {
  if (!isRecord(answer)) return answer;
  const decision = { ...defaults, decisionId: `D-${randomUUID()}`, ...answer } as Record<string, unknown>;
  return { ...(decision.action === 'accept' ? omitUndefined({ outcome }) : {}), ...decision };
}

function answersOfCsv(content: string): Record<string, unknown>[] {
  const [header = [], ...lines] = parseRecords(content);
  const problems = headerProblems(header);
  if (problems.length > 0) throw new InvalidInputError(problems);
  return lines.map((fields) => parseAnswer(header, fields));
}

function parseRecords(content: string): string[][] {
  try {
    return parse(content, { bom: true, relax_column_count: true, skip_empty_lines: true, trim: true });
  } catch {
    // The error's message quotes the field.
    throw new InvalidInputError([{ path: '', rule: 'must be a JSON list, or CSV with a header' }]);
  }
}

/** The words of the header are not repeated: a file without one begins with an answer. */
function headerProblems(header: readonly string[]): Problem[] {
  const known = ['customerTraceNumber', ...COLUMNS];
  const unknown = header.flatMap((name, index) =>
    known.includes(name) || CONSUMER_COLUMN.test(name) ? [] : [index + 1],
  );
  const missing = ['customerTraceNumber', 'attempt'].filter((name) => !header.includes(name));
  const rules = [
    ...(missing.length > 0 ? [`lacks ${missing.join(' and ')} in its header`] : []),
    ...(unknown.length > 0
      ? [`has columns that are not known, by their places: ${unknown.slice(0, 20).join(', ')}`]
      : []),
    ...(new Set(header).size < header.length ? ['has a column more than once'] : []),
  ];
  return rules.map((rule) => ({ path: '', rule }));
}

/** Skips empty fields. A field of the wrong form is left for the decision's own check to refuse. */
function parseAnswer(header: readonly string[], fields: readonly string[]): Record<string, unknown> {
  const filled = header.flatMap((name, index) => (fields[index] ? [[name, fields[index]] as const] : []));
  const { customerTraceNumber, ...given } = Object.fromEntries(
    filled.map(([name, text]) => [name, FLAGS.includes(name) && text === 'true' ? true : text]),
  );
  const answer = applyOptions(DECISION_MEMBERS, given, { customerTraceNumber });
  const applicants = filled.flatMap(([name, consumerId]) =>
    CONSUMER_COLUMN.test(name) ? [{ applicantId: name.replace(CONSUMER_COLUMN, ''), consumerId }] : [],
  );
  const { reference = {} } = answer as { reference?: object };
  return applicants.length === 0 && answer.reference === undefined
    ? answer
    : { ...answer, reference: { ...reference, applicants } };
}
