/** The provider's answers about many inquiries, from a CSV file: which decision about which trace number. */
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { omitUndefined } from '../../base/defined.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import { readText } from '../output/json-input.ts';
import { applyOptions, toOptionKey } from '../output/schema-options.ts';
import { checkDecision, DECISION_MEMBERS, type DraftDecision } from './decision-flags.ts';

/** The members that an answer gives, not checked yet. */
export type Answer = Partial<DraftDecision> & { customerTraceNumber?: string };

/** A decision about one inquiry, checked by itself; whether its hold allows it is judged later. */
export type AnsweredInquiry = DraftDecision & Required<Pick<Answer, 'customerTraceNumber' | 'attempt'>>;

/** Each member of a decision that an option gives is a column, under the option's name in camel case. */
const COLUMNS = ['customerTraceNumber', ...DECISION_MEMBERS.map(({ flag }) => toOptionKey(flag))];

/** `consumerId:1A`: one column for each applicant. */
const CONSUMER_COLUMN = /^consumerId:(?=.)/;

/** @throws UsageError, InvalidInputError where the file is no CSV with a header of these columns */
export async function readAnswers(file: string): Promise<Answer[]> {
  const content = await readText(file, '--answers');
  const form = { columns: checkHeader, relax_column_count: true, skip_empty_lines: true, trim: true } as const;
  try {
    return parse<Record<string, string>>(content, form).map(toAnswer);
  } catch (error) {
    // The parser's error quotes the field.
    throw error instanceof InvalidInputError
      ? error
      : new InvalidInputError([{ path: '', rule: 'must be CSV with a header' }]);
  }
}

/**
 * Makes a decision of each answer. Options supply the members that an answer lacks.
 *
 * @throws InvalidInputError with every problem: its path is the answer's place, from 0, and the member
 */
export function parseAnswers(answers: readonly Answer[], defaults: Partial<DraftDecision>): AnsweredInquiry[] {
  const { outcome, ...others } = defaults;
  const decisions = answers.map((answer) => {
    const decision = { ...others, decisionId: `D-${randomUUID()}`, ...answer };
    return { ...(decision.action === 'accept' ? omitUndefined({ outcome }) : {}), ...decision } as AnsweredInquiry;
  });
  const traces = decisions.map(({ customerTraceNumber }) => customerTraceNumber);
  const problems = decisions.flatMap((decision, index) => [
    ...listProblems(decision).map(({ path, rule }) => ({ path: `/${index}${path}`, rule })),
    ...(traces.indexOf(decision.customerTraceNumber) < index
      ? [{ path: `/${index}/customerTraceNumber`, rule: 'must differ from that of every other answer' }]
      : []),
  ]);
  if (decisions.length === 0) problems.push({ path: '', rule: 'must have at least one answer' });
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

/** The message quotes no header field: a file without a header begins with an answer. */
function checkHeader(header: string[]): string[] {
  const isKnown = header.every((name) => COLUMNS.includes(name) || CONSUMER_COLUMN.test(name));
  const isWhole = ['customerTraceNumber', 'attempt'].every((name) => header.includes(name));
  if (isKnown && isWhole && new Set(header).size === header.length) return header;
  const rule = `must have a header with customerTraceNumber and attempt; the columns are ${COLUMNS.join(', ')}, consumerId:<applicantId>`;
  throw new InvalidInputError([{ path: '', rule }]);
}

/** Skips empty fields. A field of the wrong form is left for the decision's own check to refuse. */
function toAnswer(record: Record<string, string>): Answer {
  const filled = Object.entries(record).filter(([, text]) => text !== '');
  const { customerTraceNumber, confirmConsumerIds: confirmed, ...given } = Object.fromEntries(filled);
  const confirmConsumerIds = confirmed === 'true' ? true : confirmed;
  const named = omitUndefined({ customerTraceNumber });
  const answer = applyOptions(DECISION_MEMBERS, { ...given, confirmConsumerIds }, named);
  const applicants = filled.flatMap(([name, consumerId]) =>
    CONSUMER_COLUMN.test(name) ? [{ applicantId: name.replace(CONSUMER_COLUMN, ''), consumerId }] : [],
  );
  if (applicants.length === 0 && answer.reference === undefined) return answer;
  return { ...answer, reference: { ...(answer.reference as DraftDecision['reference']), applicants } } as Answer;
}
