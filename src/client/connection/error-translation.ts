/** Translates the SDK's errors into the client's own, which carry no text of a server. Bugs pass through. */
import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import {
  ApplicationFailure,
  CancelledFailure,
  NamespaceNotFoundError,
  TerminatedFailure,
  TimeoutFailure,
  ValueError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import {
  AnswerUnreadableError,
  JourneyFailedError,
  JourneyFinishedError,
  JourneyNotFoundError,
  TemporalRefusedError,
  type TemporalUnavailableCode,
  TemporalUnavailableError,
  TooManyMessagesError,
  UpdateRefusedError,
  WorkerUnavailableError,
} from './errors.ts';

/** Numbers of gRPC status codes; importing `@grpc/grpc-js` for a few of them would be a dependency more. */
const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The gRPC error that an error is, or that is its cause. */
function grpcErrorOf(error: unknown) {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

function grpcCode(error: unknown): number | undefined {
  return grpcErrorOf(error)?.code;
}

export function isCancelled(error: unknown): boolean {
  return grpcCode(error) === GRPC.cancelled;
}

export function isDeadline(error: unknown): boolean {
  return grpcCode(error) === GRPC.deadlineExceeded;
}

/** The server itself has failed; it says that of an update that it cannot deliver, too. */
export function isInternal(error: unknown): boolean {
  return grpcCode(error) === GRPC.internal;
}

/**
 * Messages of the server about the limits of one run: ten updates in flight, 2,000 in all, 10,000 signals, each figure
 * configurable.
 */
const RUN_LIMIT = /limit on (the )?(total )?number of .*updates|execution limit for signal/i;

/** Whether the server refused a message because the run has had as many as it takes. */
export function isRunLimit({ code, details }: { code?: number | undefined; details?: string }): boolean {
  const codes: (number | undefined)[] = [GRPC.invalidArgument, GRPC.resourceExhausted, GRPC.failedPrecondition];
  return codes.includes(code) && RUN_LIMIT.test(details ?? '');
}

export function isAtRunLimit(error: unknown): boolean {
  const status = grpcErrorOf(error);
  return status !== undefined && isRunLimit(status);
}

/**
 * The workflow task that was to take the message failed, as it does where messages arrive while a run hands over; or it
 * ended without an answer to the message. The run has not taken it either way.
 */
export function isTaskFailure(error: unknown): boolean {
  return isUnprocessed(error) || (grpcCode(error) === GRPC.failedPrecondition && !isAtRunLimit(error));
}

/** The server's own refusal of an update that a worker had in hand and did not answer; the history has nothing of it. */
function isUnprocessed(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) return false;
  return error.cause.type === 'UnprocessedUpdate';
}

/** The server is away or overloaded for the moment. */
export function isServerAway(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.unavailable || code === GRPC.resourceExhausted || code === GRPC.aborted;
}

/**
 * Whether the server answers and no worker does. The server says so (`FAILED_PRECONDITION`, also while a workflow task
 * fails). Or no answer comes until the deadline, when the server may be the first to hang up (`CANCELLED`).
 */
function isWorkerAway(error: unknown): boolean {
  return grpcCode(error) === GRPC.failedPrecondition || isDeadline(error) || isCancelled(error);
}

/** What went wrong with a query, an update, a signal or a start of `journeyId`. */
export function translatedError(error: unknown, journeyId: string): unknown {
  if (error instanceof CreditJourneyError) return error;
  if (error instanceof NamespaceNotFoundError) return new TemporalRefusedError('namespaceNotFound');
  if (error instanceof WorkflowNotFoundError) return new JourneyNotFoundError(journeyId);
  if (isUnprocessed(error)) return new WorkerUnavailableError(journeyId);
  if (error instanceof WorkflowUpdateFailedError) return refusal(error, journeyId);
  if (error instanceof WorkflowFailedError) return failure(error, journeyId);
  if (isAtRunLimit(error)) return new TooManyMessagesError(journeyId);
  if (isWorkerAway(error)) return new WorkerUnavailableError(journeyId);
  if (isServerAway(error)) return serverAway(error);
  // The server tells each query that failed by this one error; asked again, it may not (ask-run.ts).
  if (error instanceof QueryNotRegisteredError) return new WorkerUnavailableError(journeyId);
  if (grpcErrorOf(error)) return refusedCall(error);
  // The parser's own message quotes what it parsed.
  if (error instanceof SyntaxError || error instanceof ValueError) return new AnswerUnreadableError();
  if (error instanceof ServiceError) return translatedError(error.cause, journeyId);
  return error;
}

/**
 * As `translatedError`, for a call that is about no run, such as a list: only the server can be away. Errors that are not
 * of a call pass through.
 */
export function translatedServerError(error: unknown): unknown {
  if (error instanceof CreditJourneyError) return error;
  if (error instanceof NamespaceNotFoundError) return new TemporalRefusedError('namespaceNotFound');
  const { code, details = '' } = grpcErrorOf(error) ?? {};
  if (code === undefined) return error;
  if (code === GRPC.notFound && /^namespace\b.*\bnot found/i.test(details)) {
    return new TemporalRefusedError('namespaceNotFound', harmlessCause(error));
  }
  if (isDeadline(error) || isCancelled(error)) {
    return new TemporalUnavailableError('it did not answer in time', 'timedOut', harmlessCause(error));
  }
  return isServerAway(error) ? serverAway(error) : refusedCall(error);
}

/** The server cannot be reached, or says that it cannot now. */
export function serverAway(error: unknown): TemporalUnavailableError {
  const details = grpcErrorOf(error)?.details ?? '';
  const [what, code] = AWAY.find(([, , sign]) => sign.test(details)) ?? ['it is away or overloaded', 'unavailable'];
  return new TemporalUnavailableError(what, code, harmlessCause(error));
}

/** By what gRPC itself says of a connection. */
const AWAY: readonly [what: string, code: TemporalUnavailableCode, sign: RegExp][] = [
  ['nothing answers at its address', 'connectionRefused', /ECONNREFUSED/],
  ['there is no host of this name', 'addressUnknown', /Name resolution failed|ENOTFOUND|EAI_AGAIN/],
  ['TLS fails, or its certificate is not trusted', 'tlsFailed', /certificate|SSL|TLS/i],
];

function refusedCall(error: unknown): TemporalRefusedError {
  const code = grpcCode(error);
  const cause = harmlessCause(error);
  if (code === GRPC.unauthenticated) return new TemporalRefusedError('unauthenticated', cause);
  return new TemporalRefusedError(code === GRPC.permissionDenied ? 'permissionDenied' : 'refused', cause);
}

/** The status and the system's own code of the error: its text and metadata may hold anything. */
function harmlessCause(error: unknown): { cause?: Error } {
  const { code, details = '' } = grpcErrorOf(error) ?? {};
  const systemCode = /\bE(?:CONN|NOTFOUND|AI_AGAIN|HOST|NET|PIPE|TIMEDOUT|PROTO)[A-Z]*\b/.exec(details)?.[0];
  return code === undefined
    ? {}
    : { cause: new Error([`gRPC status ${code}`, ...(systemCode ? [systemCode] : [])].join(', ')) };
}

function refusal(error: WorkflowUpdateFailedError, journeyId: string): unknown {
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return error;
  // The server's own: the run was terminated, say, before it answered.
  if (cause.type === 'AcceptedUpdateCompletedWorkflow') return new JourneyFinishedError(journeyId);
  if (cause.type === 'InvalidInput') return invalidInput(cause);
  if (cause.type !== 'UpdateRefused') return error;
  const { reason } = (cause.details?.[0] ?? {}) as { reason?: string };
  return new UpdateRefusedError(journeyId, reason ?? 'no reason given');
}

function failure(error: WorkflowFailedError, journeyId: string): unknown {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === 'InvalidInput') return invalidInput(cause);
  return new JourneyFailedError(journeyId, failureTypeOf(cause));
}

function failureTypeOf(cause: unknown): string {
  if (cause instanceof ApplicationFailure) return cause.type ?? 'Failed';
  if (cause instanceof CancelledFailure) return 'Cancelled';
  if (cause instanceof TerminatedFailure) return 'Terminated';
  if (cause instanceof TimeoutFailure) return 'TimedOut';
  return 'Failed';
}

function invalidInput(cause: ApplicationFailure): InvalidInputError {
  const { problems = [] } = (cause.details?.[0] ?? {}) as { problems?: Problem[] };
  return new InvalidInputError(problems);
}
