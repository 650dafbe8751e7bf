/** Errors as RFC 9457 has them: `application/problem+json`, with a code that programs branch on and never a value. */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallError, type CallErrorCode, TEMPORAL_AWAY } from '../client/connection/errors.ts';
import { PROBLEMS, type ProblemCode, Refusal } from '../http/refusal.ts';
import { DisposedError, LedgerUnavailableError } from '../ledger/errors.ts';
import { OtherEndUserError } from '../model/credit-journey-error.ts';
import { InvalidInputError, parseProblem } from '../model/problems.ts';
import { PortfolioUnavailableError } from '../portfolio/files.ts';
import { KeyServiceError, UnknownKeyError } from '../protection/errors.ts';

const PROBLEM_TYPE = 'application/problem+json';

function toProblemDocument(refusal: Refusal, { id }: Pick<FastifyRequest, 'id'>): object {
  const { status, reason, message, problems, details } = refusal;
  return {
    // The code's place on the reference page, as an address of the server itself.
    type: `/v1/reference#problem-${reason}`,
    title: PROBLEMS[reason].title,
    status,
    detail: message,
    code: reason,
    ...(problems.length > 0 ? { problems } : {}),
    ...details,
    requestId: id,
  };
}

export function writeProblem(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  // An address that cannot be read comes past all hooks.
  reply
    .header('x-request-id', request.id)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(toProblemDocument(refusal, request)));
}

/** Builds the problem when no request can be answered. */
export function toProblemForm(refusal: Refusal) {
  const id = randomUUID();
  const body = JSON.stringify(toProblemDocument(refusal, { id }));
  return { type: PROBLEM_TYPE, headers: { 'x-request-id': id }, body };
}

/** Returns the refusal for an unknown id, and for a run that the token does not reach. */
export function refuseUnknownRun(): Refusal {
  return new Refusal('notFound', 'there is nothing of this name');
}

/** Translates the project's own errors to refusals over HTTP. Returns `undefined` for any other error. */
export function translateToRefusal(error: unknown): Refusal | undefined {
  if (error instanceof InvalidInputError) {
    return new Refusal('invalidInput', 'the content breaks rules', { problems: error.problems.slice(0, 50) });
  }
  if (error instanceof CallError) return toCallRefusal(error);
  const [, code, words] = ERRORS.find(([kind]) => error instanceof kind) ?? [];
  return code && new Refusal(code, words ?? (error as Error).message);
}

function toCallRefusal(error: CallError): Refusal | undefined {
  const { code, problems } = error;
  if (code === 'updateRefused' || code === 'decisionRefused') return createMessageRefusal(error);
  const [problem, words = error.message] = CALL_ERRORS[code] ?? [];
  return problem && new Refusal(problem, words, { problems });
}

/** A row without a text of its own shows the error's message, which is safe for callers. */
const CALL_ERRORS: Partial<Record<CallErrorCode, readonly [ProblemCode, words?: string]>> = {
  ...Object.fromEntries(TEMPORAL_AWAY.map((code) => [code, ['temporalUnavailable', 'Temporal cannot be reached']])),
  differs: ['differs', 'this id was started with other content'],
  journeyNotFound: ['notFound', 'there is nothing of this name'],
  shareAfterEnd: ['shareAfterEnd', 'the run has finished'],
  journeyFinished: ['journeyFinished', 'the run has finished'],
  journeyFailed: ['runFailed', 'the run has ended without a result'],
  resultNotReady: ['resultNotReady', 'the run has not ended yet'],
  tooManyMessages: ['tooManyMessages', 'the run has too many messages at once'],
  workerUnavailable: ['workerUnavailable', 'no worker answers; send it again'],
  closed: ['closed'],
  aborted: ['aborted'],
};

/** The first entry whose class matches the error counts. */
const ERRORS: readonly [kind: abstract new (...args: never[]) => Error, code: ProblemCode, words?: string][] = [
  [DisposedError, 'disposed', 'it was disposed of'],
  [OtherEndUserError, 'otherEndUser'],
  [LedgerUnavailableError, 'ledgerUnavailable', 'the ledger cannot be reached'],
  [PortfolioUnavailableError, 'portfolioUnavailable', 'the file cannot be read now'],
  [UnknownKeyError, 'keyUnknown'],
  [KeyServiceError, 'keyServiceFailed'],
];

/** @param details further members of the answer */
export function createMessageRefusal(
  { refusalCause = 'notNow', reason }: CallError,
  details: Readonly<Record<string, unknown>> = {},
): Refusal {
  const problems = reason.startsWith('/') ? [parseProblem(reason)] : [];
  return new Refusal('decided' in details ? 'decided' : refusalCause, reason, { problems, details });
}
