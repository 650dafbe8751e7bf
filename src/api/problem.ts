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
    problems: problems.length > 0 ? problems : undefined,
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

/** Translates the project's own errors to refusals over HTTP. Returns `undefined` for any other error. */
export function translateToRefusal(error: unknown): Refusal | undefined {
  if (error instanceof InvalidInputError) {
    return new Refusal('invalidInput', undefined, { problems: error.problems.slice(0, 50) });
  }
  if (error instanceof CallError) return toCallRefusal(error);
  const [, code] = ERRORS.find(([kind]) => error instanceof kind) ?? [];
  return code && new Refusal(code);
}

/** A code of the client that is in the list of problems keeps its name there. */
function toCallRefusal(error: CallError): Refusal | undefined {
  const { code, problems } = error;
  if (code === 'updateRefused' || code === 'decisionRefused') return createMessageRefusal(error);
  const isTemporalAway = TEMPORAL_AWAY.some((away) => away === code);
  const reason = isTemporalAway ? 'temporalUnavailable' : (RENAMED[code] ?? code);
  return Object.hasOwn(PROBLEMS, reason) ? new Refusal(reason as ProblemCode, undefined, { problems }) : undefined;
}

const RENAMED: Partial<Record<CallErrorCode, ProblemCode>> = {
  journeyNotFound: 'notFound',
  journeyFailed: 'runFailed',
};

/** The first entry whose class matches the error counts. */
const ERRORS: readonly [kind: abstract new (...args: never[]) => Error, code: ProblemCode][] = [
  [DisposedError, 'disposed'],
  [OtherEndUserError, 'otherEndUser'],
  [LedgerUnavailableError, 'ledgerUnavailable'],
  [PortfolioUnavailableError, 'portfolioUnavailable'],
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
