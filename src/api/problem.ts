/** Errors as RFC 9457 has them: `application/problem+json`, with a code that programs branch on and never a value. */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  InputDiffersError,
  JourneyFailedError,
  JourneyFinishedError,
  JourneyNotFoundError,
  ResultNotReadyError,
  TemporalUnavailableError,
  TooManyMessagesError,
  UpdateRefusedError,
  WorkerUnavailableError,
} from '../client/connection/errors.ts';
import { isProblemCode, PROBLEMS, type ProblemCode, problemAddress } from '../http/problem-codes.ts';
import { Refusal } from '../http/refusal.ts';
import { DisposedError, LedgerUnavailableError } from '../ledger/errors.ts';
import { CreditJourneyError, OtherEndUserError } from '../model/credit-journey-error.ts';
import { InvalidInputError, type Problem, problemIn } from '../model/problems.ts';
import { PortfolioUnavailableError } from '../portfolio/files.ts';

const PROBLEM_TYPE = 'application/problem+json';

/** Before a program tries again what cannot be answered now. */
const RETRY_SECONDS = 2;

/** The reference's words for a status, if an operation has none of its own. */
export const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'The request cannot be read',
  401: 'A token is needed',
  403: 'The token does not permit this',
  404: 'There is nothing of this name',
  405: 'The address does not take this method',
  408: 'The request came too slowly',
  409: 'The request contradicts an earlier one',
  410: 'It was destroyed',
  413: 'The body is too large',
  415: 'The body must be JSON',
  422: 'The content breaks rules',
  429: 'Too many requests',
  500: 'The request failed',
  501: 'Nothing here can do this',
  503: 'This cannot be answered now',
};

export function problemDocument(refusal: Refusal, { id }: Pick<FastifyRequest, 'id'>): object {
  const { status, reason, message, problems, details } = refusal;
  return {
    type: problemAddress(reason),
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
    .send(JSON.stringify(problemDocument(refusal, request)));
}

/** Builds the problem when no request can be answered. */
export function problemForm(refusal: Refusal) {
  const id = randomUUID();
  const body = JSON.stringify(problemDocument(refusal, { id }));
  return { type: PROBLEM_TYPE, headers: { 'x-request-id': id }, body };
}

/** Returns the refusal for an unknown id, and for a run that the token does not reach. */
export function unknownRun(): Refusal {
  return new Refusal(404, 'NotFound', 'notFound', 'there is nothing of this name');
}

export function conflict(reason: ProblemCode, message: string, problems: readonly Problem[] = []): Refusal {
  return new Refusal(409, 'Conflict', reason, message, { problems });
}

export function away(reason: ProblemCode, message: string, retryAfterSeconds = RETRY_SECONDS): Refusal {
  return new Refusal(503, 'Unavailable', reason, message, { retryAfterSeconds });
}

/** Translates the project's own errors to refusals over HTTP. Returns `undefined` for any other error. */
export function refusalOfError(error: unknown): Refusal | undefined {
  if (error instanceof InvalidInputError) {
    const problems = error.problems.slice(0, 50);
    return new Refusal(422, 'Invalid', 'invalidInput', 'the content breaks rules', { problems });
  }
  if (error instanceof JourneyNotFoundError) return unknownRun();
  if (error instanceof InputDiffersError) {
    return conflict(error.code, 'this id was started with other content', error.problems);
  }
  if (error instanceof JourneyFinishedError)
    return conflict(knownCode(error, 'journeyFinished'), 'the run has finished');
  if (error instanceof UpdateRefusedError) return refusedMessage(error.reason);
  if (error instanceof JourneyFailedError) return conflict('runFailed', 'the run has ended without a result');
  if (error instanceof ResultNotReadyError) return conflict('resultNotReady', 'the run has not ended yet');
  if (error instanceof DisposedError) {
    return new Refusal(410, 'Gone', 'disposed', 'it was disposed of');
  }
  if (error instanceof OtherEndUserError) return new Refusal(403, 'Forbidden', error.code, error.message);
  if (error instanceof TooManyMessagesError) return away(error.code, 'the run has too many messages at once', 60);
  if (error instanceof WorkerUnavailableError) return away(error.code, 'no worker answers; send it again');
  if (error instanceof TemporalUnavailableError) return away('temporalUnavailable', 'Temporal cannot be reached');
  if (error instanceof LedgerUnavailableError) return away('ledgerUnavailable', 'the ledger cannot be reached');
  if (error instanceof PortfolioUnavailableError)
    return away('portfolioUnavailable', 'the file cannot be read now', 60);
  if (error instanceof CreditJourneyError && MAY_PASS.some((code) => code === error.code))
    return away(knownCode(error, 'failed'), error.message);
  return undefined;
}

/** By code: a key that is on its way, a client that is being closed, a caller who has gone. */
const MAY_PASS: readonly ProblemCode[] = ['keyUnknown', 'keyServiceFailed', 'closed', 'aborted'];

/** The error's own code, where it is one of the list. */
function knownCode({ code }: { code: string }, otherwise: ProblemCode): ProblemCode {
  return isProblemCode(code) ? code : otherwise;
}

// Why a run, or the ledger, refuses a message: from the sentence for people to the code for programs.

/** The first that fits. The sentences are those of `workflows`, `consent` and `operator`; a test holds each of them. */
const CAUSES: readonly [sign: RegExp, code: ProblemCode][] = [
  [/with other content|must be what was recorded before/, 'differs'],
  [/must not be in the future/, 'inFuture'],
  [/proof/, 'unproven'],
  [/send a new grant under a new consentId/, 'noLongerCounts'],
  [/is ending/, 'ending'],
  [/another decision|was decided already/, 'decided'],
  [/is on hold$|hold is about attempt|nothing waits for a decision|nothing is flagged/, 'notOnHold'],
  [/ names (?:no|another|a stage that this journey leaves out)|^there is no gate/, 'unknownPart'],
];

export function causeIn(reason: string): ProblemCode {
  return CAUSES.find(([sign]) => sign.test(reason))?.[1] ?? 'notNow';
}

/** @param details further members of the answer */
export function refusedMessage(reason: string, details: Readonly<Record<string, unknown>> = {}): Refusal {
  const problems = reason.startsWith('/') ? [problemIn(reason)] : [];
  return new Refusal(409, 'Conflict', 'decided' in details ? 'decided' : causeIn(reason), reason, {
    problems,
    details,
  });
}
