/** The provider's answers about many inquiries, from a CSV file: which decision about which trace number. */
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { omitUndefined } from '../../base/defined.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import { readText } from '../output/json-input.ts';
import { optionKey } from '../output/option-names.ts';
import { applyOptions } from '../output/schema-options.ts';
import { checkDecision, DECISION_MEMBERS, type DraftDecision } from './decision-flags.ts';

/** The members that an answer gives, not checked yet. */
export type Answer = Partial<DraftDecision> & { customerTraceNumber?: string };

/** A decision about one inquiry, checked by itself; whether its hold allows it is judged later. */
export type AnsweredInquiry = DraftDecision & Required<Pick<Answer, 'customerTraceNumber' | 'attempt'>>;

/** Each member of a decision that an option gives is a column, under the option's name in camel case. */
const COLUMNS = ['customerTraceNumber', ...DECISION_MEMBERS.map(({ flag }) => optionKey(flag))];
const FLAGS = DECISION_MEMBERS.filter(({ kind }) => kind === 'flag').map(({ flag }) => optionKey(flag));

/** `consumerId:1A`: one column for each applicant. */
const CONSUMER_COLUMN = /^consumerId:(?=.)/;

/** @throws UsageError, InvalidInputError where the file is no CSV with a header of these columns */
export async function readAnswers(file: string): Promise<Answer[]> {
  const [header = [], ...lines] = parseRecords(await readText(file, '--answers'));
  requireHeader(header);
  return lines.map((fields) => parseAnswer(header, fields));
}

/**
 * Makes a decision of each answer. Options supply the members that an answer lacks.
 *
 * @throws InvalidInputError with every problem: its path is the answer's place, from 0, and the member
 */
export function checkedAnswers(answers: readonly Answer[], defaults: Partial<DraftDecision>): AnsweredInquiry[] {
  const { outcome, ...others } = defaults;
  const decisions = answers.map((answer) => {
    const decision = { ...others, decisionId: `D-${randomUUID()}`, ...answer };
    return { ...(decision.action === 'accept' ? omitUndefined({ outcome }) : {}), ...decision } as AnsweredInquiry;
  });
  const problems: Problem[] = decisions.length === 0 ? [{ path: '', rule: 'must have at least one answer' }] : [];
  const seen = new Set<string>();
  for (const [index, decision] of decisions.entries()) {
    problems.push(...listProblems(decision).map(({ path, rule }) => ({ path: `/${index}${path}`, rule })));
    const { customerTraceNumber } = decision;
    if (seen.has(customerTraceNumber)) {
      problems.push({ path: `/${index}/customerTraceNumber`, rule: 'must differ from that of every other answer' });
    }
    seen.add(customerTraceNumber);
  }
  if (problems.length > 0) throw new InvalidInputError(problems);
  return decisions;
}

function listProblems(decision: AnsweredInquiry): readonly Problem[] {
  try {
    checkDecision(decision, decision.customerTraceNumber);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.problems;
    throw error;
  }
}

function parseRecords(content: string): string[][] {
  try {
    return parse(content, { relax_column_count: true, skip_empty_lines: true, trim: true });
  } catch {
    // The error's message quotes the field.
    throw new InvalidInputError([{ path: '', rule: 'must be CSV with a header' }]);
  }
}

/** Names no word of the header: a file without one begins with an answer. */
function requireHeader(header: readonly string[]): void {
  const isKnown = header.every((name) => COLUMNS.includes(name) || CONSUMER_COLUMN.test(name));
  const isWhole = ['customerTraceNumber', 'attempt'].every((name) => header.includes(name));
  if (isKnown && isWhole && new Set(header).size === header.length) return;
  const rule = `must have a header with customerTraceNumber and attempt; the columns are ${COLUMNS.join(', ')}, consumerId:<applicantId>`;
  throw new InvalidInputError([{ path: '', rule }]);
}

/** Skips empty fields. A field of the wrong form is left for the decision's own check to refuse. */
function parseAnswer(header: readonly string[], fields: readonly string[]): Answer {
  const filled = header.flatMap((name, index) => (fields[index] ? [[name, fields[index]] as const] : []));
  const { customerTraceNumber, ...given } = Object.fromEntries(
    filled.map(([name, text]) => [name, FLAGS.includes(name) && text === 'true' ? true : text]),
  );
  const answer = applyOptions(DECISION_MEMBERS, given, omitUndefined({ customerTraceNumber }));
  const applicants = filled.flatMap(([name, consumerId]) =>
    CONSUMER_COLUMN.test(name) ? [{ applicantId: name.replace(CONSUMER_COLUMN, ''), consumerId }] : [],
  );
  if (applicants.length === 0 && answer.reference === undefined) return answer;
  return { ...answer, reference: { ...(answer.reference as DraftDecision['reference']), applicants } } as Answer;
}
